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

// RowIterator returns the rows of a report, one by one. It reads the report's database as it
// was at one moment, regardless of later writes. One goroutine uses and closes it.
type RowIterator struct {
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
	totals    totalsByCurrency

	units                   []int64 // units of the sums that it may read
	nextQuarter, endQuarter int64   // quarters that are not answered yet
}

// Ask begins the answer to a question. The error is an *InvalidQuestionError for a question
// that is invalid or costs too much, a *NotFollowedYetError if the report has not reached the
// question's time, or an error of the database. A damaged database is rebuilt.
func (r *Report) Ask(ctx context.Context, q Question) (*RowIterator, error) {
	if q.Zone == nil {
		q.Zone = time.UTC
	}
	if err := q.Validate(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	f := r.file
	r.mu.Unlock()
	if f == nil {
		return nil, &NotFollowedYetError{}
	}
	ctx, cancel := context.WithTimeout(ctx, r.opt.limits.timeout)
	a := &RowIterator{Question: q, report: r, ctx: ctx, cancel: cancel}
	err := a.runOrRequestRebuildIfDamaged(func() error { return a.beginTransactionAndPrepareQueries(ctx, f) })
	if err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// runOrRequestRebuildIfDamaged calls read. If read fails or panics because the database is
// damaged, it requests a rebuild of the database. An answer that takes too long becomes an
// *InvalidQuestionError.
func (a *RowIterator) runOrRequestRebuildIfDamaged(read func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("the database library failed (panic) on the report's database, probably because its file is damaged; the exchange builds it again from the log: %v", cause)
			a.tx = nil // it must not be used after a panic
			a.report.requestRebuildBecause(err)
		}
	}()
	err = preferContextError(a.ctx, read())
	var fault *InvalidQuestionError
	var behind *NotFollowedYetError
	switch {
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, context.Canceled), errors.As(err, &fault), errors.As(err, &behind):
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, sql.ErrConnDone):
		err = questionTooLargeError("it takes more than " + a.report.opt.limits.timeout.String())
	default:
		a.report.requestRebuildUnlessTransient(err)
	}
	return err
}

// preferContextError returns the context's error instead of err if the end of the context may
// have caused err. database/sql closes a transaction when its context ends. The reader then
// gets "statement is closed" or the like, which does not mean damage.
func preferContextError(ctx context.Context, err error) error {
	var fault *InvalidQuestionError
	var behind *NotFollowedYetError
	switch {
	case err == nil, errors.Is(err, io.EOF), errors.As(err, &fault), errors.As(err, &behind), ctx.Err() == nil:
		return err
	}
	return ctx.Err()
}

func questionTooLargeError(reason string) error {
	return &InvalidQuestionError{"from", "a question that costs less: " + reason + "; shorten the time range, or group by fewer columns"}
}

func (a *RowIterator) beginTransactionAndPrepareQueries(ctx context.Context, f *reportDatabase) (err error) {
	if a.tx, err = f.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}); err != nil {
		return err
	}
	begins := int64(0)
	if err := a.tx.QueryRowContext(ctx, "SELECT seq, at, begins FROM place").Scan(&a.Seq, &a.At, &begins); err != nil {
		return err
	}
	if err := a.moveOrRejectUncoveredTimeRange(begins); err != nil {
		return err
	}
	if err := a.loadSourceNames(ctx); err != nil {
		return err
	}
	if err := a.prepareQueriesAndTimeRange(ctx); err != nil {
		return err
	}
	return a.rejectIfTooCostly(ctx)
}

// moveOrRejectUncoveredTimeRange returns an error unless the database covers the question's whole time
// range. completeFromNanos is the time from which on it is complete. With Since set, an earlier
// beginning of the range moves to the next quarter of an hour after that time instead.
func (a *RowIterator) moveOrRejectUncoveredTimeRange(completeFromNanos int64) error {
	if first := (completeFromNanos + projection.QuarterHourNanos - 1) / projection.QuarterHourNanos * projection.QuarterHourNanos; a.From < first && a.Since {
		a.From, a.To = first, max(a.To, first)
	} else if a.From < first {
		first := time.Unix(0, first).UTC().Format(time.RFC3339)
		return &InvalidQuestionError{"from", "a time that the report goes back to, which is " + first + " or later"}
	}
	return a.report.rejectIfTimeNotReached(a.Seq, a.At, a.To)
}

// maxLag is how far an answer up to now may be behind the log.
const maxLag = time.Minute

func (a *RowIterator) loadSourceNames(ctx context.Context) error {
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

func (a *RowIterator) sourceNumberOrMinusOne(sourceName string) int64 {
	for ref, known := range a.sources {
		if known == sourceName {
			return ref
		}
	}
	if sourceName == "" {
		return projection.NoSource
	}
	return -1 // no source has this number
}

// Next returns the next row of the report, or io.EOF at the end. A row is valid until the
// following call. If the question asks for totals, these are the last rows.
func (a *RowIterator) Next() (row *Row, errOrEOF error) {
	for len(a.rows) == 0 {
		err := a.runOrRequestRebuildIfDamaged(a.readNextPeriod)
		if errors.Is(err, io.EOF) && a.Totals && !a.totals.taken {
			a.rows = a.totals.markTakenAndListRows()
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	row, a.rows = a.rows[0], a.rows[1:]
	if a.Totals && !row.IsTotal {
		a.totals.add(row)
	}
	return row, nil
}

// Close ends the answer and its database transaction.
func (a *RowIterator) Close() {
	if a.tx != nil {
		_ = a.tx.Rollback()
	}
	a.cancel()
}

// dimensionText returns the text that a row shows for a dimension, for example the buyer's name. For a
// dimension of time it returns "", because Row.Start has the time. key is the key of the row's sums.
func (a *RowIterator) dimensionText(dimension Dimension, key *projection.SumDimensionValues) string {
	refs := map[Dimension]market.PermanentNumber{BySupplier: key.Supplier, ByBuyer: key.Buyer, ByCampaign: key.Campaign}
	kind, configured := dimension.objectKind()
	switch {
	case configured:
		return a.report.opt.Source.NameOf(kind, refs[dimension])
	case dimension == BySource:
		return a.sources[key.Source]
	case dimension == ByState:
		return key.State
	case dimension == ByReason:
		return key.Reason.String()
	}
	return ""
}
