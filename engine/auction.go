package engine

import (
	"cmp"
	"slices"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/selection"
)

// auction is the workspace of one auction: who is asked, what each of them
// answers, and how the bids rank. It lies in the workspace of the verb that
// holds it, and what it has of the lead and the candidates is that verb's.
//
// What must always hold:
//
//   - Every seat of the lineup ends in exactly one outcome. Those that are not
//     asked, and those whose bid does not stand, are dropped from the candidates
//     with theirs; those whose bid stands stay in, until one of them is sold to.
//     A bid that stands and is not taken up has lost.
//   - There is one deadline for all, and every buyer is told it as expires_at:
//     what it is told is what it has.
//   - An auction reserves nothing. It holds each bid against the room that there
//     is at that instant; the sale takes the room, or finds it gone.
//   - The rank depends on the bids alone: see selection.Offer.
type auction struct {
	engine     *Engine
	open       *open
	lead       *market.Lead
	candidates *selection.Candidates
	listed     func(*market.SuppressionList) bool // nil: the lead shows nothing that a list could have
	request    market.RequestID
	hops       int // how many exchanges the pings have been through, this one included
	spent      *Timings

	id       market.AuctionID
	began    int64 // Unix nanoseconds, as the deadline
	deadline int64
	terms    selection.Terms

	standing []event.Bid // by seat
	others   []event.Bid // whose bids do not stand, or that made none; by seat
	offers   []selection.Offer
	timedOut bool // nobody who was asked, or was to be, answered in time

	random [10]byte // of the id, while it is drawn
	noted  Held     // while it is noted
}

// margin is kept between the end of an auction and any limit that the caller
// set to it.
const margin = 50 * time.Millisecond

// maxOffers is how many of the best bids can be taken up. The tokens of those
// beyond are in no record, so that the fact of an auction fits a frame however
// many buyers a campaign has.
const maxOffers = 256

// prepare sets the auction up. It begins now, ends at the campaign's timeout or
// at limit, and its bids are good until the ceiling at the latest.
func (a *auction) prepare(e *Engine, o *open, id market.AuctionID, now, limit, ceiling int64) {
	a.engine, a.open = e, o
	a.id, a.began = id, now
	a.deadline = min(now+int64(o.Campaign.BidTimeout), limit)
	a.terms = selection.NewTerms(o.Campaign, a.deadline, ceiling)
}

// reset forgets the auction, and the texts of its bids with it.
func (a *auction) reset() {
	clear(a.standing)
	clear(a.others)
	*a = auction{standing: a.standing[:0], others: a.others[:0], offers: a.offers[:0], noted: Held{Pings: a.noted.Pings[:0]}}
}

// wasHeld tells whether there has been an auction since the last reset.
func (a *auction) wasHeld() bool { return a.id != market.AuctionID{} }

// hold asks every candidate and ranks what they bid. Then the candidates that
// are still in are those with a bid that stands. The error is ErrUnavailable
// where the exchange stops or has too many pings under way; a Refusal where the
// seller has too many auctions open.
func (a *auction) hold(supplier *market.Supplier) error {
	e := a.engine
	if e.pinging.Load() >= int64(e.opt.MaxPings) {
		return ErrUnavailable
	}
	if !e.sellers.enter(supplier) {
		return &Refusal{Code: RateLimited, Limit: auctionsOf(supplier), Reset: e.opt.Clock.Now() + bidWindow}
	}
	defer e.sellers.leave(supplier)
	a.screen()
	g, _ := e.gatherings.Get().(*gathering)
	g.users.Store(1)
	defer g.release()
	a.invite(g)
	if len(g.pings) > 0 {
		began := e.opt.Clock.Now()
		err := g.run(a.deadline)
		a.spent.addBuyers(e.opt.Clock, began)
		if err != nil {
			return err
		}
		a.hear(g)
		a.trace(g, began)
	}
	selection.Rank(a.offers)
	for _, beyond := range a.offers[min(maxOffers, len(a.offers)):] {
		a.bid(beyond.FilterSet).Token = ""
	}
	a.note(supplier)
	return nil
}

