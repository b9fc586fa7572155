package projection

import (
	"pingpost/engine/market"
)

// why is what leads that nobody bought, and bids that came to nothing, are added up by:
// an hour or a day of UTC, and who and why. Of the cells only the fine ones tell as much,
// and of a month those cannot be added up while somebody waits.
type ReasonKey struct {
	Unit                      int64 // hours or days
	Start                     int64 // in units
	Campaign, Supplier, Buyer market.Ref
	Reason                    Cause
}

// whySums is what is counted: leads, those that nobody bought, and bids.
type ReasonSums [3]int64

// whysOf is where a measure is counted; false: in none.
func reasonSumOf(measure int, reason Cause) (sum int, ok bool) {
	switch measure {
	case CountLeads:
		return 0, true
	case CountUnmatched:
		return 1, true
	case CountPings, CountRejects:
		return 2, reason != 0
	}
	return 0, false
}

// whys counts why something came to nothing, in a batch's cells.
func (b *Batch) ReasonSums() map[ReasonKey]*ReasonSums {
	all := make(map[ReasonKey]*ReasonSums)
	for c, m := range b.Sums {
		for measure, n := range m {
			sum, ok := reasonSumOf(measure, c.Reason)
			if !ok || n == 0 {
				continue
			}
			for _, unit := range []int64{Hours, Days} {
				Ensure(all, ReasonKey{unit, FloorDiv(c.Quarter, unit), c.Campaign, c.Supplier, c.Buyer, c.Reason})[sum] += n
			}
		}
	}
	return all
}

func FloorDiv(at, unit int64) int64 {
	if at < 0 {
		return (at+1)/unit - 1
	}
	return at / unit
}
