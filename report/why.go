package report

import (
	"context"
	"time"

	"pingpost/engine/market"
)

// why is what leads that nobody bought, and bids that came to nothing, are added up by:
// an hour or a day of UTC, and who and why. Cells tell the same of shorter times and are
// many times as many: of a month they cannot be added up while somebody waits.
type why struct {
	unit                      int64 // hours: 1 or 24
	start                     int64 // in units
	campaign, supplier, buyer market.Ref
	reason                    cause
}

// whySums is what is counted: leads, those that nobody bought, and bids.
type whySums [3]int64

const whys = "whys"

var (
	whyKey   = []string{"unit", "start", "campaign", "supplier", "buyer", "reason"}
	whyNames = []string{"leads", "unmatched", "bids"}
)

const (
	hours = 1
	days  = 24
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

// ask counts why something came to nothing.
func (b *batch) ask(c cell, measure int, n int64) {
	sum, ok := whysOf(measure, c.reason)
	if !ok {
		return
	}
	for _, unit := range []int64{hours, days} {
		key := why{unit, floorDiv(b.at, unit*int64(time.Hour)), c.campaign, c.supplier, c.buyer, c.reason}
		found := b.whys[key]
		if found == nil {
			found = new(whySums)
			b.whys[key] = found
		}
		found[sum] += n
	}
}

func floorDiv(at, unit int64) int64 {
	if at < 0 {
		return (at+1)/unit - 1
	}
	return at / unit
}

func (f *file) writeWhys(ctx context.Context, b *batch) error {
	w := f.sumsOf(ctx, whys, whyKey, whyNames)
	for y, n := range b.whys {
		if err := w.add(y.unit, y.start, y.campaign, y.supplier, y.buyer, y.reason, n[0], n[1], n[2]); err != nil {
			return err
		}
	}
	return w.done()
}

// stretchOfWhys are units from a first one on and before a last one.
type stretchOfWhys struct{ unit, first, last int64 }

// stretches are hours of a time as few sums: whole days, and the hours before and after
// them.
func stretches(first, last int64) []stretchOfWhys {
	firstDay, lastDay := floorDiv(first+days-1, days), floorDiv(last, days)
	if firstDay >= lastDay {
		return []stretchOfWhys{{hours, first, last}}
	}
	return []stretchOfWhys{{hours, first, firstDay * days}, {days, firstDay, lastDay}, {hours, lastDay * days, last}}
}
