package projection

import (
	"cmp"
	"strings"

	"pingpost/report/histogram"
)

// SumRowPrimaryKey is the primary key of a sum in the database: grouping, unit of time, its
// number, and the values of the grouping's columns.
type SumRowPrimaryKey struct {
	Grouping DimensionColumnSet
	Unit     int64
	Start    int64              // in units
	Key      SumDimensionValues // without its quarter
}

// KeepOnlyColumns returns the key with the columns that are not in columns emptied.
func (c SumDimensionValues) KeepOnlyColumns(columns DimensionColumnSet) SumDimensionValues {
	if !columns.Includes(ColumnSupplier) {
		c.Supplier = 0
	}
	if !columns.Includes(ColumnBuyer) {
		c.Buyer = 0
	}
	if !columns.Includes(ColumnCampaign) {
		c.Campaign = 0
	}
	if !columns.Includes(ColumnSource) {
		c.Source = 0
	}
	if !columns.Includes(ColumnState) {
		c.State = ""
	}
	if !columns.Includes(ColumnReason) {
		c.Reason = 0
	}
	return c
}

// forEachStoredUnit calls visit for each unit of time in which the grouping's sums are stored (days,
// hours or quarter hours). unit is the length in quarter hours. unitNumber is the number of the day,
// hour or quarter hour that contains quarterHour.
func (g DimensionColumnSet) forEachStoredUnit(quarterHour int64, visit func(unit, unitNumber int64)) {
	for _, unit := range g.StoredUnitsInQuarterHours() {
		visit(unit, DivideRoundingDown(quarterHour, unit))
	}
}

// RollUpSums adds up a batch's sums by all columns (batchSums) to all other groupings and units
// of time. The result also has batchSums themselves. A batch does it once, because counting
// into each grouping would be dozens of additions per bid. It calls pause now and then, so that
// the caller can pause for other work.
func RollUpSums(batchSums map[SumDimensionValues]*Measures, pause func()) map[SumRowPrimaryKey]*Measures {
	all := make(map[SumRowPrimaryKey]*Measures, 4*len(batchSums))
	of := map[DimensionColumnSet]map[SumDimensionValues]*Measures{AllColumns: batchSums}
	for _, r := range rollups {
		of[r.to] = make(map[SumDimensionValues]*Measures)
		for c, m := range of[r.from] {
			GetOrInsert(of[r.to], c.KeepOnlyColumns(r.to)).Add(m)
		}
		pause()
	}
	for g, cells := range of {
		for c, m := range cells {
			quarter := c.Quarter
			c.Quarter = 0
			g.forEachStoredUnit(quarter, func(unit, start int64) { GetOrInsert(all, SumRowPrimaryKey{g, unit, start, c}).Add(m) })
		}
		pause()
	}
	return all
}

// RollUpLatencies adds up a batch's latency histograms by supplier, buyer and campaign
// (batchLatencies) to all smaller groupings and units of time. The result also has
// batchLatencies themselves. It calls pause now and then, so that the caller can pause for
// other work.
func RollUpLatencies(batchLatencies map[LatencyKey]*histogram.Histogram, pause func()) map[LatencyRowPrimaryKey]*histogram.Histogram {
	all := make(map[LatencyRowPrimaryKey]*histogram.Histogram, 4*len(batchLatencies))
	of := map[DimensionColumnSet]map[LatencyKey]*histogram.Histogram{Parties: batchLatencies}
	for _, r := range rollups {
		if r.to == Parties || !Parties.Includes(r.to) {
			continue
		}
		of[r.to] = make(map[LatencyKey]*histogram.Histogram)
		for p, h := range of[r.from] {
			p.Key = p.Key.KeepOnlyColumns(r.to)
			GetOrInsert(of[r.to], p).Add(*h)
		}
		pause()
	}
	for g, paces := range of {
		for p, h := range paces {
			quarter := p.Key.Quarter
			p.Key.Quarter = 0
			g.forEachStoredUnit(quarter, func(unit, start int64) { GetOrInsert(all, LatencyRowPrimaryKey{g, unit, start, p}).Add(*h) })
		}
		pause()
	}
	return all
}

// Compare orders keys like the table's primary key, without the currency, for writes in that
// order.
func (at SumRowPrimaryKey) Compare(other SumRowPrimaryKey) int {
	a, b := &at.Key, &other.Key
	return cmp.Or(
		cmp.Compare(at.Grouping, other.Grouping), cmp.Compare(at.Unit, other.Unit), cmp.Compare(at.Start, other.Start),
		cmp.Compare(a.Campaign, b.Campaign), cmp.Compare(a.Supplier, b.Supplier), cmp.Compare(a.Buyer, b.Buyer),
		cmp.Compare(a.Source, b.Source), strings.Compare(a.State, b.State), cmp.Compare(a.Reason, b.Reason),
	)
}
