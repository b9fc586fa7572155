package report

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"pingpost/engine/market"
)

// sweep removes what is past Keep, a quarter of an hour at a time, each with the time
// from which on all is there.
func (r *Report) sweep(ctx context.Context, f *file) error {
	if r.opt.Keep == 0 || r.opt.Now().Sub(r.swept) < r.opt.sweeps {
		return nil
	}
	r.swept = r.opt.Now()
	ctx = context.WithoutCancel(ctx)
	last := quarterOf(r.swept.Add(-r.opt.Keep).UnixNano())
	for range sweptAtOnce {
		oldest := int64(math.MaxInt64)
		err := f.writer.QueryRowContext(ctx, oldestQuarter).Scan(&oldest)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return spoils(err)
		}
		until := last
		if oldest < last {
			until = oldest + 1
		}
		if err := f.forget(ctx, until*quarter); err != nil {
			return spoils(err)
		}
		if until == last {
			return nil
		}
	}
	r.swept = time.Time{} // there is more
	return nil
}

// sweptAtOnce is how many quarters are removed before the log is looked at again.
const sweptAtOnce = 16

// forget removes what is older, as one transaction.
func (f *file) forget(ctx context.Context, before int64) (err error) {
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
		if err := f.dropOlder(ctx, &gone, table, column, id[:]); err != nil {
			return err
		}
	}
	if err := f.forgetSums(ctx, &gone, quarterOf(before)); err != nil {
		return err
	}
	kept := f.place
	if gone > 0 {
		kept.begins = max(kept.begins, before)
	}
	if err := f.writePlace(ctx, kept); err != nil {
		return err
	}
	if err := f.exec(ctx, "COMMIT"); err != nil {
		return err
	}
	f.place = kept
	f.settler.wrote(int(gone))
	return nil
}

// forgetSums removes those of units that are older as a whole. One that is in part is in no
// question, since those begin later.
func (f *file) forgetSums(ctx context.Context, gone *int64, before int64) error {
	for _, unit := range []int64{quarters, hours, days} {
		until := floorDiv(before, unit)
		if err := f.drop(ctx, gone, whysTable+" WHERE unit = ? AND start < ?", unit, until); err != nil {
			return err
		}
		for _, g := range grains {
			for _, table := range []string{cells, paces} {
				if err := f.drop(ctx, gone, table+" WHERE grain = ? AND unit = ? AND start < ?", g, unit, until); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// dropOlder removes the rows before an id, some at a time, and rests between: a quarter of
// an hour may have a million.
func (f *file) dropOlder(ctx context.Context, gone *int64, table, column string, id []byte) error {
	some := fmt.Sprintf("%[1]s WHERE %[2]s <= (SELECT max(%[2]s) FROM (SELECT %[2]s FROM %[1]s WHERE %[2]s < ? ORDER BY %[2]s LIMIT %[3]d))", table, column, sweptRows)
	for f.breath.draw(); ; f.breath.take() {
		before := *gone
		if err := f.drop(ctx, gone, some, id); err != nil || *gone == before {
			return err
		}
	}
}

// sweptRows are removed with one statement, about.
const sweptRows = 500

func (f *file) drop(ctx context.Context, gone *int64, from string, args ...any) error {
	result, err := f.writer.ExecContext(ctx, "DELETE FROM "+from, args...)
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	*gone += n
	return err
}
