package auction

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/selection"
)

// judgeAnswersAndRecordHealth judges the answers of all pinged buyers after the end of the
// collection. A buyer without an answer has timed out. Each answer also counts for the health of
// its buyer.
func (a *Auction) judgeAnswersAndRecordHealth(c *bidCollector) {
	answered := false
	for i := range c.pings {
		p := &c.pings[i]
		if p.answeredAt == 0 {
			p.answeredAt, p.result = a.Deadline, market.BuyerPingResult{Outcome: market.OutcomeTimeout, Fault: market.FaultTimeout}
		}
		bid := event.Bid{
			FilterSet: uint32(p.filterSet), Set: a.bidders.Campaign.FilterSets[p.filterSet].ID, Buyer: a.bidders.Campaign.FilterSets[p.filterSet].Buyer.Ref, Elapsed: max(0, p.answeredAt-a.Began),
			Status: uint32(max(0, p.result.Status)), Fault: p.result.Fault, Reason: p.result.Reason,
		}
		outcome := p.result.Outcome
		if outcome == market.OutcomeRateLimited && p.result.RetryAfter > 0 {
			bid.PausedUntil = p.answeredAt + int64(p.result.RetryAfter)
		}
		if outcome == market.OutcomeNone {
			outcome = a.copyBidAndCheckTerms(&bid, &p.result.Bid, p.answeredAt)
		}
		p.limiter.recordOutcomeForHealth(outcome, p.answeredAt)
		answered = answered || outcome != market.OutcomeTimeout && outcome != market.OutcomeLate
		if outcome == market.OutcomeNone {
			outcome = a.checkCapsAndFunds(p.filterSet, bid.Amount)
		}
		a.recordBidAsValidOrInvalid(&bid, outcome, p)
	}
	if len(c.pings) > 0 {
		a.timedOut = !answered
	}
}

// copyBidAndCheckTerms copies a buyer's offer into recordedBid and returns its outcome, or OutcomeNone
// if the bid is valid. It checks neither capacity nor rank. arrivedAtNanos is the answer's time.
func (a *Auction) copyBidAndCheckTerms(recordedBid *event.Bid, offeredBid *market.Bid, arrivedAtNanos int64) market.BuyerOutcome {
	recordedBid.Amount, recordedBid.Currency, recordedBid.ValidUntil = offeredBid.Amount, offeredBid.Currency, a.terms.BidValidUntil(offeredBid)
	if recordedBid.Currency == (market.Currency{}) {
		recordedBid.Currency = a.terms.Currency
	}
	outcome := a.terms.CheckBid(offeredBid, arrivedAtNanos)
	if outcome == market.OutcomeNone {
		recordedBid.Token = offeredBid.Token
		recordedBid.Payout, _ = a.terms.Payout.AmountAtPrice(offeredBid.Amount)
	}
	return outcome
}

// checkCapsAndFunds returns OutcomeNone if caps and funds allow a sale to the filter set at this
// amount. Otherwise it returns OutcomeCapped or OutcomeNoFunds. It does not count the
// reservations of requests in progress.
func (a *Auction) checkCapsAndFunds(filterSetIndex int, amount market.Money) market.BuyerOutcome {
	current, _ := a.bidders.PriceAndCapsAt(filterSetIndex, a.Began)
	for _, limit := range current.Caps {
		if full, _ := a.capacity.IsCapFull(limit, amount, a.Began); full {
			return market.OutcomeCapped
		}
	}
	if a.capacity.LacksFunds(a.bidders.Campaign.FilterSets[filterSetIndex].Buyer, amount) {
		return market.OutcomeNoFunds
	}
	return market.OutcomeNone
}

// recordBidAsValidOrInvalid adds a bid to the auction: to the valid bids for OutcomeNone, and
// otherwise to the invalid ones. The filter set of an invalid bid is excluded with the outcome.
func (a *Auction) recordBidAsValidOrInvalid(bid *event.Bid, outcome market.BuyerOutcome, ping *pingInFlight) {
	if outcome != market.OutcomeNone {
		bid.Token, bid.Payout = "", 0
		a.Candidates.Exclude(ping.filterSet, outcome)
		a.invalid = append(a.invalid, *bid)
		return
	}
	a.valid = append(a.valid, *bid)
	terms := &a.bidders.Campaign.FilterSets[ping.filterSet]
	a.offers = append(a.offers, selection.RankedBid{
		FilterSet: ping.filterSet, Amount: bid.Amount, Priority: terms.Priority, ArrivedAt: ping.answeredAt, Buyer: terms.Buyer.ID,
	})
}

// AppendBidsWithOutcomes appends all bids with their present outcomes to dst, for the auction's
// event. The valid bids come first, by rank, and then the invalid ones, by filter set.
func (a *Auction) AppendBidsWithOutcomes(dst []event.Bid) []event.Bid {
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
func (a *Auction) OutcomeOf(filterSetIndex int) market.BuyerOutcome {
	if outcome := a.Candidates.OutcomeOf(filterSetIndex); outcome != market.OutcomeNone {
		return outcome
	}
	return market.OutcomeLost
}
