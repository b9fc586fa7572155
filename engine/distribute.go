package engine

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// choice is the buyer that gets a lead, with the price and the payout.
type choice struct {
	filterSet int // its index in the campaign
	price     market.Money
	payout    market.Money
}

// distribute chooses a buyer for the lead and sells the lead to it.
func (in *ingest) distribute() (Answer, error) {
	reason, err := in.chooseBuyer()
	if err != nil {
		return Answer{}, err
	}
	if reason != market.ReasonNone {
		return in.recordUnsold(reason)
	}
	return in.commitSale()
}

// commitSale sells the lead to the chosen buyer, for which everything is reserved.
func (in *ingest) commitSale() (Answer, error) {
	in.record.Decided = in.now
	in.recordSale(&in.record.Sale)
	if in.filterSet().Buyer.Post != nil {
		return in.deliver()
	}
	in.candidates.Exclude(in.choice.filterSet, market.OutcomeWon)
	in.recordTrail()
	in.seal(nil)
	if err := in.startCommit(); err != nil {
		return Answer{}, err
	}
	return in.acceptedAnswer(), nil
}

func (in *ingest) filterSet() *market.FilterSet {
	return &in.live.Campaign.FilterSets[in.choice.filterSet]
}

// acceptedAnswer returns the answer for a sold lead.
func (in *ingest) acceptedAnswer() Answer {
	return in.completeAnswer(Answer{
		Accepted: true, Buyer: string(in.filterSet().Buyer.ID),
		Payout: in.choice.payout, Currency: in.live.Campaign.Currency,
	})
}

// chooseBuyer chooses a filter set and reserves everything that a sale to it needs. A
// refusal is based on applied events: if only another request's reservation is in the
// way, chooseBuyer waits for its end and checks everything again.
func (in *ingest) chooseBuyer() (market.Reason, error) {
	if in.live.Campaign.Method == market.PingPost {
		return in.runAuction()
	}
	for {
		in.candidates.ResetToAll(in.live.CompiledFilterSets)
		in.live.Screen(&in.lead, &in.candidates)
		in.live.ExcludeSuppressed(&in.candidates, in.inList)
		availabilityOf(in.live, in.engine.state, in.now).ExcludeFrom(&in.candidates)
		reason, wait := in.reserveFirst()
		if wait == nil {
			return reason, nil
		}
		if err := in.wait(wait); err != nil {
			return reasonForDeadline(err)
		}
	}
}

// chooseNextBuyer chooses among the remaining candidates, after an auction or a refusal.
// The refused post's caps count as free, because the event that records the next buyer
// gives them back.
func (in *ingest) chooseNextBuyer() (market.Reason, error) {
	for {
		availabilityOf(in.live, in.engine.state, in.now).ExcludeFromExceptCaps(&in.candidates)
		reason, wait := in.reserveFirst()
		if wait == nil {
			return reason, nil
		}
		if err := in.wait(wait); err != nil {
			return reasonForDeadline(err)
		}
	}
}

// reserveFirst reserves a sale for the first candidate, in the method's order, that has
// capacity. If another request's reservation is in the way, it returns the channel to
// wait on.
func (in *ingest) reserveFirst() (market.Reason, <-chan struct{}) {
	for in.candidates.Eligible.NextFrom(0) >= 0 {
		next := in.nextCandidate()
		if next < 0 {
			return in.auction.UnsoldReason(), nil
		}
		outcome, wait := in.reserveCandidate(next)
		if wait == nil && outcome == market.OutcomeWon && in.encodePost() {
			return market.ReasonNone, nil
		}
		in.engine.state.ReleaseSaleReservation(&in.reserved)
		switch {
		case wait != nil:
			return market.ReasonNone, wait
		case outcome == market.OutcomeWon:
			outcome = market.OutcomeError // the adapter cannot encode this lead
		}
		in.candidates.Exclude(next, outcome)
	}
	if in.auction.IsHeld() {
		return in.auction.UnsoldReason(), nil
	}
	return in.candidates.UnsoldReason(), nil
}

// nextCandidate returns the filter set to try: the first by priority, the one whose turn
// it is (then the turn is reserved), or the best bidder's. It returns -1 if no bid is
// valid any more.
func (in *ingest) nextCandidate() int {
	switch in.live.Campaign.Method {
	case market.Waterfall:
		return in.candidates.Eligible.NextFrom(0)
	case market.PingPost:
		return in.auction.NextFilterSet(in.now)
	}
	in.turnMembers, in.turnWeights = in.turnMembers[:0], in.turnWeights[:0]
	for i := in.candidates.Eligible.NextFrom(0); i >= 0; i = in.candidates.Eligible.NextFrom(i + 1) {
		in.turnMembers = append(in.turnMembers, int32(i))
		in.turnWeights = append(in.turnWeights, in.live.Weights[i])
	}
	turn, member := in.live.reserveTurn(in.engine.state, &in.reserved, in.live.RotationID(in.candidates.Eligible), in.turnWeights)
	in.record.Sale.Turn = turn
	return int(in.turnMembers[member])
}

// reserveCandidate makes the filter set the choice, at its price or its bid, and reserves
// a sale to it.
func (in *ingest) reserveCandidate(filterSet int) (market.Outcome, <-chan struct{}) {
	campaign := in.live.Campaign
	price := campaign.FilterSets[filterSet].Price
	if in.auction.IsHeld() {
		bid := in.auction.Bid(filterSet)
		price, in.bid = bid.Amount, bidReference{auction: in.auction.ID, token: bid.Token}
	}
	payout, ok := campaign.Payout.AmountAtPrice(price)
	if !ok {
		return market.OutcomeBelowFloor, nil
	}
	in.choice = choice{filterSet: filterSet, price: price, payout: payout}
	return in.reserveSale()
}

// reserveSale reserves the duplicate claim, caps and funds for a sale to the choice. After
// another outcome than OutcomeWon, the caller releases the part that was reserved.
func (in *ingest) reserveSale() (market.Outcome, <-chan struct{}) {
	e, campaign, price := in.engine, in.live.Campaign, in.choice.price
	buyer := in.filterSet().Buyer
	if rule := &campaign.Duplicates; rule.PerBuyer && rule.Window > 0 {
		e.state.ReleaseDuplicateKeys(&in.reserved)
		result, wait := in.tryClaimDuplicates(uint64(campaign.Ref)<<32 | uint64(buyer.Ref))
		if result != state.Reserved {
			return market.OutcomeDuplicate, wait
		}
	}
	if result, wait := e.state.ReserveCaps(&in.reserved, in.live.Caps[in.choice.filterSet], price, in.refusedCharges, in.now); result != state.Reserved {
		return market.OutcomeCapped, wait
	}
	if result, wait := e.state.ReserveFunds(&in.reserved, buyer, price); result != state.Reserved {
		return market.OutcomeNoFunds, wait
	}
	return market.OutcomeWon, nil
}

// recordSale writes the buyer, the money and the charges into an event.
func (in *ingest) recordSale(sale *event.Sale) {
	sale.Buyer, sale.FilterSet = in.filterSet().Buyer.Ref, uint32(in.choice.filterSet)
	sale.Price, sale.Payout, sale.Currency = in.choice.price, in.choice.payout, in.live.Campaign.Currency
	sale.Test = in.live.Test
	sale.Charges = append(sale.Charges[:0], in.reserved.CapCharges()...)
	if in.live.Campaign.Method == market.Waterfall {
		sale.Turn = event.RotationTurn{}
	}
}
