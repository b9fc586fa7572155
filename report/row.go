package report

import (
	"time"

	"pingpost/engine/market"
	"pingpost/report/histogram"
	"pingpost/report/projection"
)

// Row is a line of a report. Money is in its one currency.
type Row struct {
	Start    time.Time // of the hour or the day, in the question's zone
	Names    [dimensions]string
	Currency string
	projection.Measures

	pings, posts histogram.Histogram // of the times that buyers took
}

// Count is a measure by the name of its column.
func (r *Row) Count(name string) int64 {
	for i, known := range projection.MeasureNames {
		if known == name {
			return r.Measures[i]
		}
	}
	panic("BUG: there is no measure " + name)
}

// Margin is what the exchange keeps.
func (r *Row) Margin() market.Money {
	return market.Money(r.Measures[projection.SumRevenue] - r.Measures[projection.SumCredit] - r.Measures[projection.SumPayout] + r.Measures[projection.SumReversal])
}

// fold puts rows of one group and several currencies, which stand one after the other
// and the one without a currency first, into as many rows as there are currencies: what
// was counted without one stands in the first.
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
