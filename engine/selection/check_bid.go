package selection

import (
	"math"
	"time"

	"pingpost/engine/market"
)

// clockTolerance is how far a buyer's clock may be behind this exchange's when its bid is
// judged.
const clockTolerance = int64(2 * time.Second)

// BidTerms are the conditions for every bid of one auction. Times are in Unix nanoseconds.
type BidTerms struct {
	Currency         market.Currency
	Floor            market.Money
	Payout           market.Payout
	BidDeadline      int64 // a later answer is late
	DecisionDeadline int64 // time limit of the decision
}

// NewBidTerms returns a campaign's terms.
func NewBidTerms(c *market.Campaign, deadline, decisionDeadline int64) BidTerms {
	return BidTerms{Currency: c.Currency, Floor: c.Floor, Payout: c.Payout, BidDeadline: deadline, DecisionDeadline: decisionDeadline}
}

// CheckBid returns the outcome of a bid that arrived at this time, by itself, or OutcomeNone
// if it is valid; then only better bids can beat it. Of several faults the first one
// counts, in the order of the checks: in time, still open, in the campaign's currency,
// high enough.
//
// The reader of the answer has checked that the bid repeats the auction's id and has a
// token: see market.PingResult. CheckBid compares a bid with the floor before it subtracts
// the payout. A bid that would make the exchange pay more than it gets is below the floor
// as well.
func (t *BidTerms) CheckBid(bid *market.Bid, arrived int64) market.Outcome {
	if arrived > t.BidDeadline {
		return market.OutcomeLate
	}
	if bid.ValidUntil != 0 && bid.ValidUntil <= arrived-clockTolerance {
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

// BidValidUntil returns the end of a valid bid: its own, or the time limit. It adds no
// tolerance.
func (t *BidTerms) BidValidUntil(bid *market.Bid) int64 {
	own := bid.ValidUntil
	if own == 0 {
		own = math.MaxInt64
	}
	return min(own, t.DecisionDeadline)
}
