package report

import (
	"time"

	"pingpost/engine/market"
	"pingpost/report/histogram"
	"pingpost/report/projection"
)

// Row is one row of a report: the values of its dimensions, and the figures in one currency.
type Row struct {
	Start    time.Time // of the hour or the day, in the question's zone
	Names    [dimensions]string
	Currency string
	IsTotal  bool // the sum of all rows in this currency; it has no dimensions
	projection.Measures

	pings, posts histogram.Histogram // latencies of buyers
}

// MeasureNamed returns the figure in the column with this name. An unknown name is a bug and
// panics.
func (r *Row) MeasureNamed(measureName string) int64 {
	for i, known := range projection.MeasureNames {
		if known == measureName {
			return r.Measures[i]
		}
	}
	panic("BUG: unknown measure " + measureName)
}

// Margin returns the exchange's gain: revenue minus payouts, both after returns.
func (r *Row) Margin() market.Money {
	return market.Money(r.Measures[projection.SumRevenue] - r.Measures[projection.SumCredit] - r.Measures[projection.SumPayout] + r.Measures[projection.SumReversal])
}

// mergeCurrencylessRowsIntoNext moves counts without a currency into the first row that has a
// currency and the same dimensions. The rows of a group must be adjacent, the one without a currency
// first.
func mergeCurrencylessRowsIntoNext(rows []*Row) []*Row {
	folded := rows[:0]
	for _, row := range rows {
		if n := len(folded); n > 0 && folded[n-1].Currency == "" && folded[n-1].Names == row.Names {
			row.Add(&folded[n-1].Measures)
			row.pings.Add(folded[n-1].pings)
			row.posts.Add(folded[n-1].posts)
			folded[n-1] = row
			continue
		}
		folded = append(folded, row)
	}
	return folded
}
