package report

import (
	"strconv"
	"time"

	"pingpost/engine/market"
	"pingpost/report/columnar"
	"pingpost/report/histogram"
	"pingpost/report/projection"
)

// column is one of a report: its name, what its cells are, and how one is had of a row.
// Each form writes them down in its own way.
type column struct {
	name   string
	kind   columnar.Kind
	text   func(row *Row) string        // of a name
	number func(row *Row) (int64, bool) // of all others: nanoseconds, how many, or millionths; false: there is none
}

// named is a column of names.
func nameColumn(name string, of func(row *Row) string) column {
	return column{name: name, kind: columnar.Name, text: of}
}

// columnsOf are what a report is by, then what is counted, each rate behind what it is
// made of.
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
		all = append(append(all, measure), columnsAfter(i)...)
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

// behind are the columns that follow a measure's.
func columnsAfter(measure int) []column {
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

// rate is a share with four decimals, cut off; of nothing there is none.
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

// appendText appends a cell as it is written where all is text. What there is none of is
// nothing.
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

// quoted tells whether a cell is a text in JSON, else it is a number, or none where it
// is empty.
func (c *column) quoted() bool { return c.kind == columnar.Name || c.kind == columnar.Instant }
