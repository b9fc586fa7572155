package report

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"pingpost/report/histogram"
	"pingpost/report/projection"
)

// sumQuery is a prepared SQL query that adds up the stored sums of a time span. Its first
// arguments are the grouping, the unit of time, and both ends of the span.
type sumQuery struct {
	statement *sql.Stmt // nil: the question does not need it
	args      []any     // of the question's conditions
}

const (
	oldestQuarter = "SELECT start FROM " + sumTable + " WHERE grain = 7 AND unit = 1 ORDER BY start LIMIT 1"
	newestQuarter = "SELECT start FROM " + sumTable + " WHERE grain = 7 AND unit = 1 ORDER BY start DESC LIMIT 1"
	inSpan        = "grain = ? AND unit = ? AND start >= ? AND start < ?"
)

// prepareQueriesAndTimeRange prepares the SQL queries of the question, and limits the time
// range to the time that has data.
func (a *RowIterator) prepareQueriesAndTimeRange(ctx context.Context) error {
	where, args, err := a.whereConditions(a.report.opt.Source, a.sourceNumberOrMinusOne)
	if err != nil {
		return err
	}
	var selected []string
	for _, name := range projection.MeasureNames {
		selected = append(selected, "sum("+name+")")
	}
	if a.sums, err = a.prepareSumQuery(ctx, sumTable, "currency", selected, where, args); err != nil {
		return err
	}
	if projection.Parties.Includes(a.usedColumns()) {
		if a.latencies, err = a.prepareSumQuery(ctx, latencyTable, "kind", []string{histogram.SumFunction + "(times)"}, where, args); err != nil {
			return err
		}
	}
	if a.units = []int64{projection.Quarters}; a.hourAndDaySumsHaveAllColumns() {
		a.units = []int64{projection.Days, projection.Hours, projection.Quarters}
	}
	var oldest, newest sql.NullInt64
	if err := a.tx.QueryRowContext(ctx, "SELECT ("+oldestQuarter+"), ("+newestQuarter+")").Scan(&oldest, &newest); err != nil {
		return err
	}
	if oldest.Valid {
		a.nextQuarter, a.endQuarter = max(projection.QuarterHourOf(a.From), oldest.Int64), min(projection.QuarterHourOf(a.To), newest.Int64+1)
	}
	return nil
}

// prepareSumQuery prepares a query on a table of sums with the question's conditions (where,
// args). It groups by the question's dimensions and by extraColumn, and returns the selected
// expressions.
func (a *RowIterator) prepareSumQuery(ctx context.Context, table, extraColumn string, selected []string, where string, args []any) (query sumQuery, err error) {
	var by []string
	for _, d := range a.By {
		if !d.isTime() {
			by = append(by, d.String())
		}
	}
	by = append(by, extraColumn)
	text := "SELECT " + strings.Join(append(slices.Clone(by), selected...), ", ") + " FROM " + table +
		" WHERE " + inSpan + where + " GROUP BY " + strings.Join(by, ", ")
	query.args = args
	query.statement, err = a.tx.PrepareContext(ctx, text)
	return query, err
}

// hourAndDaySumsHaveAllColumns reports whether the stored sums by hour and day have all columns of the
// question. Otherwise only the sums by quarter of an hour do.
func (q *Question) hourAndDaySumsHaveAllColumns() bool {
	_, rolls := projection.SmallestStoredColumnSet(q.usedColumns(), projection.Days)
	return rolls
}

// advanceToNextPeriod returns the next hour or day of the answer, in the question's zone, and the
// stored units (spans) to add up for it. Without a time dimension the only period is the
// whole range. ok is false at the end.
func (a *RowIterator) advanceToNextPeriod() (start time.Time, spans []projection.UnitSpan, ok bool) {
	if a.nextQuarter >= a.endQuarter {
		return start, nil, false
	}
	first, end := a.nextQuarter, a.endQuarter
	if a.groupsByTime() {
		start = a.periodStart(startOfQuarterHour(first))
		for end = first + 1; end < a.endQuarter && a.periodStart(startOfQuarterHour(end)).Equal(start); {
			end++
		}
	}
	a.nextQuarter = end
	over := max(first, min(end, projection.QuarterHourOf(a.At)))
	return start, append(projection.SplitIntoSpans(first, over, a.units), projection.SplitIntoSpans(over, end, []int64{projection.Quarters})...), true
}

func startOfQuarterHour(quarterHour int64) time.Time {
	return time.Unix(0, quarterHour*projection.QuarterHourNanos)
}

// rejectIfTooCostly counts the stored sums that the answer would read, and returns an error
// above the limit.
func (a *RowIterator) rejectIfTooCostly(ctx context.Context) error {
	most := a.report.opt.limits.cells
	first := a.nextQuarter
	left := int64(most) + 1
	where, args, err := a.whereConditions(a.report.opt.Source, a.sourceNumberOrMinusOne)
	if err != nil {
		return err
	}
	text := "SELECT count(*) FROM (SELECT 1 FROM " + sumTable + " WHERE " + inSpan + where + " LIMIT ?)"
	for _, of := range a.takeSpansOfAllPeriods() {
		n := int64(0)
		if err := a.tx.QueryRowContext(ctx, text, append(a.sumQueryArguments(of, args), left)...).Scan(&n); err != nil {
			return err
		}
		if left -= n; left <= 0 {
			return questionTooLargeError(fmt.Sprintf("it adds up more than %d stored sums", most))
		}
	}
	a.nextQuarter = first
	return nil
}

// takeSpansOfAllPeriods returns the spans of stored units for all hours or days of the answer,
// and joins adjacent spans. Like advanceToNextPeriod it moves a.nextQuarter, to the end.
func (a *RowIterator) takeSpansOfAllPeriods() (all []projection.UnitSpan) {
	for _, of, ok := a.advanceToNextPeriod(); ok; _, of, ok = a.advanceToNextPeriod() {
		for _, s := range of {
			if n := len(all); n > 0 && all[n-1].Unit == s.Unit && all[n-1].End == s.First && s.First != projection.QuarterHourOf(a.At) {
				all[n-1].End = s.End
				continue
			}
			all = append(all, s)
		}
	}
	return all
}

// sumQueryArguments returns the arguments of a sumQuery for a span: grouping, unit, ends, and
// the question's conditions. It chooses the smallest grouping that has the question's columns.
// For time that has not ended, it chooses a grouping that every batch writes.
func (a *RowIterator) sumQueryArguments(span projection.UnitSpan, conditionArgs []any) []any {
	g, _ := projection.SmallestStoredColumnSet(a.usedColumns(), span.Unit)
	if span.Unit == projection.Quarters && span.End > projection.QuarterHourOf(a.At) {
		g = projection.AllColumns
		if projection.Parties.Includes(a.usedColumns()) {
			g = projection.Parties
		}
	}
	return append([]any{g, span.Unit, span.First, span.End}, conditionArgs...)
}
