package main

import "time"

// recallTimeout is the time after which an owner decides without the holders that have not answered.
const recallTimeout = int64(40 * time.Millisecond)

// recall asks holders to give back all that is free. It reports false if there is no holder to ask.
func (p *partition) recall(r *resource) bool {
	e := &p.escrows[r.index]
	if !p.sim.policy.recalls {
		return false
	}
	for h := range e.holders {
		account := &e.holders[h]
		account.recalled = account.appended.held() > 0 && !account.drained && p.sim.now >= p.silentUntil[h] && e.wantedByOther(h)
		e.recalling = e.recalling || account.recalled
		if account.recalled {
			p.sim.network.send(&message{kind: kindRecall, from: p.id, to: h, resource: r.index, window: e.window, totals: account.durable})
		}
	}
	if !e.recalling {
		return false
	}
	e.round++
	e.since = p.sim.now
	round := e.round
	p.later(p.sim.now+recallTimeout, func() {
		if e.recalling && e.round == round {
			p.endRecall(r)
		}
	})
	return true
}

func (e *escrow) wantedByOther(holder int) bool {
	for _, w := range e.wants {
		if w.holder != holder {
			return true
		}
	}
	return false
}

// endRecall ends a recall. Holders without an answer count as silent for a second.
func (p *partition) endRecall(r *resource) {
	e := &p.escrows[r.index]
	for h := range e.holders {
		if e.holders[h].recalled {
			e.holders[h].recalled = false
			p.silentUntil[h] = p.sim.now + silence
			p.sim.figures.recallsWithoutAnswer++
		}
	}
	e.recalling = false
	p.sim.figures.recalls = append(p.sim.figures.recalls, p.sim.now-e.since)
	p.serve(r)
}

// receiveGiveBack counts the amount as free after it is durable here. The holder has logged it before.
func (p *partition) receiveGiveBack(m *message) {
	r, e := p.sim.market.resources[m.resource], &p.escrows[m.resource]
	p.recordGiveBack(m, func() {
		if m.window != e.window {
			return
		}
		account := &e.holders[m.from]
		account.drained = account.appended.granted == m.granted
		account.recalled = false
		for h := range e.holders {
			if e.holders[h].recalled {
				p.capacityFreed(r)
				return
			}
		}
		if e.recalling {
			p.endRecall(r)
		} else {
			p.capacityFreed(r)
		}
	})
}

// recordGiveBack logs the holder's total of amounts given back if it is news, and then continues.
func (p *partition) recordGiveBack(m *message, then func()) {
	r, e := p.sim.market.resources[m.resource], &p.escrows[m.resource]
	if m.window != e.window {
		return
	}
	account := &e.holders[m.from]
	amount := m.givenBack - account.appended.givenBack
	if amount <= 0 {
		then()
		return
	}
	account.appended.givenBack += amount
	p.append(p.transferEvent(r, amount), &transfer{r.index, m.from, e.window, account.appended}, then)
}

// capacityFreed serves wants, or ends the verdict "full" of the holders that have it.
func (p *partition) capacityFreed(r *resource) {
	e := &p.escrows[r.index]
	if p.freeForGrant(r) <= 0 {
		return
	}
	p.holdings[r.index].fullUntil = 0
	if len(e.wants) > 0 {
		p.serve(r)
		return
	}
	for h := range e.holders {
		if e.holders[h].told {
			e.holders[h].told = false
			p.sim.network.send(&message{kind: kindAvailable, from: p.id, to: h, resource: r.index, window: e.window, totals: e.holders[h].durable})
		}
	}
}

// refuseAll ends all wants. The verdict is "full" only if no silent holder may have an unused grant.
func (p *partition) refuseAll(r *resource) {
	e := &p.escrows[r.index]
	wants := e.wants
	e.wants = nil
	for _, w := range wants {
		v := verdictFull
		for h := range e.holders {
			if h != w.holder && !e.holders[h].drained && e.holders[h].appended.held() > 0 && p.sim.policy.recalls {
				v = verdictShort
			}
		}
		if w.holder != p.id {
			p.answer(r, w.holder, v)
			continue
		}
		own := &p.holdings[r.index]
		if v == verdictFull {
			own.fullWindow, own.fullUntil = p.windowOf(r), p.sim.now+verdictLifetime
		} else {
			own.shortUntil = p.sim.now + silence
		}
		p.wake(r.buyer)
	}
}

// receive handles a message of another partition.
func (p *partition) receive(m *message) {
	p.heardAt[m.from], p.silentUntil[m.from] = p.sim.now, 0
	switch m.kind {
	case kindAsk:
		p.receiveAsk(m)
	case kindAnswer:
		p.receiveAnswer(m)
	case kindRecall:
		p.receiveRecall(m)
	case kindGiveBack:
		p.receiveGiveBack(m)
	case kindAvailable:
		if h := &p.holdings[m.resource]; m.window == h.fullWindow {
			h.fullUntil = 0
		}
	default:
		panic("BUG: unknown message")
	}
}
