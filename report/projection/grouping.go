package projection

import (
	"math/bits"
	"slices"
)

// Grouping is the set of columns, besides time, by which stored sums are separate: one bit
// for each column. The other columns are empty in these sums.
//
// Every grouping counts everything. So a question reads the smallest grouping that includes
// its columns. By quarters alone, a month is millions of sums. Therefore there are also sums
// by hour and day of UTC: for no column, for each one, for each two, and for supplier, buyer
// and campaign together. Larger groupings have hardly fewer sums per day than per quarter.
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

// TimeUnits returns the units of time (days, hours, quarters of an hour) by which the
// grouping's sums are stored, the longest first.
func (g Grouping) TimeUnits() []int64 {
	switch {
	case g == AllColumns:
		return []int64{Quarters}
	case g == Parties, bits.OnesCount8(uint8(g)) <= 1:
		return []int64{Days, Hours, Quarters}
	}
	return []int64{Days, Hours}
}

// Includes reports whether the grouping has all columns of the other grouping.
func (g Grouping) Includes(other Grouping) bool { return g&other == other }

// rollupRule says that the sums of grouping `to` are added up from those of the larger
// grouping `from`.
type rollupRule struct{ to, from Grouping }

// rollups contains all groupings but AllColumns, each after the grouping from which it is
// added up: the smallest larger one.
var rollups = func() (all []rollupRule) {
	of := []Grouping{AllColumns}
	for n := 3; n >= 0; n-- {
		for g := AllColumns - 1; g < AllColumns; g-- { // those of Parties last, because they are few
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
			all = append(all, rollupRule{g, from})
		}
	}
	return all
}()

// Groupings contains all groupings.
var Groupings = func() []Grouping {
	all := make([]Grouping, 0, len(rollups)+1)
	for _, r := range rollups {
		all = append(all, r.to)
	}
	return append(all, AllColumns)
}()

// SmallestGrouping returns the smallest grouping that includes the columns of g and has sums
// by the unit of time. It returns false without such a grouping.
func SmallestGrouping(g Grouping, unit int64) (Grouping, bool) {
	for i := len(rollups) - 1; i >= 0; i-- {
		if found := rollups[i].to; found.Includes(g) && slices.Contains(found.TimeUnits(), unit) {
			return found, true
		}
	}
	return AllColumns, unit == Quarters
}

// Span is a range of time: the hours, days or quarters (Unit) from number First to before
// number Last.
type Span struct{ Unit, First, Last int64 }

// SplitIntoSpans divides a range of quarters of an hour into as few units as possible: whole
// days, hours beside them, and quarters at the ends. No unit extends beyond the range, so a
// partly removed unit is in no span.
func SplitIntoSpans(first, last int64, units []int64) (all []Span) {
	if first >= last {
		return nil
	}
	unit := units[0]
	from, to := -DivideRoundingDown(-first, unit), DivideRoundingDown(last, unit)
	if from >= to {
		return SplitIntoSpans(first, last, units[1:])
	}
	all = append(SplitIntoSpans(first, from*unit, units[1:]), Span{unit, from, to})
	return append(all, SplitIntoSpans(to*unit, last, units[1:])...)
}
