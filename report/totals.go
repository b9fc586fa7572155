package report

import (
	"maps"
	"slices"
)

// totalsByCurrency adds up the rows of a report by currency.
type totalsByCurrency struct {
	byCurrency map[string]*Row
	taken      bool
}

func (t *totalsByCurrency) add(row *Row) {
	sum := t.byCurrency[row.Currency]
	if sum == nil {
		if t.byCurrency == nil {
			t.byCurrency = make(map[string]*Row)
		}
		sum = &Row{Currency: row.Currency, IsTotal: true}
		t.byCurrency[row.Currency] = sum
	}
	sum.Add(&row.Measures)
	sum.pings.Add(row.pings)
	sum.posts.Add(row.posts)
}

// markTakenAndListRows returns the totals in the order of their currencies. Counts without a currency
// are part of the first total, as in a row. A report without rows has one total without a currency.
func (t *totalsByCurrency) markTakenAndListRows() (rows []*Row) {
	t.taken = true
	for _, currency := range slices.Sorted(maps.Keys(t.byCurrency)) {
		rows = append(rows, t.byCurrency[currency])
	}
	if len(rows) == 0 {
		return []*Row{{IsTotal: true}}
	}
	return mergeCurrencylessRowsIntoNext(rows)
}
