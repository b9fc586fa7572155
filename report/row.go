package report

import (
	"time"

	"pingpost/engine/market"
	"pingpost/report/histogram"
	"pingpost/report/projection"
)

// Row is a line of a report. Its amounts are in one currency.
type Row struct {
	Start    time.Time // of the hour or the day, in the question's zone
	Names    [dimensions]string
	Currency string
	projection.Measures

	pings, posts histogram.Histogram // latencies of buyers
}

// Count returns a measure by its column name.
func (r *Row) Count(name string) int64 {
	for i, known := range projection.MeasureNames {
		if known == name {
			return r.Measures[i]
		}
	}
	panic("BUG: unknown measure " + name)
}

// Margin returns revenue minus payout, after returns.
func (r *Row) Margin() market.Money {
	return market.Money(r.Measures[projection.SumRevenue] - r.Measures[projection.SumCredit] - r.Measures[projection.SumPayout] + r.Measures[projection.SumReversal])
}

// mergeCurrencies moves counts without a currency into the group's first row with one.
// Rows of a group must be adjacent, the one without a currency first.
func mergeCurrencies(rows []*Row) []*Row {
	folded := rows[:0]
	for _, row := range rows {
		if n := len(folded); n > 0 && folded[n-1].Currency == "" && folded[n-1].Names == row.Names {
			row.Add(&folded[n-1].Measures)
			row.pings, row.posts = folded[n-1].pings, folded[n-1].posts
			folded[n-1] = row
			continue
		}
		folded = append(folded, row)
	}
	return folded
}
