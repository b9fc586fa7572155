package report

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"pingpost/engine/market"
)

// Answer is a report's rows, one after the other. It reads one state of the file,
// whatever is written meanwhile. One goroutine uses it, and closes it.
type Answer struct {
	Question
	Seq uint64 // the entry of the log that it is read to
	At  int64

	report  *Report
	cancel  context.CancelFunc
	tx      *sql.Tx
	cells   *cursor
	paces   *cursor // nil: who was how fast is not known by what is asked
	sources map[int64]string
	rows    []*Row
}

// Ask answers a question. The error is a *Fault, a *Behind, or of the file, which is
// built anew where it is damaged.
func (r *Report) Ask(ctx context.Context, q Question) (*Answer, error) {
	if q.Zone == nil {
		q.Zone = time.UTC
	}
	if err := q.judge(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	f := r.file
	r.mu.Unlock()
	if f == nil {
		return nil, &Behind{}
	}
	ctx, cancel := context.WithTimeout(ctx, r.opt.most.takes)
	a := &Answer{Question: q, report: r, cancel: cancel}
	err := a.guard(func() error { return a.begin(ctx, f) })
	if err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// guard has damage, and a panic over it, be the report's to mend.
func (a *Answer) guard(do func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("what reads the report's file broke down: %v", cause)
			a.tx, a.cells, a.paces = nil, nil, nil // nothing is called on them again
			a.report.spoil(err)
		}
	}()
	err = do()
	var fault *Fault
	var behind *Behind
	switch {
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, context.Canceled), errors.As(err, &fault), errors.As(err, &behind):
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, sql.ErrConnDone):
		err = tooLarge("it takes more than " + a.report.opt.most.takes.String())
	default:
		a.report.blame(err)
	}
	return err
}

func tooLarge(why string) error {
	return &Fault{"from", "a question that costs less: " + why + "; shorten the time, or ask by less"}
}

func (a *Answer) begin(ctx context.Context, f *file) (err error) {
	if a.tx, err = f.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}); err != nil {
		return err
	}
	begins := int64(0)
	if err := a.tx.QueryRowContext(ctx, "SELECT seq, at, begins FROM place").Scan(&a.Seq, &a.At, &begins); err != nil {
		return err
	}
	if err := a.covers(begins); err != nil {
		return err
	}
	if err := a.nameSources(ctx); err != nil {
		return err
	}
	table := coarseCells
	if a.fine() {
		table = fineCells
	}
	where, args, err := a.where(a.report.opt.Source, a.sourceRef)
	if err != nil {
		return err
	}
	count := 0
	most := a.report.opt.most.cells
	row := a.tx.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM "+table+" WHERE "+where+" LIMIT ?)", append(slices.Clone(args), most+1)...)
	if err := row.Scan(&count); err != nil {
		return err
	}
	if count > most {
		return tooLarge(fmt.Sprintf("it adds up more than %d cells", most))
	}
	if a.cells, err = a.open(ctx, table, where, args, cellKey, measureNames); err != nil {
		return err
	}
	if !a.fine() {
		a.paces, err = a.open(ctx, paces, where, args, paceKey, []string{"n"})
	}
	return err
}

// covers sees that the file has all of the time that is asked about.
func (a *Answer) covers(begins int64) error {
	if first := (begins + quarter - 1) / quarter * quarter; a.From < first && a.Since {
		a.From, a.To = first, max(a.To, first)
	} else if a.From < first {
		first := time.Unix(0, first).UTC().Format(time.RFC3339)
		return &Fault{"from", "a time that the report goes back to, which is " + first + " or later"}
	}
	return a.report.reaches(a.Seq, a.At, a.To)
}

// mayLag is how far behind the log an answer may be that goes up to now.
const mayLag = time.Minute

func (a *Answer) nameSources(ctx context.Context) error {
	a.sources = make(map[int64]string)
	rows, err := a.tx.QueryContext(ctx, "SELECT ref, id FROM sources")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var ref int64
		var id string
		if err := rows.Scan(&ref, &id); err != nil {
			return err
		}
		a.sources[ref] = id
	}
	return rows.Err()
}

func (a *Answer) sourceRef(name string) int64 {
	for ref, known := range a.sources {
		if known == name {
			return ref
		}
	}
	if name == "" {
		return noSource
	}
	return -1 // which none has
}

// open asks a table for sums by what the question is by; a column of the key that the
// question is not by is none.
func (a *Answer) open(ctx context.Context, table, where string, args []any, key, measures []string) (*cursor, error) {
	var selected, grouped []string
	for _, column := range key {
		if a.groups(column) {
			selected, grouped = append(selected, column), append(grouped, column)
		} else {
			selected = append(selected, "NULL")
		}
	}
	for _, name := range measures {
		selected = append(selected, "sum("+name+")")
	}
	text := "SELECT " + strings.Join(selected, ", ") + " FROM " + table + " WHERE " + where
	if len(grouped) > 0 {
		text += " GROUP BY " + strings.Join(grouped, ", ")
	}
	if a.timed() {
		text += " ORDER BY quarter"
	}
	rows, err := a.tx.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	return newCursor(rows, key, len(measures))
}

// groups tells whether a column tells rows apart.
func (a *Answer) groups(column string) bool {
	switch column {
	case "currency", "kind", "slot":
		return true
	}
	return slices.ContainsFunc(a.By, func(d Dimension) bool { return d.column() == column })
}

// Next is the next row, good until the call after it; io.EOF follows the last.
func (a *Answer) Next() (row *Row, err error) {
	for len(a.rows) == 0 {
		if err := a.guard(a.gather); err != nil {
			return nil, err
		}
	}
	row, a.rows = a.rows[0], a.rows[1:]
	return row, nil
}

// Close ends the reading.
func (a *Answer) Close() {
	a.cells.close()
	a.paces.close()
	if a.tx != nil {
		_ = a.tx.Rollback()
	}
	a.cancel()
}

// nameOf is what a number is called.
func (a *Answer) nameOf(d Dimension, c *cell) string {
	refs := map[Dimension]market.Ref{BySupplier: c.supplier, ByBuyer: c.buyer, ByCampaign: c.campaign}
	kind, configured := d.kind()
	switch {
	case configured:
		return a.report.opt.Source.NameOf(kind, refs[d])
	case d == BySource:
		return a.sources[c.source]
	case d == ByState:
		return c.state
	case d == ByReason:
		return c.reason.String()
	}
	return ""
}
