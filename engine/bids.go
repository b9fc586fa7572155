package engine

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/selection"
)

// hear judges every answer of a gathering that is over.
func (a *auction) hear(g *gathering) {
	answered := false
	for i := range g.pings {
		p := &g.pings[i]
		if p.came == 0 {
			p.came, p.result = a.deadline, market.PingResult{Outcome: market.OutcomeTimeout, Fault: market.FaultTimeout}
		}
		bid := event.Bid{
			FilterSet: uint32(p.seat), Buyer: a.open.Campaign.FilterSets[p.seat].Buyer.Ref, Elapsed: max(0, p.came-a.began),
			Status: uint32(max(0, p.result.Status)), Fault: p.result.Fault, Reason: p.result.Reason,
		}
		outcome := p.result.Outcome
		if outcome == market.OutcomeNone {
			outcome = a.judge(&bid, &p.result.Bid, p.came)
		}
		p.asker.answered(outcome, p.came)
		answered = answered || outcome != market.OutcomeTimeout && outcome != market.OutcomeLate
		if outcome == market.OutcomeNone {
			outcome = a.room(p.seat, bid.Amount)
		}
		a.enter(&bid, outcome, p)
	}
	if len(g.pings) > 0 {
		a.timedOut = !answered
	}
}

// judge enters what a buyer bid and says what it comes to by itself.
func (a *auction) judge(bid *event.Bid, offered *market.Bid, came int64) market.Outcome {
	bid.Amount, bid.Currency, bid.ValidUntil = offered.Amount, offered.Currency, a.terms.ValidUntil(offered)
	if bid.Currency == (market.Currency{}) {
		bid.Currency = a.terms.Currency
	}
	outcome := a.terms.Judge(offered, came)
	if outcome == market.OutcomeNone {
		bid.Token = offered.Token
		bid.Payout, _ = a.terms.Payout.Amount(offered.Amount)
	}
	return outcome
}

// room tells whether facts leave room for a sale at the bid's amount.
func (a *auction) room(seat int, amount market.Money) market.Outcome {
	e := a.engine
	for _, limit := range a.open.Caps[seat] {
		if full, _ := e.state.IsCapFull(limit, amount, a.began); full {
			return market.OutcomeCapped
		}
	}
	if e.state.LacksFunds(a.open.Campaign.FilterSets[seat].Buyer, amount) {
		return market.OutcomeNoFunds
	}
	return market.OutcomeNone
}

// enter puts a bid among those that stand, or its seat among those that came to
// something else.
func (a *auction) enter(bid *event.Bid, outcome market.Outcome, p *asked) {
	if outcome != market.OutcomeNone {
		bid.Token, bid.Payout = "", 0
		a.candidates.Exclude(p.seat, outcome)
		a.others = append(a.others, *bid)
		return
	}
	a.standing = append(a.standing, *bid)
	seat := &a.open.Campaign.FilterSets[p.seat]
	a.offers = append(a.offers, selection.Offer{
		FilterSet: p.seat, Amount: bid.Amount, Priority: seat.Priority, ArrivedAt: p.came, Buyer: seat.Buyer.ID,
	})
}

// appendBids appends every bid with what has become of it by now: the standing
// ones by rank, then the others by seat.
func (a *auction) appendBids(dst []event.Bid) []event.Bid {
	for i := range a.offers {
		bid := *a.bid(a.offers[i].FilterSet)
		bid.Outcome = a.outcome(a.offers[i].FilterSet)
		dst = append(dst, bid)
	}
	for i := range a.others {
		bid := a.others[i]
		bid.Outcome = a.outcome(int(bid.FilterSet))
		dst = append(dst, bid)
	}
	return dst
}

func (a *auction) outcome(seat int) market.Outcome {
	if outcome := a.candidates.OutcomeOf(seat); outcome != market.OutcomeNone {
		return outcome
	}
	return market.OutcomeLost
}

// appendTrail appends what has become of every seat by now.
func (a *auction) appendTrail(trail []event.Step) []event.Step {
	trail = appendSteps(trail, a.candidates)
	if a.candidates.In.Next(0) >= 0 {
		trail = append(trail, event.Step{Outcome: market.OutcomeLost, FilterSets: a.candidates.In})
	}
	return trail
}

// bargain holds an auction over the lead and reserves what a sale to the best
// bidder takes. Where only another request's reservation stands in the way it
// waits for that to end and looks again; nobody is asked twice.
func (in *ingest) bargain() (market.Reason, error) {
	e := in.engine
	a := &in.auction
	reserve := int64(in.open.Campaign.PostReserve)
	id := market.AuctionID(e.newID(in.now, &a.random))
	a.prepare(e, in.open, id, in.now, in.deadline()-reserve, in.deadline())
	a.spent = in.timings
	a.lead, a.candidates, a.listed, a.request, a.hops = &in.lead, &in.candidates, in.inList, in.req.Request, 1
	if err := a.hold(in.req.Supplier); err != nil {
		return market.ReasonNone, err
	}
	in.now = max(in.now, e.opt.Clock.Now())
	return in.chooseNextBuyer()
}
