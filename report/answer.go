package report

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"time"

	"pingpost/engine/market"
	"pingpost/report/projection"
)

// Answer returns the rows of a report, one by one. It reads the report's database as it was
// at one moment, regardless of later writes. One goroutine uses and closes it.
type Answer struct {
	Question
	Seq uint64 // last entry that it includes
	At  int64

	report    *Report
	ctx       context.Context //nolint:containedctx // of its reading, which Close ends
	cancel    context.CancelFunc
	tx        *sql.Tx
	sums      sumQuery
	latencies sumQuery
	sources   map[int64]string
	rows      []*Row

	units                   []int64 // units of the sums that it may read
	nextQuarter, endQuarter int64   // quarters that are not answered yet
}

// Ask begins the answer to a question. The error is a *Fault for an invalid question, a
// *Behind if the report has not reached the question's time, or an error of the database. A
// damaged database is rebuilt.
func (r *Report) Ask(ctx context.Context, q Question) (*Answer, error) {
	if q.Zone == nil {
		q.Zone = time.UTC
	}
	if err := q.firstFault(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	f := r.file
	r.mu.Unlock()
	if f == nil {
		return nil, &Behind{}
	}
	ctx, cancel := context.WithTimeout(ctx, r.opt.limits.timeout)
	a := &Answer{Question: q, report: r, ctx: ctx, cancel: cancel}
	err := a.runAndRebuildIfDamaged(func() error { return a.openTransaction(ctx, f) })
	if err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// runAndRebuildIfDamaged calls read. If read fails or panics because the database is damaged,
// it requests a rebuild of the database.
func (a *Answer) runAndRebuildIfDamaged(read func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("the database library failed (panic) on the report's database, probably because its file is damaged: %v", cause)
			a.tx = nil // it must not be used after a panic
			a.report.requestRebuild(err)
		}
	}()
	err = preferContextError(a.ctx, read())
	var fault *Fault
	var behind *Behind
	switch {
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, context.Canceled), errors.As(err, &fault), errors.As(err, &behind):
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, sql.ErrConnDone):
		err = tooLargeFault("it takes more than " + a.report.opt.limits.timeout.String())
	default:
		a.report.rebuildIfDamaged(err)
	}
	return err
}

// preferContextError returns the context's error instead of err if the end of the context may
// have caused err. database/sql closes a transaction when its context ends. The reader then
// gets "statement is closed" or the like, which does not mean damage.
func preferContextError(ctx context.Context, err error) error {
	var fault *Fault
	var behind *Behind
	switch {
	case err == nil, errors.Is(err, io.EOF), errors.As(err, &fault), errors.As(err, &behind), ctx.Err() == nil:
		return err
	}
	return ctx.Err()
}

func tooLargeFault(why string) error {
	return &Fault{"from", "a question that costs less: " + why + "; shorten the time, or ask by less"}
}

func (a *Answer) openTransaction(ctx context.Context, f *reportFile) (err error) {
	if a.tx, err = f.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}); err != nil {
		return err
	}
	begins := int64(0)
	if err := a.tx.QueryRowContext(ctx, "SELECT seq, at, begins FROM place").Scan(&a.Seq, &a.At, &begins); err != nil {
		return err
	}
	if err := a.requireCoveredTime(begins); err != nil {
		return err
	}
	if err := a.loadSources(ctx); err != nil {
		return err
	}
	if err := a.prepareQueries(ctx); err != nil {
		return err
	}
	return a.rejectIfTooCostly(ctx)
}

// requireCoveredTime returns an error unless the database covers the question's whole time
// range. begins is the time from which on it is complete. With Since set, it moves the
// beginning of the range to that time instead.
func (a *Answer) requireCoveredTime(begins int64) error {
	if first := (begins + projection.Quarter - 1) / projection.Quarter * projection.Quarter; a.From < first && a.Since {
		a.From, a.To = first, max(a.To, first)
	} else if a.From < first {
		first := time.Unix(0, first).UTC().Format(time.RFC3339)
		return &Fault{"from", "a time that the report goes back to, which is " + first + " or later"}
	}
	return a.report.rejectIfNotReached(a.Seq, a.At, a.To)
}

// maxLag is how far an answer up to now may be behind the log.
const maxLag = time.Minute

func (a *Answer) loadSources(ctx context.Context) error {
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

func (a *Answer) sourceNumber(name string) int64 {
	for ref, known := range a.sources {
		if known == name {
			return ref
		}
	}
	if name == "" {
		return projection.NoSource
	}
	return -1 // the number of no source
}

// Next returns the next row of the report, or io.EOF at the end. A row is valid until the
// following call.
func (a *Answer) Next() (row *Row, err error) {
	for len(a.rows) == 0 {
		if err := a.runAndRebuildIfDamaged(a.readPeriod); err != nil {
			return nil, err
		}
	}
	row, a.rows = a.rows[0], a.rows[1:]
	return row, nil
}

// Close ends the answer and its database transaction.
func (a *Answer) Close() {
	if a.tx != nil {
		_ = a.tx.Rollback()
	}
	a.cancel()
}

// dimensionValue returns the text that a row shows for dimension d, for example the buyer's
// name. c is the key of the row's sums.
func (a *Answer) dimensionValue(d Dimension, c *projection.SumKey) string {
	refs := map[Dimension]market.Ref{BySupplier: c.Supplier, ByBuyer: c.Buyer, ByCampaign: c.Campaign}
	kind, configured := d.kind()
	switch {
	case configured:
		return a.report.opt.Source.NameOf(kind, refs[d])
	case d == BySource:
		return a.sources[c.Source]
	case d == ByState:
		return c.State
	case d == ByReason:
		return c.Reason.String()
	}
	return ""
}
