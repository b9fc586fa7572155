package backup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"pingpost/wal"
)

type entry = wal.Entry

// errEnough ends a reading before its end.
var errEnough = errors.New("no more is wanted")

// readExtent gets one log object and gives its entries, whose data is valid for the
// call alone.
func (g *generation) readExtent(ctx context.Context, e extent, each func(*entry) error) error {
	place := strings.TrimSuffix(e.name, e.stamp.String())
	records, err := g.box.get(ctx, place, e.stamp)
	if err != nil {
		return err
	}
	due := e.first
	for len(records) > 0 {
		entry, n, err := wal.ParseRecord(records)
		if err == nil && entry.Seq != due {
			err = fmt.Errorf("entry %d stands where %d is due", entry.Seq, due)
		}
		if err != nil {
			return fmt.Errorf("%s in %s: %w", e.name, g.box.store, err)
		}
		if err := each(&entry); err != nil {
			return err
		}
		records, due = records[n:], due+1
	}
	if due != e.last+1 {
		return fmt.Errorf("%s in %s ends before entry %d", e.name, g.box.store, due)
	}
	return nil
}

// readRun gives each entry of a run once, up to and with entry last.
func (g *generation) readRun(ctx context.Context, run run, last uint64, each func(*entry) error) error {
	due := run.first()
	for _, e := range run {
		if due > last {
			return nil
		}
		err := g.readExtent(ctx, e, func(e *entry) error {
			if e.Seq > last {
				return errEnough
			}
			if e.Seq < due {
				return nil
			}
			due++
			return each(e)
		})
		if err != nil && !errors.Is(err, errEnough) {
			return err
		}
	}
	return nil
}
