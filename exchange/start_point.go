package exchange

import (
	"errors"
	"fmt"
	"log/slog"

	"pingpost/wal"
)

// basis is what a start builds on: the newest snapshot that is good, or, where
// there is none, the log's first entry; then all but bad is zero. Whatever judges
// a log has to judge it from there: what comes before is no start's concern.
type startPoint struct {
	wal.SnapshotInfo
	bad []wal.BadSnapshot
}

// openStartPoint opens the snapshot too, nil where there is none.
func openStartPoint(dir string) (*wal.Snapshot, startPoint, error) {
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

// options are those that the log is opened with, or cut.
func (b *startPoint) options() wal.Options {
	return wal.Options{From: b.Oldest + 1, AtLeast: b.Newest}
}

// check refuses a log whose beginning has gone, as it does after the history that
// is kept, where no snapshot makes up for it. Cutting it would not help.
func (b *startPoint) check(dir string) error {
	segments, err := wal.Segments(dir)
	if err != nil || len(segments) == 0 || segments[0].First == 1 || b.Newest != 0 {
		return nil //nolint:nilerr // there is no log yet, or opening it will say what is wrong
	}
	return b.addSnapshotErrors(fmt.Errorf("no snapshot in %q is good, and the log there begins only with entry %d: "+
		"put a snapshot back from a backup, or the whole folder", dir, segments[0].First))
}

// blame adds to an error what is wrong with the snapshots.
func (b *startPoint) addSnapshotErrors(err error) error {
	for _, bad := range b.bad {
		err = fmt.Errorf("%w; %w", err, bad.Err)
	}
	return err
}

// AcceptLoss cuts the log at the damage for which a start refuses: see
// wal.AcceptLoss. The exchange must not run.
func AcceptLoss(dir string, logger *slog.Logger) (wal.Loss, error) {
	snapshot, b, err := openStartPoint(dir)
	if err != nil {
		return wal.Loss{}, err
	}
	if snapshot != nil {
		snapshot.Close()
	}
	if err := b.check(dir); err != nil {
		return wal.Loss{}, err
	}
	opt := b.options()
	opt.Logger = logger
	return wal.AcceptLoss(dir, opt)
}
