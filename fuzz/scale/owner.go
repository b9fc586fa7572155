package main

import (
	"slices"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// maxClockSkew is the distance up to which an owner accepts a holder's window that its own clock has not
// reached.
const maxClockSkew = int64(time.Second)

// escrow is an owner's account of one resource: the totals of all holders, and the requests for more.
type escrow struct {
	window  int64
	holders []holderAccount
	wants   []want // at most one per holder, in order of arrival

	recalling bool
	round     int // counts recalls, so that a timeout belongs to one
	since     int64
}

// holderAccount is one holder's part. Only durable counts; the rest is lost in a crash.
type holderAccount struct {
	durable  totals
	appended totals
	drained  bool // it gave back all that was free, and got no grant since
	recalled bool // its answer to the open recall is missing
	told     bool // its last verdict was "full"
}

// want is an amount that a holder asked for, or the owner itself for its own leads.
type want struct {
	holder int
	need   int64 // of all leads that wait
	least  int64 // of the lead with the smallest need; zero: an early ask, which waits for no recall
	soon   int64 // the holder's expected use of the next half minute
}

// startWindow begins with zero totals if the window is new. Holders ask again; only the owner's own want stays.
func (e *escrow) startWindow(window, owner int64) {
	if window > e.window {
		clear(e.holders)
		e.window, e.recalling = window, false
		e.wants = slices.DeleteFunc(e.wants, func(w want) bool { return int64(w.holder) != owner })
	}
}

func (e *escrow) restore() {
	for i := range e.holders {
		e.holders[i].appended = e.holders[i].durable
	}
}

// receiveAsk adds the holder's want. An ask of a past window gets "full", and so does one of a clock that
// is too far ahead.
func (p *partition) receiveAsk(m *message) {
	r, e := p.sim.market.resources[m.resource], &p.escrows[m.resource]
	if m.window < p.windowOf(r) || m.window > p.clock()+maxClockSkew {
		p.sim.network.send(&message{kind: kindAnswer, from: p.id, to: m.from, resource: r.index, window: m.window, verdict: verdictFull})
		return
	}
	e.startWindow(m.window, int64(p.id))
	p.recordGiveBack(m, func() { p.addWant(r, m.want) })
}

// addWant adds a want, which replaces an older one of the same holder.
func (p *partition) addWant(r *resource, w want) {
	e := &p.escrows[r.index]
	e.startWindow(p.windowOf(r), int64(p.id))
	if at := slices.IndexFunc(e.wants, func(other want) bool { return other.holder == w.holder }); at >= 0 {
		e.wants[at] = w
	} else {
		e.wants = append(e.wants, w)
	}
	p.later(p.sim.now, func() { p.serve(r) })
}

// serve grants as many wants as possible, in order. For the others it recalls unused grants. If no
// holder has any, it refuses.
func (p *partition) serve(r *resource) {
	e := &p.escrows[r.index]
	var left []want
	wakeOwn := false
	for _, w := range e.wants {
		free := p.freeForGrant(r)
		switch {
		case w.holder == p.id && p.free(r) >= w.least:
			wakeOwn = true
		case w.holder != p.id && free > 0 && free >= w.least:
			p.grant(r, w.holder, p.sim.policy.amount(&e.holders[w.holder], r, w, free))
		case w.least == 0:
			p.answer(r, w.holder, verdictGranted)
		default:
			left = append(left, w)
		}
	}
	e.wants = left
	if len(e.wants) > 0 && !e.recalling && !p.recall(r) {
		p.refuseAll(r)
	}
	if wakeOwn {
		p.wake(r.buyer)
	}
}

// freeForGrant returns the amount that neither events nor reservations use, under the whole limit.
func (p *partition) freeForGrant(r *resource) int64 {
	if r.limit == nil {
		return p.free(r)
	}
	usage := p.state.CapUsage(r.limit, p.timeFor(r))
	return r.limit.Limit - usage.Used - usage.Reserved
}

// grant reserves the amount, logs the grant, and only then tells the holder. A policy's zero is a refusal.
func (p *partition) grant(r *resource, holder int, amount int64) {
	e := &p.escrows[r.index]
	account := &e.holders[holder]
	if amount == 0 {
		p.answer(r, holder, verdictFull)
		return
	}
	reserved := new(state.RequestReservations)
	p.reserveAmount(reserved, r, r.limit, amount, p.timeFor(r))
	account.appended.granted += amount
	account.drained, account.told = false, false
	p.append(p.transferEvent(r, -amount), &transfer{r.index, holder, e.window, account.appended}, func() {
		p.releaseAmount(reserved, r, amount)
		p.answer(r, holder, verdictGranted)
	})
}

// answer sends the durable total of the holder's grants.
func (p *partition) answer(r *resource, holder int, v verdict) {
	e := &p.escrows[r.index]
	e.holders[holder].told = v == verdictFull
	p.sim.network.send(&message{
		kind: kindAnswer, from: p.id, to: holder, resource: r.index, window: e.window, totals: e.holders[holder].durable, verdict: v,
	})
}

// transferEvent returns the engine's event that gives an amount back to the owner's cap or account. A
// negative amount takes it. It has the effect that an event of its own kind would have.
func (p *partition) transferEvent(r *resource, amount int64) event.Event {
	if r.limit == nil {
		return p.fundsEvent(r, amount)
	}
	back := event.MoneyAndCapsReversedByReturn{Campaign: 1, Month: p.sim.month, Charges: []event.CapCharge{{
		Cap: r.limit.Ref, Window: p.escrows[r.index].window, Amount: amount,
	}}}
	return &event.LeadStatusChangesDecided{Buyer: r.buyer.Ref, At: p.clock(), Changes: []event.DecidedLeadStatusChange{
		{Result: event.ChangeDone, To: market.StatusReturned, WasPending: true, Return: back},
	}}
}
