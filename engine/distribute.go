package engine

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// pick is the seat that a lead goes to, with the terms of the sale.
type pick struct {
	seat   int
	price  market.Money
	payout market.Money
}

// distribute finds a buyer for the lead and gives it the lead.
func (in *ingest) distribute() (Answer, error) {
	reason, err := in.choose()
	if err != nil {
		return Answer{}, err
	}
	if reason != market.ReasonNone {
		return in.unmatched(reason)
	}
	return in.giveAway()
}

// giveAway sells the lead to the seat that was picked, for which all is reserved.
func (in *ingest) giveAway() (Answer, error) {
	in.fact.Decided = in.now
	in.sell(&in.fact.Sale)
	seat := in.seat()
	if seat.Buyer.Post == nil {
		in.candidates.Exclude(in.picked.seat, market.OutcomeWon)
		in.trail()
		in.seal(nil)
		if err := in.queue(); err != nil {
			return Answer{}, err
		}
		return in.sold(), nil
	}
	return in.deliver()
}

func (in *ingest) seat() *market.FilterSet { return &in.open.Campaign.FilterSets[in.picked.seat] }

// sold is the answer of a lead that its buyer has.
func (in *ingest) sold() Answer {
	return in.answered(Answer{
		Accepted: true, Buyer: string(in.seat().Buyer.ID),
		Payout: in.picked.payout, Currency: in.open.Campaign.Currency,
	})
}

// choose picks a seat and reserves all that a sale to it takes. A refusal rests
// on facts: where only another request's reservation stands in the way it waits
// for that to end, and looks at everything again.
func (in *ingest) choose() (market.Reason, error) {
	if in.open.Campaign.Method == market.PingPost {
		return in.bargain()
	}
	for {
		in.candidates.Begin(in.open.FilterSets)
		in.open.Screen(&in.lead, &in.candidates)
		in.open.Suppress(&in.candidates, in.listed)
		doorsOf(in.open, in.engine.state, in.now).Exclude(&in.candidates)
		reason, wait := in.tryEach()
		if wait == nil {
			return reason, nil
		}
		if err := in.wait(wait); err != nil {
			return late(err)
		}
	}
}

// again resumes after an auction or a refusal, with the candidates that are left
// and whose doors are open now. What the refused intent holds in caps counts as free: the
// fact that takes the next buyer gives it back.
func (in *ingest) again() (market.Reason, error) {
	for {
		doorsOf(in.open, in.engine.state, in.now).ExcludeExceptCaps(&in.candidates)
		reason, wait := in.tryEach()
		if wait == nil {
			return reason, nil
		}
		if err := in.wait(wait); err != nil {
			return late(err)
		}
	}
}

// tryEach tries the candidates in the method's order until one has room. A
// channel says that there may be room when something in flight has ended.
func (in *ingest) tryEach() (market.Reason, <-chan struct{}) {
	for in.candidates.In.Next(0) >= 0 {
		seat := in.turn()
		if seat < 0 {
			return in.auction.reason(), nil
		}
		outcome, wait := in.reserve(seat)
		if wait != nil {
			in.engine.state.ReleaseSale(&in.hold)
			return market.ReasonNone, wait
		}
		if outcome == market.OutcomeWon {
			return market.ReasonNone, nil
		}
		in.engine.state.ReleaseSale(&in.hold)
		in.candidates.Exclude(seat, outcome)
	}
	if in.auction.wasHeld() {
		return in.auction.reason(), nil
	}
	return in.candidates.Reason(), nil
}

// turn is the seat to try next: the first one by priority, the one whose turn it
// is, which is reserved, or the best bidder's; -1 where no bid is good any more.
func (in *ingest) turn() int {
	campaign := in.open.Campaign
	switch campaign.Method {
	case market.Waterfall:
		return in.candidates.In.Next(0)
	case market.PingPost:
		return in.auction.next(in.now)
	}
	in.members, in.weights = in.members[:0], in.weights[:0]
	for i := in.candidates.In.Next(0); i >= 0; i = in.candidates.In.Next(i + 1) {
		in.members = append(in.members, int32(i))
		in.weights = append(in.weights, in.open.Weights[i])
	}
	turn, member := in.open.turnOf(in.engine.state, &in.hold, in.open.TurnSet(in.candidates.In), in.weights)
	in.fact.Sale.Turn = turn
	return int(in.members[member])
}

// reserve takes room in the caps and money for a sale to the seat.
func (in *ingest) reserve(seat int) (market.Outcome, <-chan struct{}) {
	campaign := in.open.Campaign
	terms := &campaign.FilterSets[seat]
	price := terms.Price
	if in.auction.wasHeld() {
		bid := in.auction.bid(seat)
		price, in.bought = bid.Amount, bought{auction: in.auction.id, token: bid.Token}
	}
	payout, ok := campaign.Payout.Amount(price)
	if !ok {
		return market.OutcomeBelowFloor, nil
	}
	in.picked = pick{seat: seat, price: price, payout: payout}
	return in.take()
}

// take reserves what a sale to the seat that was picked takes, at the price of
// the pick, and writes what is posted to its buyer.
func (in *ingest) take() (market.Outcome, <-chan struct{}) {
	e, campaign, seat, price := in.engine, in.open.Campaign, in.picked.seat, in.picked.price
	terms := &campaign.FilterSets[seat]
	if rule := &campaign.Duplicates; rule.PerBuyer && rule.Window > 0 {
		outcome, wait := in.claimBuyerDups(terms.Buyer)
		if outcome != market.OutcomeWon || wait != nil {
			return outcome, wait
		}
	}
	if room, wait := e.state.ReserveCaps(&in.hold, in.open.Caps[seat], price, in.back, in.now); room != state.Reserved {
		return market.OutcomeCapped, wait
	}
	if room, wait := e.state.ReserveFunds(&in.hold, terms.Buyer, price); room != state.Reserved {
		return market.OutcomeNoFunds, wait
	}
	if !in.writePost() {
		return market.OutcomeError, nil
	}
	return market.OutcomeWon, nil
}

// claimBuyerDups claims the lead's values towards one buyer alone.
func (in *ingest) claimBuyerDups(buyer *market.Buyer) (market.Outcome, <-chan struct{}) {
	e, campaign := in.engine, in.open.Campaign
	e.state.ReleaseDuplicates(&in.hold)
	scope := uint64(campaign.Ref)<<32 | uint64(buyer.Ref)
	in.dupKeys = campaign.Duplicates.Keys(&in.lead, scope, &e.opt.Secret, in.dupKeys[:0])
	room, first, wait := e.state.ClaimDuplicates(&in.hold, in.dupKeys, in.now)
	switch room {
	case state.Reserved:
		in.rememberDups(campaign.Duplicates.Window)
		return market.OutcomeWon, nil
	case state.Full:
		in.fact.DuplicateOf = first
		return market.OutcomeDuplicate, nil
	}
	return market.OutcomeDuplicate, wait
}

// sell writes the terms of the sale into a fact.
func (in *ingest) sell(sale *event.Sale) {
	seat := in.seat()
	sale.Buyer, sale.FilterSet = seat.Buyer.Ref, uint32(in.picked.seat)
	sale.Price, sale.Payout, sale.Currency = in.picked.price, in.picked.payout, in.open.Campaign.Currency
	sale.Test = in.open.test
	sale.Charges = append(sale.Charges[:0], in.hold.Charges()...)
	if in.open.Campaign.Method == market.Waterfall {
		sale.Turn = event.Turn{}
	}
}
