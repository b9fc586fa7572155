package report

import (
	"context"
	"database/sql"
	"errors"
)

// errDamaged is of a file that SQLite finds faults in.
var errDamaged = errors.New("SQLite finds its file damaged")

// check has SQLite look through the whole file, beside everything else, from what the
// disk has: the connections that are open may still have good pages in memory.
func (r *Report) startCheck(ctx context.Context, f *file) {
	select {
	case r.checkSlot <- struct{}{}:
	default:
		return // the last one is still under way
	}
	go func() {
		defer func() { <-r.checkSlot }()
		defer func() {
			if recover() != nil {
				r.requestRebuild(errDamaged)
			}
		}()
		if err := quickCheck(ctx, f.path); err != nil && ctx.Err() == nil {
			r.mu.Lock()
			current := r.file == f
			r.mu.Unlock()
			if current {
				r.rebuildIfDamaged(err)
			}
		}
	}()
}

// blame has the file built anew where an error says that it is damaged.
func (r *Report) rebuildIfDamaged(err error) {
	var spoilt *rebuildError
	if errors.As(classify(err), &spoilt) {
		r.requestRebuild(err)
	}
}

func quickCheck(ctx context.Context, path string) error {
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
