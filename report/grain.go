package report

import (
	"math/bits"
	"slices"
)

// A grain is what sums tell apart besides time: a bit for each column, from the supplier
// on. What it does not tell apart is none in its cells.
//
// All that is counted is in the cells of each grain, so a question reads those of the
// smallest one that tells what it is by and what it is only of. By quarters alone a month
// is millions of cells; so there are sums by hour and day of UTC too, of everything, of
// each one column, of each two, and of suppliers, buyers and campaigns together. What
// tells more apart has hardly fewer cells in a day than in its quarters.
type grain uint8

func grainOf(all ...Dimension) (g grain) {
	for _, d := range all {
		if !d.isTime() {
			g |= 1 << (d - BySupplier)
		}
	}
	return g
}

var (
	fine    = grainOf(BySupplier, ByBuyer, ByCampaign, BySource, ByState, ByReason)
	parties = grainOf(BySupplier, ByBuyer, ByCampaign)
)

// Units of time, in quarters of an hour.
const (
	quarters = 1
	hours    = 4
	days     = 96
)

// units are those that a grain has sums by, the longest first.
func (g grain) units() []int64 {
	switch {
	case g == fine:
		return []int64{quarters}
	case g == parties, bits.OnesCount8(uint8(g)) <= 1:
		return []int64{days, hours, quarters}
	}
	return []int64{days, hours}
}

// tells whether the grain tells apart all that another one does.
func (g grain) tells(other grain) bool { return g&other == other }

// A rollup is a grain that is added up from the cells of another one.
type rollup struct{ grain, from grain }

// rollups are all grains but the fine one, each behind the one that it is added up from:
// the smallest that tells more.
var rollups = func() (all []rollup) {
	of := []grain{fine}
	for n := 3; n >= 0; n-- {
		for g := fine - 1; g < fine; g-- { // those of parties last, which are few
			if bits.OnesCount8(uint8(g)) != n || n == 3 && g != parties {
				continue
			}
			from := fine
			for _, other := range of {
				if other != g && other.tells(g) {
					from = other
				}
			}
			of = append(of, g)
			all = append(all, rollup{g, from})
		}
	}
	return all
}()

// grains are all.
var grains = func() []grain {
	all := make([]grain, 0, len(rollups)+1)
	for _, r := range rollups {
		all = append(all, r.grain)
	}
	return append(all, fine)
}()

// covering is the smallest grain that tells so much apart and has sums by a unit; false:
// none has.
func covering(g grain, unit int64) (grain, bool) {
	for i := len(rollups) - 1; i >= 0; i-- {
		if found := rollups[i].grain; found.tells(g) && slices.Contains(found.units(), unit) {
			return found, true
		}
	}
	return fine, unit == quarters
}

// A span is units from a first one on and before a last one.
type span struct{ unit, first, last int64 }

// spans are the quarters of a time in as few units as there are: whole days, hours
// before and after them, and quarters at its ends. No unit reaches beyond the time, so
// that one which is swept in part is in none.
func spans(first, last int64, units []int64) (all []span) {
	if first >= last {
		return nil
	}
	unit := units[0]
	from, to := -floorDiv(-first, unit), floorDiv(last, unit)
	if from >= to {
		return spans(first, last, units[1:])
	}
	all = append(spans(first, from*unit, units[1:]), span{unit, from, to})
	return append(all, spans(to*unit, last, units[1:])...)
}
