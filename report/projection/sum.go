package projection

import (
	"time"

	"pingpost/engine/market"
)

// cell is what sums are by.
type SumKey struct {
	Quarter                   int64
	Campaign, Supplier, Buyer market.Ref
	Source                    int64
	State                     string
	Reason                    Cause
	Currency                  market.Currency
}

// quarter is how many nanoseconds there are in what time is told apart by.
const Quarter = int64(15 * time.Minute)

func QuarterOf(at int64) int64 {
	return FloorDiv(at, Quarter)
}

// cause is why something came to nothing: towards a supplier, a market.Reason; of a
// buyer, what it came to as a candidate.
type Cause uint8

const firstOutcome Cause = 64

func causeOf(o market.Outcome) Cause {
	switch o {
	case market.OutcomeNone, market.OutcomeWon, market.OutcomeLost:
		return 0
	}
	return firstOutcome + Cause(o)
}

func (c Cause) String() string {
	if c >= firstOutcome {
		return market.Outcome(c - firstOutcome).String()
	}
	return market.Reason(c).String()
}

// causes are all that have a name: a few have two numbers, as a reason and as an
// outcome.
func CausesNamed(name string) (all []int64) {
	for c := Cause(1); c < firstOutcome+Cause(market.OutcomeCount); c++ {
		if c.String() == name && name != "unknown" {
			all = append(all, int64(c))
		}
	}
	return all
}

// What is counted, and what money came to. The order is that of the columns.
const (
	CountLeads        = iota // that came
	CountUnmatched           // that nobody has bought in the end, by reason
	CountAuctions            // held by themselves, for a seller's ping or question
	CountPings               // buyers that were asked
	CountBids                // that answered with an offer
	CountWins                // whose offer was the best
	CountTimeouts            // that answered too late or not at all
	CountPosts               // intents to post
	CountRejects             // posts that the buyer refused or certainly never got
	CountPostTimeouts        // tries to post that ended without an answer in time
	CountSales               // by the ledger, as all below
	SumRevenue               // what buyers paid
	SumPayout                // what suppliers earned
	CountReturns             // leads that came back
	SumCredit                // what buyers got back
	SumReversal              // what was taken back from suppliers
	MeasureCount
)

var MeasureNames = []string{
	"leads", "unmatched", "auctions", "pings", "bids", "wins", "timeouts", "posts", "post_rejects", "post_timeouts",
	"sales", "revenue", "payout", "returns", "credit", "reversal",
}

type Measures [MeasureCount]int64

func (m *Measures) Add(other *Measures) {
	for i, n := range other {
		m[i] += n
	}
}
