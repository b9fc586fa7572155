package route

import (
	"math"
	"time"

	"pingpost/engine/market"
)

// clockTolerance is how far a buyer's clock may be behind ours when its bid is
// judged.
const clockTolerance = int64(2 * time.Second)

// Terms are what every bid of one auction is held against. Times are in Unix
// nanoseconds.
type Terms struct {
	Currency market.Currency
	Floor    market.Money
	Payout   market.Payout
	Deadline int64 // an answer that came after it is late
	Ceiling  int64 // when the lead is sold or not at all
}

// TermsOf are a campaign's terms.
func TermsOf(c *market.Campaign, deadline, ceiling int64) Terms {
	return Terms{Currency: c.Currency, Floor: c.Floor, Payout: c.Payout, Deadline: deadline, Ceiling: ceiling}
}

// Judge says what a bid comes to by itself that came at this time, or
// OutcomeNone: it stands, and only better ones can beat it. Of several faults
// the first one counts, in the order in which an auction asks: in time, still
// open, in the campaign's currency, high enough.
//
// That it echoes the auction and has a token was settled when it was read: see
// market.PingResult. A bid is held against the floor before the payout is taken
// from it, and one that would leave the exchange paying more than it gets is
// below the floor as well.
func (t *Terms) Judge(bid *market.Bid, came int64) market.Outcome {
	if came > t.Deadline {
		return market.OutcomeLate
	}
	if bid.ValidUntil != 0 && bid.ValidUntil <= came-clockTolerance {
		return market.OutcomeInvalid
	}
	if bid.Currency != (market.Currency{}) && bid.Currency != t.Currency {
		return market.OutcomeWrongCurrency
	}
	if bid.Amount < t.Floor {
		return market.OutcomeBelowFloor
	}
	if _, ok := t.Payout.Of(bid.Amount); !ok {
		return market.OutcomeBelowFloor
	}
	return market.OutcomeNone
}

// Until is when a bid that stands is over: by its own word, or at the ceiling.
// There is no tolerance in it.
func (t *Terms) Until(bid *market.Bid) int64 {
	own := bid.ValidUntil
	if own == 0 {
		own = math.MaxInt64
	}
	return min(own, t.Ceiling)
}
