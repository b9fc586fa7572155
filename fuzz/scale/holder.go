package main

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// ask requests an amount from the owner, unless an ask is open. An early ask has no need.
func (p *partition) ask(r *resource, need, least int64) {
	h := &p.holdings[r.index]
	h.startWindow(p.windowOf(r))
	if p.sim.now < h.askUntil || p.sim.now < p.silentUntil[r.owner] {
		return
	}
	h.askUntil = p.sim.now + askAgainAfter
	p.sim.network.send(&message{
		kind: kindAsk, from: p.id, to: r.owner, resource: r.index, window: h.window, totals: h.confirmed(),
		want: want{p.id, need, least, h.expectedUse(p.sim.now)},
	})
}

// receiveAnswer records grants, and wakes the leads that wait for them or for a verdict.
func (p *partition) receiveAnswer(m *message) {
	r, h := p.sim.market.resources[m.resource], &p.holdings[m.resource]
	h.startWindow(m.window)
	if m.window != h.window {
		return
	}
	h.askUntil = 0
	switch m.verdict {
	case verdictFull:
		h.fullWindow, h.fullUntil = m.window, p.sim.now+verdictLifetime
	case verdictShort:
		h.shortUntil = p.sim.now + silence
	default:
		h.fullUntil = 0
	}
	p.recordGrants(m, func() { p.wake(r.buyer) })
}

// recordGrants logs the owner's total of grants if it is news, and then continues.
func (p *partition) recordGrants(m *message, then func()) {
	r, h := p.sim.market.resources[m.resource], &p.holdings[m.resource]
	amount := m.granted - h.appended.granted
	if amount <= 0 {
		then()
		return
	}
	h.appended.granted += amount
	p.append(p.fundsEvent(r, amount), &transfer{r.index, p.id, h.window, h.appended}, then)
}

// fundsEvent returns the event that moves funds into this partition; nil for a cap, of which only the
// transfer changes the limit.
func (p *partition) fundsEvent(r *resource, amount int64) event.Event {
	if r.limit != nil {
		return nil
	}
	return &event.BuyerFundsAdjusted{Buyer: r.buyer.Ref, Amount: market.Money(amount), At: p.clock(), Note: "transfer"}
}

// receiveRecall records grants that were lost on their way, and gives back all that is free.
func (p *partition) receiveRecall(m *message) {
	r, h := p.sim.market.resources[m.resource], &p.holdings[m.resource]
	h.startWindow(m.window)
	if m.window != h.window {
		return
	}
	p.recordGrants(m, func() { p.giveBack(r, m.window) })
}

// giveBack reserves all that is free, logs that it is gone, and only then tells the owner.
func (p *partition) giveBack(r *resource, window int64) {
	h := &p.holdings[r.index]
	if h.window != window || p.windowOf(r) > window {
		return
	}
	h.recalled = true
	amount := int64(0)
	if h.durableWindow == window {
		amount = max(0, p.free(r))
	}
	var reserved state.RequestReservations
	if amount > 0 {
		p.reserveAmount(&reserved, r, p.heldCap(r), amount, p.clock())
	}
	h.appended.givenBack += amount
	p.append(p.fundsEvent(r, -amount), &transfer{r.index, p.id, window, h.appended}, func() {
		if amount > 0 {
			p.releaseAmount(&reserved, r, amount)
		}
		p.sim.network.send(&message{kind: kindGiveBack, from: p.id, to: r.owner, resource: r.index, window: window, totals: h.durable})
	})
}

// heldCap is limitOf for caps, and nil for funds.
func (p *partition) heldCap(r *resource) *market.Cap {
	if r.limit == nil {
		return nil
	}
	return p.limitOf(r)
}
