package engine

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// hearBuyers holds the auction, unless the matter ends before there is any
// candidate.
func (p *ping) hearBuyers() error {
	a := &p.auction
	p.fact.Reason = p.inbound()
	if p.fact.Reason != market.ReasonNone {
		var campaign *market.Campaign
		if p.open != nil {
			campaign = p.open.Campaign
		}
		a.noted = Held{Reason: p.fact.Reason, Pings: a.noted.Pings[:0], Test: p.test}
		p.engine.opt.Note.Held(campaign, p.req.Supplier, &a.noted)
		return nil
	}
	ceiling := p.now + bidWindow
	limit := min(p.expires-int64(margin), ceiling-int64(p.open.Campaign.PingReserve))
	a.prepare(p.engine, p.open, p.fact.Auction, p.now, limit, ceiling)
	a.spent = p.req.Spent
	a.lead, a.candidates, a.request, a.hops = &p.lead, &p.candidates, p.req.Request, p.req.Hops+1
	if err := a.hold(p.req.Supplier); err != nil {
		return err
	}
	if len(a.offers) == 0 {
		p.fact.Reason = a.reason()
		return nil
	}
	p.win(a.offers[0].FilterSet)
	return nil
}

// inbound is why nobody is asked at all.
func (p *ping) inbound() market.Reason {
	switch {
	case p.open == nil:
		return market.ReasonNoCampaign
	case p.req.Hops > maxHops:
		return market.ReasonLoop
	}
	for i := range p.open.Campaign.Filters {
		if !p.open.Campaign.Filters[i].Passes(&p.lead) {
			return market.ReasonFiltered
		}
	}
	return market.ReasonNone
}

// win ends the auction for the best bid. A seller gets a token for it, and hears
// what the lead has passed; who asked who is there to buy chooses by the buyer's
// name.
func (p *ping) win(seat int) {
	p.candidates.Exclude(seat, market.OutcomeWon)
	p.fact.Until = p.auction.bid(seat).ValidUntil
	if p.endpoint == endpointPing {
		p.engine.opt.Entropy(p.fact.Token[:])
		p.fact.FiltersPassed = p.open.Campaign.FiltersPassed(seat)
	}
}

// describe completes the fact.
func (p *ping) describe() {
	a, fact := &p.auction, &p.fact
	fact.Request, fact.Supplier = p.req.Request, p.req.Supplier.Ref
	fact.Catalog = p.plan.catalog.Version
	fact.Began, fact.Deadline = p.now, p.now
	fact.Keep = p.now + p.nameKept()
	fact.SellerAuction = string(p.theirs)
	fact.Hops, fact.Test = uint32(max(0, p.req.Hops)), p.test
	if p.open != nil {
		fact.Campaign = p.open.Campaign.Ref
	}
	if a.wasHeld() {
		fact.Deadline = a.deadline
		fact.Trail = a.appendTrail(fact.Trail[:0])
		fact.Bids = a.appendBids(fact.Bids[:0])
	}
	p.recordFields()
}

// nameKept returns how long, in nanoseconds, the auction's name cannot be used for
// another. Without a campaign that is a bid's window: no auction was held under the
// name, so there is nothing to sell by it, and memory would grow by a row with every
// such ping for as long as answers are kept.
func (p *ping) nameKept() int64 {
	if p.open == nil {
		return bidWindow
	}
	return int64(p.engine.opt.PingIdempotency)
}

// recordFields enters the fields that a post may take from its ping: those of the
// campaign's mapping. Members that the mapping does not know go to buyers and not
// into the log, because no later step reads them and a seller could fill the disk
// with them. A ping without a campaign has no post, so it leaves no fields.
//
// A ping names no person: one that does is refused before this.
func (p *ping) recordFields() {
	if p.open == nil {
		return
	}
	mapping, fact := p.open.Campaign.Mapping, &p.fact
	for slot := range p.lead.Values {
		value := &p.lead.Values[slot]
		if value.Kind != market.KindAbsent {
			fact.Fields = append(fact.Fields, event.Field{Name: mapping.LogName(market.Slot(slot)), Kind: value.Kind, Text: value.Text})
		}
	}
}
