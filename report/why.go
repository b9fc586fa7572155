package report

import (
	"context"

	"pingpost/engine/market"
)

// why is what leads that nobody bought, and bids that came to nothing, are added up by:
// an hour or a day of UTC, and who and why. Of the cells only the fine ones tell as much,
// and of a month those cannot be added up while somebody waits.
type why struct {
	unit                      int64 // hours or days
	start                     int64 // in units
	campaign, supplier, buyer market.Ref
	reason                    cause
}

// whySums is what is counted: leads, those that nobody bought, and bids.
type whySums [3]int64

const whysTable = "whys"

var (
	whyKey   = []string{"unit", "start", "campaign", "supplier", "buyer", "reason"}
	whyNames = []string{"leads", "unmatched", "bids"}
)

// whysOf is where a measure is counted; false: in none.
func whysOf(measure int, reason cause) (sum int, ok bool) {
	switch measure {
	case countLeads:
		return 0, true
	case countUnmatched:
		return 1, true
	case countPings, countRejects:
		return 2, reason != 0
	}
	return 0, false
}

// whys counts why something came to nothing, in a batch's cells.
func (b *batch) whys() map[why]*whySums {
	all := make(map[why]*whySums)
	for c, m := range b.fine {
		for measure, n := range m {
			sum, ok := whysOf(measure, c.reason)
			if !ok || n == 0 {
				continue
			}
			for _, unit := range []int64{hours, days} {
				into(all, why{unit, floorDiv(c.quarter, unit), c.campaign, c.supplier, c.buyer, c.reason})[sum] += n
			}
		}
	}
	return all
}

func floorDiv(at, unit int64) int64 {
	if at < 0 {
		return (at+1)/unit - 1
	}
	return at / unit
}

func (f *file) writeWhys(ctx context.Context, b *batch) error {
	w := f.sumsOf(ctx, whysTable, whyKey, whyNames)
	for y, n := range b.whys() {
		if err := w.add(y.unit, y.start, y.campaign, y.supplier, y.buyer, y.reason, n[0], n[1], n[2]); err != nil {
			return err
		}
	}
	return w.done()
}
