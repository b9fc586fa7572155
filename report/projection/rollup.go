package projection

import (
	"cmp"
	"strings"

	"pingpost/report/histogram"
)

// SumPosition is the primary key of a sum in the database: grouping, unit of time, its
// number, and the values of the grouping's columns.
type SumPosition struct {
	Grouping Grouping
	Unit     int64
	Start    int64  // in units
	Key      SumKey // without its quarter
}

// Project returns the key with the columns that are not in grouping g emptied.
func (c SumKey) Project(g Grouping) SumKey {
	if !g.Includes(ColumnSupplier) {
		c.Supplier = 0
	}
	if !g.Includes(ColumnBuyer) {
		c.Buyer = 0
	}
	if !g.Includes(ColumnCampaign) {
		c.Campaign = 0
	}
	if !g.Includes(ColumnSource) {
		c.Source = 0
	}
	if !g.Includes(ColumnState) {
		c.State = ""
	}
	if !g.Includes(ColumnReason) {
		c.Reason = 0
	}
	return c
}

// eachUnit calls add once for each unit of time of the grouping, with the number of the day,
// hour or quarter that contains the given quarter.
func (g Grouping) eachUnit(quarter int64, add func(unit, start int64)) {
	for _, unit := range g.TimeUnits() {
		add(unit, DivideRoundingDown(quarter, unit))
	}
}

// RollUp adds up a batch's sums by all columns (begun) to all other groupings and units of
// time. A batch does it once, because counting into each grouping would be dozens of
// additions per bid. It calls rest now and then, so that the caller can pause for other work.
func RollUp(begun map[SumKey]*Measures, rest func()) map[SumPosition]*Measures {
	all := make(map[SumPosition]*Measures, 4*len(begun))
	of := map[Grouping]map[SumKey]*Measures{AllColumns: begun}
	for _, r := range rollups {
		of[r.to] = make(map[SumKey]*Measures)
		for c, m := range of[r.from] {
			GetOrInsert(of[r.to], c.Project(r.to)).Add(m)
		}
		rest()
	}
	for g, cells := range of {
		for c, m := range cells {
			quarter := c.Quarter
			c.Quarter = 0
			g.eachUnit(quarter, func(unit, start int64) { GetOrInsert(all, SumPosition{g, unit, start, c}).Add(m) })
		}
		rest()
	}
	return all
}

// RollUpLatencies adds up a batch's latency histograms by supplier, buyer and campaign
// (begun) to all smaller groupings and units of time. It calls rest now and then, so that the
// caller can pause for other work.
func RollUpLatencies(begun map[LatencyKey]*histogram.Histogram, rest func()) map[LatencyPosition]*histogram.Histogram {
	all := make(map[LatencyPosition]*histogram.Histogram, 4*len(begun))
	of := map[Grouping]map[LatencyKey]*histogram.Histogram{Parties: begun}
	for _, r := range rollups {
		if r.to == Parties || !Parties.Includes(r.to) {
			continue
		}
		of[r.to] = make(map[LatencyKey]*histogram.Histogram)
		for p, h := range of[r.from] {
			p.Key = p.Key.Project(r.to)
			GetOrInsert(of[r.to], p).Add(*h)
		}
		rest()
	}
	for g, paces := range of {
		for p, h := range paces {
			quarter := p.Key.Quarter
			p.Key.Quarter = 0
			g.eachUnit(quarter, func(unit, start int64) { GetOrInsert(all, LatencyPosition{g, unit, start, p}).Add(*h) })
		}
		rest()
	}
	return all
}

// Compare orders positions like the table's primary key, for writes in that order.
func (at SumPosition) Compare(with SumPosition) int {
	a, b := &at.Key, &with.Key
	return cmp.Or(
		cmp.Compare(at.Grouping, with.Grouping), cmp.Compare(at.Unit, with.Unit), cmp.Compare(at.Start, with.Start),
		cmp.Compare(a.Campaign, b.Campaign), cmp.Compare(a.Supplier, b.Supplier), cmp.Compare(a.Buyer, b.Buyer),
		cmp.Compare(a.Source, b.Source), strings.Compare(a.State, b.State), cmp.Compare(a.Reason, b.Reason),
	)
}
