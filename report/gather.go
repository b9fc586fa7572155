package report

import (
	"cmp"
	"database/sql"
	"fmt"
	"io"
	"slices"
	"strings"
)

// gather reads the rows of the next hour or day, or all of them.
func (a *Answer) gather() error {
	start, of, ok := a.period()
	if !ok {
		return io.EOF
	}
	groups := make(map[string]*Row)
	for _, s := range of {
		if err := a.gatherSums(groups, s); err != nil {
			return err
		}
	}
	if a.paces.ask != nil {
		for _, s := range of {
			if err := a.gatherPaces(groups, s); err != nil {
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
	a.rows = fold(a.rows)
	return nil
}

// gatherSums adds what was counted in a span.
func (a *Answer) gatherSums(groups map[string]*Row, of span) error {
	var at cell
	var currency string
	var sum measures
	places := append(a.places(&at), &currency)
	for i := range sum {
		places = append(places, &sum[i])
	}
	return a.read(a.sums, of, places, func() error {
		a.group(groups, &at, currency, true).add(&sum)
		if len(groups) > a.report.opt.most.groups {
			return tooLarge(fmt.Sprintf("it has more than %d rows at once", a.report.opt.most.groups))
		}
		return nil
	})
}

// gatherPaces adds how long buyers took.
func (a *Answer) gatherPaces(groups map[string]*Row, of span) error {
	var at cell
	var kind paceKind
	var blob sql.RawBytes
	return a.read(a.paces, of, append(a.places(&at), &kind, &blob), func() error {
		row := a.group(groups, &at, "", false)
		if row == nil {
			return nil
		}
		took, err := histogramOf(blob)
		if kind == pacePost {
			row.posts.add(took)
		} else {
			row.pings.add(took)
		}
		return err
	})
}

// read calls for each of a span's sums, which is in its places then.
func (a *Answer) read(from sums, of span, places []any, take func() error) error {
	rows, err := from.ask.QueryContext(a.ctx, a.arguments(of, from.args)...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return err
		}
		if err := take(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// places are where what the question is by stands in a cell.
func (a *Answer) places(at *cell) (all []any) {
	of := map[Dimension]any{
		BySupplier: &at.supplier, ByBuyer: &at.buyer, ByCampaign: &at.campaign,
		BySource: &at.source, ByState: &at.state, ByReason: &at.reason,
	}
	for _, d := range a.By {
		if !d.isTime() {
			all = append(all, of[d])
		}
	}
	return all
}

// group is the row of a cell.
func (a *Answer) group(groups map[string]*Row, at *cell, currency string, may bool) *Row {
	var of Row
	for _, d := range a.By {
		of.Names[d] = a.nameOf(d, at)
	}
	key := strings.Join(of.Names[:], "\x00") + "\x00" + currency
	found := groups[key]
	if found == nil && may {
		of.Currency = currency
		found = &of
		groups[key] = found
	}
	return found
}
