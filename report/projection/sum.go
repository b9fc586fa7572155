package projection

import (
	"time"

	"pingpost/engine/market"
)

// SumDimensionValues is the key of one sum: a quarter of an hour, one value of each dimension, and the
// currency.
type SumDimensionValues struct {
	Quarter                   int64
	Campaign, Supplier, Buyer market.PermanentNumber
	Source                    int64
	State                     string
	Reason                    NonSaleCause
	Currency                  market.Currency
}

// QuarterHourNanos is a quarter of an hour in nanoseconds, the smallest unit of time of a sum.
const QuarterHourNanos = int64(15 * time.Minute)

func QuarterHourOf(atNanos int64) int64 {
	return DivideRoundingDown(atNanos, QuarterHourNanos)
}

// NonSaleCause is the reason why a lead was not sold, or the outcome of a buyer that did not
// get it. A reason has the number of its market.UnsoldReason. The number of an outcome is
// firstOutcome plus that of its market.BuyerOutcome.
type NonSaleCause uint8

const firstOutcome NonSaleCause = 64

// causeOfOutcomeOrZero returns the cause for a buyer's outcome, or 0 for the outcomes won, lost and
// none, which are not counted by cause.
func causeOfOutcomeOrZero(o market.BuyerOutcome) NonSaleCause {
	switch o {
	case market.OutcomeNone, market.OutcomeWon, market.OutcomeLost:
		return 0
	}
	return firstOutcome + NonSaleCause(o)
}

func (c NonSaleCause) String() string {
	if c >= firstOutcome {
		return market.BuyerOutcome(c - firstOutcome).String()
	}
	return market.UnsoldReason(c).String()
}

// CauseNumbersNamed returns the numbers of all causes with this name. A name can belong to two:
// a reason and an outcome.
func CauseNumbersNamed(name string) (all []int64) {
	for c := NonSaleCause(1); c < firstOutcome+NonSaleCause(market.OutcomeCount); c++ {
		if c.String() == name && name != "unknown" {
			all = append(all, int64(c))
		}
	}
	return all
}

// The measures, in the order of their columns.
const (
	CountLeads        = iota // leads received
	CountUnmatched           // leads without a buyer in the end, by reason
	CountAuctions            // auctions without an ingest, for a ping or a direct sale
	CountPings               // pings sent
	CountBids                // pings answered with a bid
	CountWins                // bids that were the best
	CountTimeouts            // pings answered too late or never
	CountPosts               // intents to post
	CountRejects             // posts that the buyer rejected or certainly did not get
	CountPostTimeouts        // attempts to post without an answer in time
	CountSales               // sales, by the ledger, like the following measures
	SumRevenue               // paid by buyers
	SumPayout                // earned by suppliers
	CountReturns             // returned leads
	SumCredit                // paid back to buyers
	SumReversal              // taken back from suppliers
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
