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
func (r *Report) check(ctx context.Context, f *file) {
	select {
	case r.checked <- struct{}{}:
	default:
		return // the last one is still under way
	}
	go func() {
		defer func() { <-r.checked }()
		defer func() {
			if recover() != nil {
				r.spoil(errDamaged)
			}
		}()
		if err := examine(ctx, f.path); err != nil && ctx.Err() == nil {
			r.mu.Lock()
			current := r.file == f
			r.mu.Unlock()
			if current {
				r.blame(err)
			}
		}
	}()
}

// blame has the file built anew where an error says that it is damaged.
func (r *Report) blame(err error) {
	var spoilt *spoiltError
	if errors.As(spoils(err), &spoilt) {
		r.spoil(err)
	}
}

func examine(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", address(path, "rw", "query_only(1)", "busy_timeout(5000)"))
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
