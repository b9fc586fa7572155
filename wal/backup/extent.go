package backup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"pingpost/wal"
)

// errStop ends a reading early.
var errStop = errors.New("no more is wanted")

// readLogObject reads the log object e from the store and calls `each` for each of its
// entries. An entry's data is valid only during the call.
func (g *backupGeneration) readLogObject(ctx context.Context, e logObject, each func(*wal.Entry) error) error {
	place := strings.TrimSuffix(e.name, e.sizeAndChecksum.String())
	records, err := g.box.get(ctx, place, e.sizeAndChecksum)
	if err != nil {
		return err
	}
	due := e.first
	for len(records) > 0 {
		entry, n, err := wal.ParseRecord(records)
		if err == nil && entry.Seq != due {
			err = fmt.Errorf("the object has log entry %d where entry %d is due", entry.Seq, due)
		}
		if err != nil {
			return fmt.Errorf("the backup object %s in %s: %w", e.name, g.box.store, err)
		}
		if err := each(&entry); err != nil {
			return err
		}
		records, due = records[n:], due+1
	}
	if due != e.last+1 {
		return fmt.Errorf("the backup object %s in %s ends before log entry %d", e.name, g.box.store, due)
	}
	return nil
}

// readEntries reads a gapless series of log objects and calls `each` once for every entry, up
// to and including entry `last`. Of an entry that two overlapping objects contain, it skips the second copy.
func (g *backupGeneration) readEntries(ctx context.Context, run contiguousObjects, last uint64, each func(*wal.Entry) error) error {
	due := run.firstEntry()
	for _, e := range run {
		if due > last {
			return nil
		}
		err := g.readLogObject(ctx, e, func(e *wal.Entry) error {
			if e.Seq > last {
				return errStop
			}
			if e.Seq < due {
				return nil
			}
			due++
			return each(e)
		})
		if err != nil && !errors.Is(err, errStop) {
			return err
		}
	}
	return nil
}
