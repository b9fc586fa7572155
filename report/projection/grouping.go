package projection

import (
	"math/bits"
	"slices"
)

// DimensionColumnSet, also called a grouping, is the set of columns, besides time, by which stored sums
// are separate: one bit for each column. The other columns are empty in these sums.
//
// Every grouping counts everything. So a question reads the smallest grouping that includes
// its columns. By quarters alone, a month is millions of sums. Therefore there are also sums
// by hour and day of UTC: for no column, for each one, for each two, and for supplier, buyer
// and campaign together. Larger groupings have hardly fewer sums per day than per quarter.
type DimensionColumnSet uint8

// The columns of a DimensionColumnSet.
const (
	ColumnSupplier DimensionColumnSet = 1 << iota
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

// StoredUnitsInQuarterHours returns the units of time (days, hours, quarters of an hour) by which the
// grouping's sums are stored, the longest first.
func (g DimensionColumnSet) StoredUnitsInQuarterHours() []int64 {
	switch {
	case g == AllColumns:
		return []int64{Quarters}
	case g == Parties, bits.OnesCount8(uint8(g)) <= 1:
		return []int64{Days, Hours, Quarters}
	}
	return []int64{Days, Hours}
}

// Includes reports whether the grouping has all columns of the other grouping.
func (g DimensionColumnSet) Includes(other DimensionColumnSet) bool { return g&other == other }

// columnRollup says that the sums of grouping `to` are added up from those of the larger
// grouping `from`.
type columnRollup struct{ to, from DimensionColumnSet }

// rollups contains all groupings but AllColumns, each after the grouping from which it is
// added up: the smallest larger one.
var rollups = func() (all []columnRollup) {
	of := []DimensionColumnSet{AllColumns}
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
			all = append(all, columnRollup{g, from})
		}
	}
	return all
}()

// Groupings contains all groupings for which the database has sums.
var Groupings = func() []DimensionColumnSet {
	all := make([]DimensionColumnSet, 0, len(rollups)+1)
	for _, r := range rollups {
		all = append(all, r.to)
	}
	return append(all, AllColumns)
}()

// SmallestStoredColumnSet returns the smallest grouping that includes the columns of g and has
// sums by the unit of time. It returns false without such a grouping.
func SmallestStoredColumnSet(g DimensionColumnSet, unit int64) (smallest DimensionColumnSet, exists bool) {
	for i := len(rollups) - 1; i >= 0; i-- {
		if found := rollups[i].to; found.Includes(g) && slices.Contains(found.StoredUnitsInQuarterHours(), unit) {
			return found, true
		}
	}
	return AllColumns, unit == Quarters
}

// UnitSpan is a range of time: the hours, days or quarters (Unit) from number First to before number End.
type UnitSpan struct{ Unit, First, End int64 }

// SplitIntoSpans divides a range of quarters of an hour into as few units as possible: whole
// days, hours beside them, and quarters at the ends. No unit extends beyond the range, so a
// partly removed unit is in no span.
func SplitIntoSpans(firstQuarterHour, endQuarterHour int64, units []int64) (spans []UnitSpan) {
	if firstQuarterHour >= endQuarterHour {
		return nil
	}
	unit := units[0]
	from, to := -DivideRoundingDown(-firstQuarterHour, unit), DivideRoundingDown(endQuarterHour, unit)
	if from >= to {
		return SplitIntoSpans(firstQuarterHour, endQuarterHour, units[1:])
	}
	spans = append(SplitIntoSpans(firstQuarterHour, from*unit, units[1:]), UnitSpan{unit, from, to})
	return append(spans, SplitIntoSpans(to*unit, endQuarterHour, units[1:])...)
}
