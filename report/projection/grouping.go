package projection

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
type Grouping uint8

// The columns of a Grouping.
const (
	ColumnSupplier Grouping = 1 << iota
	ColumnBuyer
	ColumnCampaign
	ColumnSource
	ColumnState
	ColumnReason

	Parties    = ColumnSupplier | ColumnBuyer | ColumnCampaign
	AllColumns = Parties | ColumnSource | ColumnState | ColumnReason
)

// Units of time, in quarters of an hour.
const (
	Quarters = 1
	Hours    = 4
	Days     = 96
)

// units are those that a grain has sums by, the longest first.
func (g Grouping) Units() []int64 {
	switch {
	case g == AllColumns:
		return []int64{Quarters}
	case g == Parties, bits.OnesCount8(uint8(g)) <= 1:
		return []int64{Days, Hours, Quarters}
	}
	return []int64{Days, Hours}
}

// tells whether the grain tells apart all that another one does.
func (g Grouping) Includes(other Grouping) bool { return g&other == other }

// A rollup is a grain that is added up from the cells of another one.
type rollup struct{ to, from Grouping }

// rollups are all grains but the fine one, each behind the one that it is added up from:
// the smallest that tells more.
var rollups = func() (all []rollup) {
	of := []Grouping{AllColumns}
	for n := 3; n >= 0; n-- {
		for g := AllColumns - 1; g < AllColumns; g-- { // those of parties last, which are few
			if bits.OnesCount8(uint8(g)) != n || n == 3 && g != Parties {
				continue
			}
			from := AllColumns
			for _, other := range of {
				if other != g && other.Includes(g) {
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
var Groupings = func() []Grouping {
	all := make([]Grouping, 0, len(rollups)+1)
	for _, r := range rollups {
		all = append(all, r.to)
	}
	return append(all, AllColumns)
}()

// covering is the smallest grain that tells so much apart and has sums by a unit; false:
// none has.
func SmallestGrouping(g Grouping, unit int64) (Grouping, bool) {
	for i := len(rollups) - 1; i >= 0; i-- {
		if found := rollups[i].to; found.Includes(g) && slices.Contains(found.Units(), unit) {
			return found, true
		}
	}
	return AllColumns, unit == Quarters
}

// A span is units from a first one on and before a last one.
type Span struct{ Unit, First, Last int64 }

// spans are the quarters of a time in as few units as there are: whole days, hours
// before and after them, and quarters at its ends. No unit reaches beyond the time, so
// that one which is swept in part is in none.
func Spans(first, last int64, units []int64) (all []Span) {
	if first >= last {
		return nil
	}
	unit := units[0]
	from, to := -FloorDiv(-first, unit), FloorDiv(last, unit)
	if from >= to {
		return Spans(first, last, units[1:])
	}
	all = append(Spans(first, from*unit, units[1:]), Span{unit, from, to})
	return append(all, Spans(to*unit, last, units[1:])...)
}
