package auction

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/selection"
)

// judgeAnswers judges the answers of all pinged buyers after the end of the collection. A buyer
// without an answer has timed out. Each answer also counts for the health of its buyer.
func (a *Auction) judgeAnswers(c *bidCollector) {
	answered := false
	for i := range c.pings {
		p := &c.pings[i]
		if p.answeredAt == 0 {
			p.answeredAt, p.result = a.Deadline, market.PingResult{Outcome: market.OutcomeTimeout, Fault: market.FaultTimeout}
		}
		bid := event.Bid{
			FilterSet: uint32(p.filterSet), Buyer: a.bidders.Campaign.FilterSets[p.filterSet].Buyer.Ref, Elapsed: max(0, p.answeredAt-a.Began),
			Status: uint32(max(0, p.result.Status)), Fault: p.result.Fault, Reason: p.result.Reason,
		}
		outcome := p.result.Outcome
		if outcome == market.OutcomeNone {
			outcome = a.judgeBid(&bid, &p.result.Bid, p.answeredAt)
		}
		p.limiter.recordOutcome(outcome, p.answeredAt)
		answered = answered || outcome != market.OutcomeTimeout && outcome != market.OutcomeLate
		if outcome == market.OutcomeNone {
			outcome = a.checkCapacity(p.filterSet, bid.Amount)
		}
		a.addToValidOrInvalidBids(&bid, outcome, p)
	}
	if len(c.pings) > 0 {
		a.timedOut = !answered
	}
}

// judgeBid copies a buyer's offer into bid and returns its outcome, or OutcomeNone if the bid is
// valid. It checks neither capacity nor rank. arrivedAt is the time of the answer.
func (a *Auction) judgeBid(bid *event.Bid, offered *market.Bid, arrivedAt int64) market.BuyerOutcome {
	bid.Amount, bid.Currency, bid.ValidUntil = offered.Amount, offered.Currency, a.terms.BidValidUntil(offered)
	if bid.Currency == (market.Currency{}) {
		bid.Currency = a.terms.Currency
	}
	outcome := a.terms.CheckBid(offered, arrivedAt)
	if outcome == market.OutcomeNone {
		bid.Token = offered.Token
		bid.Payout, _ = a.terms.Payout.AmountAtPrice(offered.Amount)
	}
	return outcome
}

// checkCapacity returns OutcomeNone if caps and funds allow a sale to the filter set at this
// amount. Otherwise it returns OutcomeCapped or OutcomeNoFunds. It does not count the
// reservations of requests in progress.
func (a *Auction) checkCapacity(filterSet int, amount market.Money) market.BuyerOutcome {
	for _, limit := range a.bidders.Caps[filterSet] {
		if full, _ := a.capacity.IsCapFull(limit, amount, a.Began); full {
			return market.OutcomeCapped
		}
	}
	if a.capacity.LacksFunds(a.bidders.Campaign.FilterSets[filterSet].Buyer, amount) {
		return market.OutcomeNoFunds
	}
	return market.OutcomeNone
}

// addToValidOrInvalidBids adds a bid to the auction: to the valid bids for OutcomeNone, and
// otherwise to the invalid ones. The filter set of an invalid bid is excluded with the outcome.
func (a *Auction) addToValidOrInvalidBids(bid *event.Bid, outcome market.BuyerOutcome, p *pingInFlight) {
	if outcome != market.OutcomeNone {
		bid.Token, bid.Payout = "", 0
		a.Candidates.Exclude(p.filterSet, outcome)
		a.invalid = append(a.invalid, *bid)
		return
	}
	a.valid = append(a.valid, *bid)
	terms := &a.bidders.Campaign.FilterSets[p.filterSet]
	a.offers = append(a.offers, selection.RankedBid{
		FilterSet: p.filterSet, Amount: bid.Amount, Priority: terms.Priority, ArrivedAt: p.answeredAt, Buyer: terms.Buyer.ID,
	})
}

// AppendBids appends all bids with their present outcomes to dst, for the auction's event. The
// valid bids come first, by rank, and then the invalid ones, by filter set.
func (a *Auction) AppendBids(dst []event.Bid) []event.Bid {
	for i := range a.offers {
		bid := *a.Bid(a.offers[i].FilterSet)
		bid.Outcome = a.OutcomeOf(a.offers[i].FilterSet)
		dst = append(dst, bid)
	}
	for i := range a.invalid {
		bid := a.invalid[i]
		bid.Outcome = a.OutcomeOf(int(bid.FilterSet))
		dst = append(dst, bid)
	}
	return dst
}

// OutcomeOf returns the present outcome of a filter set. A filter set that is still a candidate,
// so that its bid was valid but not used, has OutcomeLost.
func (a *Auction) OutcomeOf(filterSet int) market.BuyerOutcome {
	if outcome := a.Candidates.OutcomeOf(filterSet); outcome != market.OutcomeNone {
		return outcome
	}
	return market.OutcomeLost
}
