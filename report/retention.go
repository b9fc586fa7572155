package report

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"pingpost/engine/market"
	"pingpost/report/projection"
)

// sweep removes what is past Keep, a quarter of an hour at a time, each with the time
// from which on all is there.
func (r *Report) sweepIfDue(ctx context.Context, f *file) error {
	if r.opt.Retention == 0 || r.opt.Now().Sub(r.lastSweep) < r.opt.sweepInterval {
		return nil
	}
	r.lastSweep = r.opt.Now()
	ctx = context.WithoutCancel(ctx)
	last := projection.QuarterOf(r.lastSweep.Add(-r.opt.Retention).UnixNano())
	for range maxQuartersPerSweep {
		oldest := int64(math.MaxInt64)
		err := f.writer.QueryRowContext(ctx, oldestQuarter).Scan(&oldest)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return classify(err)
		}
		until := last
		if oldest < last {
			until = oldest + 1
		}
		if err := f.removeBefore(ctx, until*projection.Quarter); err != nil {
			return classify(err)
		}
		if until == last {
			return nil
		}
	}
	r.lastSweep = time.Time{} // there is more
	return nil
}

// sweptAtOnce is how many quarters are removed before the log is looked at again.
const maxQuartersPerSweep = 16

// forget removes what is older, as one transaction.
func (f *file) removeBefore(ctx context.Context, before int64) (err error) {
	if err := f.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.exec(ctx, "ROLLBACK"))
		}
	}()
	gone := int64(0)
	id := market.ComposeID(before/int64(time.Millisecond), [10]byte{})
	for table, column := range map[string]string{"leads": "id", "posts": "lead", "webhooks": "lead", "auctions": "id", "bids": "auction"} {
		if err := f.deleteOlder(ctx, &gone, table, column, id[:]); err != nil {
			return err
		}
	}
	if err := f.removeSumsBefore(ctx, &gone, projection.QuarterOf(before)); err != nil {
		return err
	}
	kept := f.position
	if gone > 0 {
		kept.begins = max(kept.begins, before)
	}
	if err := f.writePosition(ctx, kept); err != nil {
		return err
	}
	if err := f.exec(ctx, "COMMIT"); err != nil {
		return err
	}
	f.position = kept
	f.checkpointer.countTransaction(int(gone))
	return nil
}

// forgetSums removes those of units that are older as a whole. One that is in part is in no
// question, since those begin later.
func (f *file) removeSumsBefore(ctx context.Context, gone *int64, before int64) error {
	for _, unit := range []int64{projection.Quarters, projection.Hours, projection.Days} {
		until := projection.FloorDiv(before, unit)
		if err := f.deleteFrom(ctx, gone, reasonTable+" WHERE unit = ? AND start < ?", unit, until); err != nil {
			return err
		}
		for _, g := range projection.Groupings {
			for _, table := range []string{sumTable, latencyTable} {
				if err := f.deleteFrom(ctx, gone, table+" WHERE grain = ? AND unit = ? AND start < ?", g, unit, until); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// dropOlder removes the rows before an id, some at a time, and rests between: a quarter of
// an hour may have a million.
func (f *file) deleteOlder(ctx context.Context, gone *int64, table, column string, id []byte) error {
	some := fmt.Sprintf("%[1]s WHERE %[2]s <= (SELECT max(%[2]s) FROM (SELECT %[2]s FROM %[1]s WHERE %[2]s < ? ORDER BY %[2]s LIMIT %[3]d))", table, column, deleteBatchRows)
	for f.throttle.startWork(); ; f.throttle.restIfDue() {
		before := *gone
		if err := f.deleteFrom(ctx, gone, some, id); err != nil || *gone == before {
			return err
		}
	}
}

// sweptRows are removed with one statement, about.
const deleteBatchRows = 500

func (f *file) deleteFrom(ctx context.Context, gone *int64, from string, args ...any) error {
	result, err := f.writer.ExecContext(ctx, "DELETE FROM "+from, args...)
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	*gone += n
	return err
}
