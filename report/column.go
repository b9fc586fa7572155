package report

import (
	"strconv"
	"time"

	"pingpost/engine/market"
	"pingpost/report/columnar"
	"pingpost/report/histogram"
	"pingpost/report/projection"
)

// column is one column of a report's output: its name, its type, and the function that
// computes its value from a row.
type column struct {
	name   string
	kind   columnar.Kind
	text   func(row *Row) string        // for names
	number func(row *Row) (int64, bool) // for all others: nanoseconds, counts or millionths; false: no value
}

// nameColumn returns a column with text values, which the function `of` takes from a row.
func nameColumn(name string, of func(row *Row) string) column {
	return column{name: name, kind: columnar.Name, text: of}
}

// columnsFor returns the columns of the answer to a question: its dimensions, the currency,
// then the counts and amounts. Each rate follows the last number that it is computed from.
func columnsFor(q *Question) []column {
	var all []column
	for _, d := range q.By {
		name := d.String()
		if d.isTime() {
			all = append(all, column{name: name, kind: columnar.Instant, number: func(row *Row) (int64, bool) { return row.Start.UnixNano(), true }})
			continue
		}
		if _, configured := d.kind(); configured {
			name += "_id"
		}
		all = append(all, nameColumn(name, func(row *Row) string { return row.Names[d] }))
	}
	all = append(all, nameColumn("currency", func(row *Row) string { return row.Currency }))
	for i, name := range projection.MeasureNames {
		measure := column{name: name, kind: columnar.Count, number: func(row *Row) (int64, bool) { return row.Measures[i], true }}
		if isMoney(i) {
			measure.kind = columnar.Money
		}
		all = append(append(all, measure), derivedColumnsAfter(i)...)
	}
	return append(all, column{name: "margin", kind: columnar.Money, number: func(row *Row) (int64, bool) { return int64(row.Margin()), true }})
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
func derivedColumnsAfter(measure int) []column {
	switch measure {
	case projection.CountBids:
		return []column{rateColumn("bid_rate", projection.CountBids, projection.CountPings)}
	case projection.CountWins:
		return []column{rateColumn("win_rate", projection.CountWins, projection.CountBids)}
	case projection.CountTimeouts:
		return []column{
			quantileColumn("ping_p50_ms", 500, func(row *Row) histogram.Histogram { return row.pings }),
			quantileColumn("ping_p99_ms", 990, func(row *Row) histogram.Histogram { return row.pings }),
		}
	case projection.CountPostTimeouts:
		return []column{
			quantileColumn("post_p50_ms", 500, func(row *Row) histogram.Histogram { return row.posts }),
			quantileColumn("post_p99_ms", 990, func(row *Row) histogram.Histogram { return row.posts }),
		}
	}
	return nil
}

// rateColumn returns a column with the ratio of two measures, part / whole, truncated to four
// decimals. It has no value if whole is zero.
func rateColumn(name string, part, whole int) column {
	return column{name: name, kind: columnar.Share, number: func(row *Row) (int64, bool) {
		if row.Measures[whole] == 0 {
			return 0, false
		}
		return row.Measures[part] * 10_000 / row.Measures[whole] * 100, true
	}}
}

func quantileColumn(name string, thousandths uint64, of func(*Row) histogram.Histogram) column {
	return column{name: name, kind: columnar.Share, number: func(row *Row) (int64, bool) {
		took, ok := of(row).Quantile(thousandths)
		return took.Microseconds() * 1000, ok
	}}
}

// appendText appends the row's value in this column to dst, as text. It appends no bytes if
// the row has no value.
func (c *column) appendText(dst []byte, row *Row) []byte {
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

// isQuoted reports whether the column's values are strings in JSON. The values of other
// columns are numbers, or missing.
func (c *column) isQuoted() bool { return c.kind == columnar.Name || c.kind == columnar.Instant }
