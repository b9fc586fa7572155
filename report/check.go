package report

import (
	"context"
	"database/sql"
	"errors"
)

// errDamaged reports that SQLite's check found damage.
var errDamaged = errors.New("SQLite's check found the report's database damaged")

// startBackgroundCheck makes SQLite check the whole file in the background, unless such a
// check is running. After damage it requests a rebuild. The check uses a new connection,
// because open ones may still have good copies of damaged pages in memory.
func (r *Report) startBackgroundCheck(ctx context.Context, f *reportDatabase) {
	select {
	case r.checkSlot <- struct{}{}:
	default:
		return // the previous check is still running
	}
	go func() {
		defer func() { <-r.checkSlot }()
		defer func() {
			if recover() != nil {
				r.requestRebuildBecause(errDamaged)
			}
		}()
		if err := runSQLiteQuickCheck(ctx, f.path); err != nil && ctx.Err() == nil {
			r.mu.Lock()
			current := r.file == f
			r.mu.Unlock()
			if current {
				r.requestRebuildUnlessTransient(err)
			}
		}
	}()
}

// requestRebuildUnlessTransient requests a rebuild of the report's database, unless err is a cancellation or
// an SQLite error that waiting can resolve. Every other error counts as damage.
func (r *Report) requestRebuildUnlessTransient(err error) {
	var spoilt *rebuildNeededError
	if errors.As(wrapIfRebuildHelps(err), &spoilt) {
		r.requestRebuildBecause(err)
	}
}

func runSQLiteQuickCheck(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", dsn(path, "rw", "query_only(1)", "busy_timeout(5000)"))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	var said string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&said); err != nil {
		return err
	}
	if said != "ok" {
		return errDamaged
	}
	return nil
}
