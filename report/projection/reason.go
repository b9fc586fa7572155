package projection

import (
	"pingpost/engine/market"
)

// NonSaleReasonKey identifies a count of unsold leads or lost bids by reason: an hour or a day of
// UTC, the parties and the reason. Among the other sums only those of AllColumns have this
// detail, and those of a month are too many to add up during a request.
type NonSaleReasonKey struct {
	Unit                      int64 // hours or days
	Start                     int64 // in units
	Campaign, Supplier, Buyer market.PermanentNumber
	Reason                    NonSaleCause
}

// NonSaleReasonCounts has the counts of one NonSaleReasonKey: leads, unsold leads, and pings or posts
// whose buyer did not get the lead. Valid bids that lost to a higher one are not counted.
type NonSaleReasonCounts [3]int64

// countIndexOfMeasure returns the index in NonSaleReasonCounts at which a measure is counted. isCounted
// is false if NonSaleReasonCounts does not count the measure. It is also false for a ping or post
// without a cause (zero): its buyer got the lead or lost to a higher bid.
func countIndexOfMeasure(measure int, cause NonSaleCause) (index int, isCounted bool) {
	switch measure {
	case CountLeads:
		return 0, true
	case CountUnmatched:
		return 1, true
	case CountPings, CountRejects:
		return 2, cause != 0
	}
	return 0, false
}

// NonSaleReasonCounts returns the batch's counts of unsold leads and lost bids by reason, for
// hours and for days.
func (b *ChangeBatch) NonSaleReasonCounts() map[NonSaleReasonKey]*NonSaleReasonCounts {
	all := make(map[NonSaleReasonKey]*NonSaleReasonCounts)
	for c, m := range b.Sums {
		for measure, n := range m {
			sum, ok := countIndexOfMeasure(measure, c.Reason)
			if !ok || n == 0 {
				continue
			}
			for _, unit := range []int64{Hours, Days} {
				GetOrInsert(all, NonSaleReasonKey{unit, DivideRoundingDown(c.Quarter, unit), c.Campaign, c.Supplier, c.Buyer, c.Reason})[sum] += n
			}
		}
	}
	return all
}

func DivideRoundingDown(n, divisor int64) int64 {
	if n < 0 {
		return (n+1)/divisor - 1
	}
	return n / divisor
}
