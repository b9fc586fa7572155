package selection

import (
	"math"
	"time"

	"pingpost/engine/market"
)

// clockTolerance is the time by which a buyer's clock may be behind the exchange's clock. A bid
// counts as expired only after its end plus this time.
const clockTolerance = int64(2 * time.Second)

// BidRequirements are the conditions that every bid of one auction must meet. Times are in Unix
// nanoseconds.
type BidRequirements struct {
	Currency         market.Currency
	Floor            market.Money
	Payout           market.PayoutRule
	BidDeadline      int64 // a later answer is late
	DecisionDeadline int64 // all bids expire then at the latest
}

// NewBidRequirements returns the terms of an auction of campaign c. bidDeadlineNanos is the auction's end;
// decisionDeadlineNanos is the time at which all bids expire at the latest.
func NewBidRequirements(c *market.Campaign, bidDeadlineNanos, decisionDeadlineNanos int64) BidRequirements {
	return BidRequirements{Currency: c.Currency, Floor: c.Floor, Payout: c.Payout, BidDeadline: bidDeadlineNanos, DecisionDeadline: decisionDeadlineNanos}
}

// CheckBid returns the outcome of a bid that arrived at this time, or OutcomeNone if it is valid. Of
// several faults the first one counts, in the order of the checks: in time, not expired, in the
// campaign's currency, high enough. A bid that states no expiry or no currency passes that check. It
// does not compare bids with each other.
//
// The code that parsed the buyer's answer has checked that the bid repeats the auction's id and
// has a token: see market.BuyerPingResult. CheckBid compares a bid with the floor before it subtracts
// the payout. A bid that would make the exchange pay more than it gets is below the floor as
// well.
func (t *BidRequirements) CheckBid(bid *market.Bid, arrivedAtNanos int64) (faultOrNone market.BuyerOutcome) {
	if arrivedAtNanos > t.BidDeadline {
		return market.OutcomeLate
	}
	if bid.ValidUntil != 0 && bid.ValidUntil <= arrivedAtNanos-clockTolerance {
		return market.OutcomeInvalid
	}
	if bid.Currency != (market.Currency{}) && bid.Currency != t.Currency {
		return market.OutcomeWrongCurrency
	}
	if bid.Amount < t.Floor {
		return market.OutcomeBelowFloor
	}
	if _, ok := t.Payout.AmountAtPrice(bid.Amount); !ok {
		return market.OutcomeBelowFloor
	}
	return market.OutcomeNone
}

// BidValidUntil returns the time at which a valid bid expires: the time that the buyer set, but
// DecisionDeadline at the latest. It adds no clock tolerance.
func (t *BidRequirements) BidValidUntil(bid *market.Bid) int64 {
	own := bid.ValidUntil
	if own == 0 {
		own = math.MaxInt64
	}
	return min(own, t.DecisionDeadline)
}
