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
	a.prepare(p.engine, p.open, p.fact.Auction, p.now, p.expires-int64(margin), p.now+bidWindow)
	a.spent = p.req.Spent
	a.lead, a.candidates, a.request, a.hops = &p.lead, &p.candidates, p.req.Request, p.req.Hops+1
	if err := a.hold(p.req.Supplier); err != nil {
		return err
	}
	if len(a.offers) == 0 {
		p.fact.Reason = a.reason()
		return nil
	}
	p.win(a.offers[0].Seat)
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
		if !p.open.Campaign.Filters[i].Pass(&p.lead) {
			return market.ReasonFiltered
		}
	}
	return market.ReasonNone
}

// win ends the auction for the best bid. A seller gets a token for it, and hears
// what the lead has passed; who asked who is there to buy chooses by the buyer's
// name.
func (p *ping) win(seat int) {
	p.candidates.DropOne(seat, market.OutcomeWon)
	p.fact.Until = p.auction.bid(seat).ValidUntil
	if p.endpoint == endpointPing {
		p.engine.opt.Entropy(p.fact.Token[:])
		p.fact.Passed = p.open.Campaign.PassedAt(seat)
	}
}

// describe completes the fact.
func (p *ping) describe() {
	e, a, fact := p.engine, &p.auction, &p.fact
	fact.Request, fact.Supplier = p.req.Request, p.req.Supplier.Ref
	fact.Catalog = p.plan.catalog.Version
	fact.Began, fact.Deadline = p.now, p.now
	fact.Keep = p.now + int64(e.opt.PingIdempotency)
	fact.Theirs = string(p.theirs)
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

// recordFields enters what the ping said of the lead. Nothing of it tells who
// that is: it was refused otherwise.
func (p *ping) recordFields() {
	mapping, fact := p.mapping(), &p.fact
	for slot := range p.lead.Values {
		value := &p.lead.Values[slot]
		if value.Kind != market.KindAbsent {
			fact.Fields = append(fact.Fields, event.Field{Name: mapping.Recorded(market.Slot(slot)), Kind: value.Kind, Text: value.Text})
		}
	}
	for i := range p.lead.Extras {
		extra := &p.lead.Extras[i]
		fact.Fields = append(fact.Fields, event.Field{Name: string(extra.Name), Kind: extra.Value.Kind, Text: extra.Value.Text})
	}
	if p.open != nil {
		return
	}
	for _, said := range [...]event.Field{
		{Name: memberVertical, Kind: market.KindString, Text: p.vertical},
		{Name: memberSubVertical, Kind: market.KindString, Text: p.subVertical},
	} {
		if len(said.Text) > 0 {
			fact.Fields = append(fact.Fields, said)
		}
	}
}
