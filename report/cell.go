package report

import (
	"time"

	"pingpost/engine/market"
)

// cell is what sums are by.
type cell struct {
	quarter                   int64
	campaign, supplier, buyer market.Ref
	source                    int64
	state                     string
	reason                    cause
	currency                  market.Currency
}

// quarter is how many nanoseconds there are in what time is told apart by.
const quarter = int64(15 * time.Minute)

func quarterOf(at int64) int64 {
	return floorDiv(at, quarter)
}

// cause is why something came to nothing: towards a supplier, a market.Reason; of a
// buyer, what it came to as a candidate.
type cause uint8

const ofOutcome cause = 64

func causeOf(o market.Outcome) cause {
	switch o {
	case market.OutcomeNone, market.OutcomeWon, market.OutcomeLost:
		return 0
	}
	return ofOutcome + cause(o)
}

func (c cause) String() string {
	if c >= ofOutcome {
		return market.Outcome(c - ofOutcome).String()
	}
	return market.Reason(c).String()
}

// causes are all that have a name: a few have two numbers, as a reason and as an
// outcome.
func causes(name string) (all []int64) {
	for c := cause(1); c < ofOutcome+cause(market.OutcomeCount); c++ {
		if c.String() == name && name != "unknown" {
			all = append(all, int64(c))
		}
	}
	return all
}

// What is counted, and what money came to. The order is that of the columns.
const (
	countLeads     = iota // that came
	countUnmatched        // that nobody has bought in the end, by reason
	countAuctions         // held by themselves, for a seller's ping or question
	countPings            // buyers that were asked
	countBids             // that answered with an offer
	countWins             // whose offer was the best
	countTimeouts         // that answered too late or not at all
	countPosts            // intents to post
	countRejects          // posts that the buyer refused or certainly never got
	countHung             // tries to post that ended without an answer in time
	countSales            // by the ledger, as all below
	sumRevenue            // what buyers paid
	sumPayout             // what suppliers earned
	countReturns          // leads that came back
	sumCredit             // what buyers got back
	sumReversal           // what was taken back from suppliers
	countMeasures
)

var measureNames = []string{
	"leads", "unmatched", "auctions", "pings", "bids", "wins", "timeouts", "posts", "post_rejects", "post_timeouts",
	"sales", "revenue", "payout", "returns", "credit", "reversal",
}

type measures [countMeasures]int64

func (m *measures) add(other *measures) {
	for i, n := range other {
		m[i] += n
	}
}
