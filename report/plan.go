package report

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"
)

// sums is how to ask a table for the sums of a span; the grain, the unit and the
// span's ends are its first arguments.
type sums struct {
	ask  *sql.Stmt // nil: it is not asked
	args []any     // what it is only of
}

const (
	oldestQuarter = "SELECT start FROM " + cells + " WHERE grain = 7 AND unit = 1 ORDER BY start LIMIT 1"
	newestQuarter = "SELECT start FROM " + cells + " WHERE grain = 7 AND unit = 1 ORDER BY start DESC LIMIT 1"
	inSpan        = "grain = ? AND unit = ? AND start >= ? AND start < ?"
)

// plan makes of the question what is asked of the tables, of the time in which there is
// something.
func (a *Answer) plan(ctx context.Context) error {
	where, args, err := a.only(a.report.opt.Source, a.sourceRef)
	if err != nil {
		return err
	}
	var selected []string
	for _, name := range measureNames {
		selected = append(selected, "sum("+name+")")
	}
	if a.sums, err = a.sumsOf(ctx, cells, "currency", selected, where, args); err != nil {
		return err
	}
	if parties.tells(a.grain()) {
		if a.paces, err = a.sumsOf(ctx, paces, "kind", []string{sumTimes + "(times)"}, where, args); err != nil {
			return err
		}
	}
	if a.units = []int64{quarters}; a.rolls() {
		a.units = []int64{days, hours, quarters}
	}
	var oldest, newest sql.NullInt64
	if err := a.tx.QueryRowContext(ctx, "SELECT ("+oldestQuarter+"), ("+newestQuarter+")").Scan(&oldest, &newest); err != nil {
		return err
	}
	if oldest.Valid {
		a.next, a.last = max(quarterOf(a.From), oldest.Int64), min(quarterOf(a.To), newest.Int64+1)
	}
	return nil
}

// sumsOf asks for sums by what the question is by, and by a column more.
func (a *Answer) sumsOf(ctx context.Context, table, more string, selected []string, where string, args []any) (of sums, err error) {
	var by []string
	for _, d := range a.By {
		if !d.isTime() {
			by = append(by, d.String())
		}
	}
	by = append(by, more)
	text := "SELECT " + strings.Join(append(slices.Clone(by), selected...), ", ") + " FROM " + table +
		" WHERE " + inSpan + where + " GROUP BY " + strings.Join(by, ", ")
	of.args = args
	of.ask, err = a.tx.PrepareContext(ctx, text)
	return of, err
}

// rolls tells whether hours and days have all that the question tells apart.
func (q *Question) rolls() bool {
	_, rolls := covering(q.grain(), days)
	return rolls
}

// period is the spans of the next hour or day of the question, of whichever zone, or
// of all the time where it is by none; false: there is no more.
func (a *Answer) period() (start time.Time, of []span, ok bool) {
	if a.next >= a.last {
		return start, nil, false
	}
	first, end := a.next, a.last
	if a.timed() {
		start = a.start(timeOf(first))
		for end = first + 1; end < a.last && a.start(timeOf(end)).Equal(start); {
			end++
		}
	}
	a.next = end
	over := max(first, min(end, quarterOf(a.At)))
	return start, append(spans(first, over, a.units), spans(over, end, []int64{quarters})...), true
}

func timeOf(at int64) time.Time { return time.Unix(0, at*quarter) }

// count sees that not too much is to be added up.
func (a *Answer) count(ctx context.Context) error {
	most := a.report.opt.most.cells
	first := a.next
	left := int64(most) + 1
	where, args, err := a.only(a.report.opt.Source, a.sourceRef)
	if err != nil {
		return err
	}
	text := "SELECT count(*) FROM (SELECT 1 FROM " + cells + " WHERE " + inSpan + where + " LIMIT ?)"
	for _, of := range a.merged() {
		n := int64(0)
		if err := a.tx.QueryRowContext(ctx, text, append(a.arguments(of, args), left)...).Scan(&n); err != nil {
			return err
		}
		if left -= n; left <= 0 {
			return tooLarge(fmt.Sprintf("it adds up more than %d cells", most))
		}
	}
	a.next = first
	return nil
}

// merged are the spans of all periods; those that go on one another are one.
func (a *Answer) merged() (all []span) {
	for _, of, ok := a.period(); ok; _, of, ok = a.period() {
		for _, s := range of {
			if n := len(all); n > 0 && all[n-1].unit == s.unit && all[n-1].last == s.first && s.first != quarterOf(a.At) {
				all[n-1].last = s.last
				continue
			}
			all = append(all, s)
		}
	}
	return all
}

// arguments are those of a span, in the smallest grain that will do, and of what is not
// over in one that is written at once.
func (a *Answer) arguments(of span, more []any) []any {
	g, _ := covering(a.grain(), of.unit)
	if of.unit == quarters && of.last > quarterOf(a.At) {
		g = fine
		if parties.tells(a.grain()) {
			g = parties
		}
	}
	return append([]any{g, of.unit, of.first, of.last}, more...)
}
