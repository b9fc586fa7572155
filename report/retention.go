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

// removeExpiredIfDue removes data older than Retention at intervals, a quarter of an hour of
// data per transaction. Each transaction also updates the time from which on the database is
// complete.
func (r *Report) removeExpiredIfDue(ctx context.Context, f *reportDatabase) error {
	if r.opt.Retention == 0 || r.opt.Now().Sub(r.lastSweep) < r.opt.sweepInterval {
		return nil
	}
	r.lastSweep = r.opt.Now()
	ctx = context.WithoutCancel(ctx)
	last := projection.QuarterHourOf(r.lastSweep.Add(-r.opt.Retention).UnixNano())
	for range maxQuartersPerSweep {
		oldest := int64(math.MaxInt64)
		err := f.writer.QueryRowContext(ctx, oldestQuarter).Scan(&oldest)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return wrapIfRebuildHelps(err)
		}
		until := last
		if oldest < last {
			until = oldest + 1
		}
		if err := f.removeRowsAndSumsBefore(ctx, until*projection.QuarterHourNanos); err != nil {
			return wrapIfRebuildHelps(err)
		}
		if until == last {
			return nil
		}
	}
	r.lastSweep = time.Time{} // there is more to remove
	return nil
}

// maxQuartersPerSweep limits the quarters that are removed before the log is read again.
const maxQuartersPerSweep = 16

// removeRowsAndSumsBefore removes the rows and the sums of the time before beforeNanos in one
// transaction. If it removed any, it moves the beginning of the complete time to beforeNanos.
func (f *reportDatabase) removeRowsAndSumsBefore(ctx context.Context, beforeNanos int64) (err error) {
	if err := f.executeStatement(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.executeStatement(ctx, "ROLLBACK"))
		}
	}()
	gone := int64(0)
	id := market.ComposeID(beforeNanos/int64(time.Millisecond), [10]byte{})
	for table, column := range map[string]string{"leads": "id", "posts": "lead", "webhooks": "lead", "auctions": "id", "bids": "auction", "actions": "id", "persons": "lead"} {
		if err := f.deleteRowsOfOlderIDs(ctx, &gone, table, column, id[:]); err != nil {
			return err
		}
	}
	if err := f.removeSumsBefore(ctx, &gone, projection.QuarterHourOf(beforeNanos)); err != nil {
		return err
	}
	kept := f.position
	if gone > 0 {
		kept.begins = max(kept.begins, beforeNanos)
	}
	if err := f.writePosition(ctx, kept); err != nil {
		return err
	}
	if err := f.executeStatement(ctx, "COMMIT"); err != nil {
		return err
	}
	f.position = kept
	f.checkpointer.recordTransaction(int(gone))
	return nil
}

// removeSumsBefore removes the sums of days, hours and quarters that ended before the given
// quarter of an hour. A day or hour that began earlier and ended later stays. No question reads
// it, because questions begin later. It adds the number of removed sums to *removedRows.
func (f *reportDatabase) removeSumsBefore(ctx context.Context, removedRows *int64, quarterHour int64) error {
	for _, unit := range []int64{projection.Quarters, projection.Hours, projection.Days} {
		until := projection.DivideRoundingDown(quarterHour, unit)
		if err := f.deleteAndCount(ctx, removedRows, reasonTable+" WHERE unit = ? AND start < ?", unit, until); err != nil {
			return err
		}
		for _, g := range projection.Groupings {
			for _, table := range []string{sumTable, latencyTable} {
				if err := f.deleteAndCount(ctx, removedRows, table+" WHERE grain = ? AND unit = ? AND start < ?", g, unit, until); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// deleteRowsOfOlderIDs deletes a table's rows with smaller ids, in batches with rests,
// because a quarter of an hour may have a million rows. It adds their number to *removedRows.
func (f *reportDatabase) deleteRowsOfOlderIDs(ctx context.Context, removedRows *int64, table, column string, beforeID []byte) error {
	some := fmt.Sprintf("%[1]s WHERE %[2]s <= (SELECT max(%[2]s) FROM (SELECT %[2]s FROM %[1]s WHERE %[2]s < ? ORDER BY %[2]s LIMIT %[3]d))", table, column, deleteBatchRows)
	for f.throttle.recordWorkStart(); ; f.throttle.sleepIfDue() {
		before := *removedRows
		if err := f.deleteAndCount(ctx, removedRows, some, beforeID); err != nil || *removedRows == before {
			return err
		}
	}
}

// deleteBatchRows is the approximate number of rows per DELETE statement.
const deleteBatchRows = 500

func (f *reportDatabase) deleteAndCount(ctx context.Context, removedRows *int64, sqlAfterFrom string, args ...any) error {
	result, err := f.writer.ExecContext(ctx, "DELETE FROM "+sqlAfterFrom, args...)
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	*removedRows += n
	return err
}
