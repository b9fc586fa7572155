package main

import (
	"slices"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// lead is a lead on its way through the offers of its campaign.
type lead struct {
	id       market.LeadID
	campaign *campaign
	next     int   // position of the next offer
	since    int64 // the time since when it waits at the next offer; zero: it does not wait
	waited   bool  // at any offer
	waits    int   // counts waits, so that a deadline belongs to one
}

type saleResult uint8

const (
	resultSold saleResult = iota
	resultRefused
	resultWaits
)

// sell offers the lead to the buyers in order until one takes it, or the lead has to wait.
func (p *partition) sell(l *lead) {
	for ; l.next < len(l.campaign.offers); l.next++ {
		switch o := &l.campaign.offers[l.next]; p.offerTo(l, o) {
		case resultSold:
			p.endWait(l, &p.sim.figures.waitsBeforeSale)
			return
		case resultWaits:
			p.wait(l, o)
			return
		default:
			p.endWait(l, &p.sim.figures.waitsBeforeRefusal)
		}
	}
	unsold := &event.LeadDecided{Lead: l.id, Campaign: l.campaign.ref, Supplier: supplierRef, Decided: p.clock(), Reason: market.ReasonCapsFull, Keep: p.clock() + int64(24*time.Hour)}
	p.append(unsold, nil, func() { p.sim.figures.unsold++; p.finish(l) })
}

func (p *partition) finish(l *lead) {
	p.inFlight--
	if l.waited {
		p.sim.figures.leadsThatWaited++
	}
}

// offerTo sells the lead to the offer's buyer if the partition has enough of each resource. Otherwise the
// lead waits for grants, unless it is known that there are no more.
func (p *partition) offerTo(l *lead, o *offer) saleResult {
	var lacking []*resource
	for _, r := range o.buyer.resources {
		if p.free(r) < r.need(o.price) {
			lacking = append(lacking, r)
		}
	}
	if len(lacking) == 0 {
		return p.reserveAndLog(l, o)
	}
	for _, r := range lacking {
		if p.isKnownToLack(r) {
			p.sim.audit.addRefusal(p, lacking, o.price)
			return resultRefused
		}
	}
	return resultWaits
}

// isKnownToLack reports whether a verdict is valid, or the owner does not answer.
func (p *partition) isKnownToLack(r *resource) bool {
	h := &p.holdings[r.index]
	return p.sim.now < h.fullUntil && h.fullWindow == p.windowOf(r) || p.sim.now < h.shortUntil || p.sim.now < p.silentUntil[r.owner]
}

// reserveAndLog reserves with the engine's rules and logs the sale.
func (p *partition) reserveAndLog(l *lead, o *offer) saleResult {
	var limits []*market.Cap
	for _, r := range o.buyer.resources {
		if r.limit != nil {
			limits = append(limits, p.limitOf(r))
		}
	}
	if o.pair != nil {
		limits = append(limits, o.pair)
	}
	reserved := new(state.RequestReservations)
	now := p.clock()
	if result, _ := p.state.ReserveAllCaps(reserved, limits, o.price, nil, now); result != state.Reserved {
		return resultRefused // the cap of the pair, which no other partition shares
	}
	account := o.buyer.Buyer
	if funds := o.buyer.funds(); funds != nil {
		account.Credit = p.creditOf(funds)
		p.fundsReserved[account.Ref] += o.price
	}
	if result, _ := p.state.ReserveFunds(reserved, &account, o.price); result != state.Reserved {
		panic("BUG: free funds cannot be reserved")
	}
	sold := &event.LeadDecided{Lead: l.id, Campaign: l.campaign.ref, Supplier: supplierRef, Decided: now, Keep: now + int64(24*time.Hour)}
	sold.Sale = event.Sale{Buyer: account.Ref, Price: o.price, Payout: o.price / 2, Charges: slices.Clone(reserved.CapChargesForEvent())}
	p.append(sold, nil, func() {
		p.state.ReleaseAllAfterApply(reserved)
		if account.Funded {
			p.fundsReserved[account.Ref] -= o.price
		}
		p.sim.figures.sold++
		p.finish(l)
		p.sim.maybeReturn(p, sold)
	})
	p.addUse(o)
	return resultSold
}

func (b *buyer) funds() *resource {
	if last := b.resources[len(b.resources)-1]; last.limit == nil {
		return last
	}
	return nil
}
