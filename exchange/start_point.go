package exchange

import (
	"errors"
	"fmt"
	"log/slog"

	"pingpost/wal"
)

// startPoint is the beginning of a replay: the newest good snapshot, or the log's first
// entry without one. Without a snapshot all fields but bad are zero. Every check of a log
// must begin at this point, because no start reads the entries before it.
type startPoint struct {
	wal.SnapshotInfo
	bad []wal.BadSnapshot
}

// openStartPoint also returns the opened snapshot, or nil without one.
func openStartPoint(dir string) (*wal.SnapshotReader, startPoint, error) {
	snapshot, err := wal.OpenSnapshot(dir)
	var none *wal.NoSnapshotError
	switch {
	case errors.As(err, &none):
		return nil, startPoint{bad: none.Bad}, nil
	case err != nil:
		return nil, startPoint{}, fmt.Errorf("cannot open a snapshot: %w", err)
	}
	return snapshot, startPoint{snapshot.SnapshotInfo, snapshot.Bad}, nil
}

// logOptions returns the options for opening or cutting the log.
func (b *startPoint) logOptions() wal.Options {
	return wal.Options{From: b.Oldest + 1, AtLeast: b.Newest}
}

// checkBeginning rejects a log whose first entries are gone while no snapshot replaces them.
// Entries are removed after the kept history. Cutting such a log would not help.
func (b *startPoint) checkBeginning(dir string) error {
	segments, err := wal.Segments(dir)
	if err != nil || len(segments) == 0 || segments[0].First == 1 || b.Newest != 0 {
		return nil //nolint:nilerr // there is no log yet, or opening it will say what is wrong
	}
	return b.addSnapshotErrors(fmt.Errorf("no snapshot in %q is good, and the log there begins only with entry %d: "+
		"put a snapshot back from a backup, or the whole folder", dir, segments[0].First))
}

// addSnapshotErrors adds the errors of damaged snapshots to an error.
func (b *startPoint) addSnapshotErrors(err error) error {
	for _, bad := range b.bad {
		err = fmt.Errorf("%w; %w", err, bad.Err)
	}
	return err
}

// AcceptLoss cuts the log at the damage that makes a start fail: see wal.AcceptLoss. The
// exchange must not run.
func AcceptLoss(dir string, logger *slog.Logger) (wal.LossReport, error) {
	snapshot, b, err := openStartPoint(dir)
	if err != nil {
		return wal.LossReport{}, err
	}
	if snapshot != nil {
		snapshot.Close()
	}
	if err := b.checkBeginning(dir); err != nil {
		return wal.LossReport{}, err
	}
	opt := b.logOptions()
	opt.Logger = logger
	return wal.AcceptLoss(dir, opt)
}
