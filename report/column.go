package report

import (
	"strconv"
	"time"

	"pingpost/engine/market"
	"pingpost/report/columnar"
	"pingpost/report/histogram"
	"pingpost/report/projection"
)

// outputColumn is one column of a report's output: its name, its type, and the function that
// computes its value from a row.
type outputColumn struct {
	name   string
	kind   columnar.ColumnKind
	text   func(row *Row) string        // for names
	number func(row *Row) (int64, bool) // for all others: nanoseconds, counts or millionths; false: no value
}

// newTextColumn returns a column with text values, which the function textOf takes from a row.
func newTextColumn(name string, textOf func(row *Row) string) outputColumn {
	return outputColumn{name: name, kind: columnar.Name, text: textOf}
}

// columnsFor returns the columns of the answer to a question: its dimensions, the currency,
// then the counts and amounts. Each rate follows the last number that it is computed from.
func columnsFor(q *Question) []outputColumn {
	var all []outputColumn
	for _, d := range q.By {
		name := d.String()
		if d.isTime() {
			all = append(all, outputColumn{name: name, kind: columnar.Instant, number: func(row *Row) (int64, bool) { return row.Start.UnixNano(), true }})
			continue
		}
		if _, configured := d.objectKind(); configured {
			name += "_id"
		}
		all = append(all, newTextColumn(name, func(row *Row) string { return row.Names[d] }))
	}
	all = append(all, newTextColumn("currency", func(row *Row) string { return row.Currency }))
	for i, name := range projection.MeasureNames {
		measure := outputColumn{name: name, kind: columnar.Count, number: func(row *Row) (int64, bool) { return row.Measures[i], true }}
		if isMoney(i) {
			measure.kind = columnar.Money
		}
		all = append(append(all, measure), derivedColumnsAfter(i)...)
	}
	return append(all, outputColumn{name: "margin", kind: columnar.Money, number: func(row *Row) (int64, bool) { return int64(row.Margin()), true }})
}

func isMoney(measure int) bool {
	switch measure {
	case projection.SumRevenue, projection.SumPayout, projection.SumCredit, projection.SumReversal:
		return true
	}
	return false
}

// derivedColumnsAfter returns the computed columns (rates and latency percentiles) that the
// output shows right after a measure.
func derivedColumnsAfter(measure int) []outputColumn {
	switch measure {
	case projection.CountBids:
		return []outputColumn{newRatioColumn("bid_rate", projection.CountBids, projection.CountPings)}
	case projection.CountWins:
		return []outputColumn{newRatioColumn("win_rate", projection.CountWins, projection.CountBids)}
	case projection.CountTimeouts:
		return []outputColumn{
			newQuantileColumn("ping_p50_ms", 500, func(row *Row) histogram.Histogram { return row.pings }),
			newQuantileColumn("ping_p99_ms", 990, func(row *Row) histogram.Histogram { return row.pings }),
		}
	case projection.CountPostTimeouts:
		return []outputColumn{
			newQuantileColumn("post_p50_ms", 500, func(row *Row) histogram.Histogram { return row.posts }),
			newQuantileColumn("post_p99_ms", 990, func(row *Row) histogram.Histogram { return row.posts }),
		}
	}
	return nil
}

// newRatioColumn returns a column with the ratio of two measures, partMeasure / wholeMeasure,
// truncated to four decimals. It has no value if wholeMeasure is zero.
func newRatioColumn(name string, partMeasure, wholeMeasure int) outputColumn {
	return outputColumn{name: name, kind: columnar.Share, number: func(row *Row) (int64, bool) {
		if row.Measures[wholeMeasure] == 0 {
			return 0, false
		}
		return row.Measures[partMeasure] * 10_000 / row.Measures[wholeMeasure] * 100, true
	}}
}

func newQuantileColumn(name string, thousandths uint64, histogramOf func(*Row) histogram.Histogram) outputColumn {
	return outputColumn{name: name, kind: columnar.Share, number: func(row *Row) (int64, bool) {
		took, ok := histogramOf(row).Quantile(thousandths)
		return took.Microseconds() * 1000, ok
	}}
}

// appendText appends the row's value in this column to dst, as text. It appends no bytes if
// the row has no value.
func (c *outputColumn) appendText(dst []byte, row *Row) []byte {
	if c.kind == columnar.Name {
		return append(dst, c.text(row)...)
	}
	n, ok := c.number(row)
	switch {
	case !ok:
		return dst
	case c.kind == columnar.Instant:
		return row.Start.AppendFormat(dst, time.RFC3339)
	case c.kind == columnar.Count:
		return strconv.AppendInt(dst, n, 10)
	}
	return market.Money(n).AppendJSON(dst)
}

// isJSONString reports whether the column's values are strings in JSON. The values of other
// columns are numbers, or missing.
func (c *outputColumn) isJSONString() bool {
	return c.kind == columnar.Name || c.kind == columnar.Instant
}