// screen takes out who is not to be asked. A lead without a state is nobody's
// here, whatever states a buyer takes.
func (a *auction) screen() {
	a.candidates.Begin(a.open.FilterSets)
	if a.lead.State() == market.NoState {
		a.candidates.ExcludeAll(a.candidates.In, market.OutcomeWrongState)
		return
	}
	a.open.Screen(a.lead, a.candidates)
	if a.listed != nil {
		a.open.Suppress(a.candidates, a.listed)
	}
	doorsOf(a.open, a.engine.state, a.began).Exclude(a.candidates)
	a.candidates.KeepOnly(a.open.reachable, market.OutcomeError)
}

// invite makes a ping for every candidate that is to be asked now. Where the
// deadline has passed already there is nothing to ask for.
func (a *auction) invite(g *gathering) {
	in := a.candidates.In
	for seat := in.Next(0); seat >= 0; seat = in.Next(seat + 1) {
		outcome := market.OutcomeTimeout
		if a.began < a.deadline {
			outcome = a.open.askers[seat].ask(a.began)
		} else {
			a.timedOut = true
		}
		if outcome == market.OutcomeNone && !a.address(g, seat) {
			outcome = market.OutcomeError
		}
		if outcome != market.OutcomeNone {
			a.candidates.Exclude(seat, outcome)
		}
	}
}

// address makes the ping for one seat; false: its adapter can write none. Those
// that speak the contract share one body.
func (a *auction) address(g *gathering, seat int) bool {
	campaign := a.open.Campaign
	buyer := campaign.FilterSets[seat].Buyer
	endpoint := buyer.Ping
	head := market.PingMetadata{Auction: a.id, Vertical: campaign.Vertical, SubVertical: campaign.SubVertical, ExpiresAt: a.deadline}
	body := [2]int{len(g.bodies), 0}
	switch {
	case endpoint.Adapter != nil:
		written, ok := endpoint.Adapter.AppendPing(g.bodies, campaign.Mapping, a.lead, head)
		if !ok {
			return false
		}
		g.bodies = written
		body[1] = len(g.bodies)
	case g.common != [2]int{}:
		body = g.common
	default:
		g.bodies = campaign.Mapping.AppendPing(g.bodies, a.lead, head)
		body[1] = len(g.bodies)
		g.common = body
	}
	if len(g.pings) == 0 {
		g.auction = a.id.AppendTo(g.auction[:0])
		g.key = string(g.auction)
	}
	p := g.add()
	p.seat, p.body, p.asker = seat, body, a.open.askers[seat]
	p.req.Buyer, p.req.Endpoint, p.req.RequestID, p.req.Hops, p.req.Auction = buyer.ID, *endpoint, a.request, a.hops, g.auction
	p.req.Test = a.open.test
	p.span, p.req.Traceparent = a.spent.trace().call()
	if endpoint.Dialect == nil || endpoint.Dialect.KeyHeader != "" {
		p.req.IdempotencyKey = g.key
	}
	return true
}

// bid is the one that stands of a seat.
func (a *auction) bid(seat int) *event.Bid {
	i, ok := slices.BinarySearchFunc(a.standing, seat, func(b event.Bid, seat int) int { return cmp.Compare(int(b.FilterSet), seat) })
	if !ok {
		panic("BUG: a seat without a bid that stands")
	}
	return &a.standing[i]
}

// next is the best seat whose bid can still be taken up at a time, or -1.
func (a *auction) next(now int64) int {
	for _, offer := range a.offers[:min(maxOffers, len(a.offers))] {
		if a.candidates.In.Has(offer.FilterSet) && now < a.bid(offer.FilterSet).ValidUntil {
			return offer.FilterSet
		}
	}
	return -1
}

// reason is why nobody bought. What stood and was not taken up has expired.
func (a *auction) reason() market.Reason {
	reason := a.candidates.Reason()
	switch {
	case a.lead.State() == market.NoState:
		return market.ReasonNoStateMatch
	case a.candidates.In.Next(0) >= 0:
		return reason.Furthest(market.ReasonBidExpired)
	case reason == market.ReasonNoBid && a.timedOut:
		return market.ReasonTimeout
	}
	return reason
}
