package report

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"pingpost/engine/market"
	"pingpost/report/columnar"
	"pingpost/report/histogram"
	"pingpost/report/projection"
)

// outputColumn is one column of a report's output: its name, its type, and the function that
// computes its value from a row.
type outputColumn struct {
	name     string
	kind     columnar.ColumnKind
	text     func(row *Row) string        // for names
	optional bool                         // a row may lack the value, as the share of a rate always may
	number   func(row *Row) (int64, bool) // for all others: nanoseconds, counts or millionths; false: no value
}

// newTextColumn returns a column with text values, which the function textOf takes from a row.
func newTextColumn(name string, textOf func(row *Row) string) outputColumn {
	return outputColumn{name: name, kind: columnar.Name, text: textOf}
}

// columnsFor returns the columns of the answer to a question: those that it names, or all.
func columnsFor(q *Question) []outputColumn {
	all := allColumnsFor(q)
	if len(q.Columns) == 0 {
		return all
	}
	picked := make([]outputColumn, 0, len(q.Columns))
	for _, name := range q.Columns {
		if i := slices.IndexFunc(all, func(c outputColumn) bool { return c.name == name }); i >= 0 {
			picked = append(picked, all[i])
		}
	}
	return picked
}

// Cells returns the names of the columns of the answer to a question, and a function that returns a
// row's values in them as text. A missing value is an empty text.
func Cells(q *Question) (names []string, textOf func(*Row) []string) {
	columns := columnsFor(q)
	for i := range columns {
		names = append(names, columns[i].name)
	}
	return names, func(row *Row) []string {
		cells := make([]string, len(columns))
		for i := range columns {
			cells[i] = string(columns[i].appendText(nil, row))
		}
		return cells
	}
}

// validateColumns returns an *InvalidQuestionError if the question names an unknown column, or one
// twice.
func (q *Question) validateColumns() error {
	all := allColumnsFor(q)
	for i, name := range q.Columns {
		if slices.Contains(q.Columns[:i], name) || !slices.ContainsFunc(all, func(c outputColumn) bool { return c.name == name }) {
			names := make([]string, len(all))
			for j := range all {
				names[j] = all[j].name
			}
			return &InvalidQuestionError{"columns", "some of " + strings.Join(names, ", ") + ", each once, with commas between them"}
		}
	}
	return nil
}

// allColumnsFor returns all columns of the answer to a question: with totals the kind of the row, then
// its dimensions, the currency, the amounts, and the counts. Each rate follows the last number that it
// is computed from, and latency percentiles follow the timeouts.
func allColumnsFor(q *Question) []outputColumn {
	var all []outputColumn
	if q.Totals {
		all = append(all, newTextColumn("row", func(row *Row) string {
			if row.IsTotal {
				return "total"
			}
			return "row"
		}))
	}
	for _, d := range q.By {
		name := d.String()
		if d.isTime() {
			all = append(all, outputColumn{name: name, kind: columnar.Instant, optional: q.Totals, number: func(row *Row) (int64, bool) { return row.Start.UnixNano(), !row.IsTotal }})
			continue
		}
		if _, configured := d.objectKind(); configured {
			name += "_id"
		}
		all = append(all, newTextColumn(name, func(row *Row) string { return row.Names[d] }))
	}
	all = append(all, newTextColumn("currency", func(row *Row) string { return row.Currency }))
	for _, measure := range []int{projection.SumRevenue, projection.SumPayout} {
		all = append(all, newMeasureColumn(measure))
	}
	all = append(all, outputColumn{name: "margin", kind: columnar.Money, number: func(row *Row) (int64, bool) { return int64(row.Margin()), true }})
	for _, measure := range []int{projection.SumCredit, projection.SumReversal} {
		all = append(all, newMeasureColumn(measure))
	}
	for measure := range projection.MeasureNames {
		if !isMoney(measure) {
			all = append(append(all, newMeasureColumn(measure)), rateAndPercentileColumnsAfter(measure)...)
		}
	}
	return all
}

// newMeasureColumn returns the column of a stored count or amount.
func newMeasureColumn(measure int) outputColumn {
	c := outputColumn{name: projection.MeasureNames[measure], kind: columnar.Count, number: func(row *Row) (int64, bool) { return row.Measures[measure], true }}
	if isMoney(measure) {
		c.kind = columnar.Money
	}
	return c
}

func isMoney(measure int) bool {
	switch measure {
	case projection.SumRevenue, projection.SumPayout, projection.SumCredit, projection.SumReversal:
		return true
	}
	return false
}

// rateAndPercentileColumnsAfter returns the computed columns (rates and latency percentiles) that the
// output shows right after a measure.
func rateAndPercentileColumnsAfter(measure int) []outputColumn {
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
