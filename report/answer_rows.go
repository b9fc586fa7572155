package report

import (
	"cmp"
	"database/sql"
	"fmt"
	"io"
	"slices"
	"strings"

	"pingpost/report/histogram"
	"pingpost/report/projection"
)

// readNextPeriod reads the rows of the answer's next hour or day into a.rows. Without a time
// dimension it reads the whole range. It returns io.EOF at the end.
func (a *RowIterator) readNextPeriod() error {
	start, of, ok := a.advanceToNextPeriod()
	if !ok {
		return io.EOF
	}
	groups := make(map[string]*Row)
	for _, s := range of {
		if err := a.addMeasures(groups, s); err != nil {
			return err
		}
	}
	if a.latencies.statement != nil {
		for _, s := range of {
			if err := a.addLatencies(groups, s); err != nil {
				return err
			}
		}
	}
	for _, row := range groups {
		row.Start = start
		a.rows = append(a.rows, row)
	}
	slices.SortFunc(a.rows, func(x, y *Row) int {
		for _, d := range a.By {
			if c := strings.Compare(x.Names[d], y.Names[d]); c != 0 {
				return c
			}
		}
		return cmp.Compare(x.Currency, y.Currency)
	})
	a.rows = mergeCurrencylessRowsIntoNext(a.rows)
	return nil
}

// addMeasures adds the counts and amounts of one time span to the rows in groups. It creates
// missing rows.
func (a *RowIterator) addMeasures(groups map[string]*Row, span projection.UnitSpan) error {
	var at projection.SumDimensionValues
	var currency string
	var sum projection.Measures
	places := append(a.dimensionScanTargets(&at), &currency)
	for i := range sum {
		places = append(places, &sum[i])
	}
	return a.scanSums(a.sums, span, places, func() error {
		a.findOrCreateRow(groups, &at, currency, true).Add(&sum)
		if len(groups) > a.report.opt.limits.groups {
			return questionTooLargeError(fmt.Sprintf("it has more than %d rows at once", a.report.opt.limits.groups))
		}
		return nil
	})
}

// addLatencies adds the buyers' latency histograms of one time span to the existing rows in
// groups.
func (a *RowIterator) addLatencies(groups map[string]*Row, span projection.UnitSpan) error {
	var at projection.SumDimensionValues
	var kind projection.LatencyKind
	var blob sql.RawBytes
	return a.scanSums(a.latencies, span, append(a.dimensionScanTargets(&at), &kind, &blob), func() error {
		row := a.findOrCreateRow(groups, &at, "", false)
		if row == nil {
			return nil
		}
		took, err := histogram.ParseStored(blob)
		if kind == projection.PostLatency {
			row.posts.Add(took)
		} else {
			row.pings.Add(took)
		}
		return err
	})
}

// scanSums runs the query for a span. For each result row it scans the values into targets
// and then calls afterEachRow.
func (a *RowIterator) scanSums(query sumQuery, span projection.UnitSpan, targets []any, afterEachRow func() error) error {
	rows, err := query.statement.QueryContext(a.ctx, a.sumQueryArguments(span, query.args)...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		if err := afterEachRow(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// dimensionScanTargets returns pointers to the fields of sumKey for the question's dimensions
// except time, in their order, for rows.Scan.
func (a *RowIterator) dimensionScanTargets(sumKey *projection.SumDimensionValues) (pointers []any) {
	of := map[Dimension]any{
		BySupplier: &sumKey.Supplier, ByBuyer: &sumKey.Buyer, ByCampaign: &sumKey.Campaign,
		BySource: &sumKey.Source, ByState: &sumKey.State, ByReason: &sumKey.Reason,
	}
	for _, d := range a.By {
		if !d.isTime() {
			pointers = append(pointers, of[d])
		}
	}
	return pointers
}

// findOrCreateRow returns the report row for the key and the currency. It creates a missing row
// if createMissing is set, otherwise it returns nil.
func (a *RowIterator) findOrCreateRow(groups map[string]*Row, sumKey *projection.SumDimensionValues, currency string, createMissing bool) *Row {
	var of Row
	for _, d := range a.By {
		of.Names[d] = a.dimensionText(d, sumKey)
	}
	key := strings.Join(of.Names[:], "\x00") + "\x00" + currency
	found := groups[key]
	if found == nil && createMissing {
		of.Currency = currency
		found = &of
		groups[key] = found
	}
	return found
}
