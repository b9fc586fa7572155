package exchange

import (
	"errors"
	"fmt"
	"log/slog"

	"pingpost/engine/state"
	"pingpost/wal"
)

// replayStart is the point of the log at which a replay begins: after the newest undamaged
// snapshot, or at the first entry if there is no snapshot. In the latter case all fields but
// bad are zero. Every check of a log must begin here, because no start reads earlier entries.
type replayStart struct {
	wal.SnapshotInfo
	bad []wal.BadSnapshot
}

// findReplayStart finds the point at which a replay of the log in dir begins. It also returns
// the opened snapshot, or nil if there is none.
func findReplayStart(dir string) (snapshotOrNil *wal.SnapshotReader, start replayStart, err error) {
	snapshot, err := wal.OpenNewestValidSnapshot(dir)
	var noSnapshot *wal.NoSnapshotError
	switch {
	case errors.As(err, &noSnapshot):
		return nil, replayStart{bad: noSnapshot.Bad}, nil
	case err != nil:
		return nil, replayStart{}, err
	}
	return snapshot, replayStart{snapshot.SnapshotInfo, snapshot.Bad}, nil
}

// loadNewestSnapshot loads the newest undamaged snapshot in dir into the empty state s. It returns
// the point from which the log must be replayed. Without a snapshot the state stays empty.
func loadNewestSnapshot(dir string, s *state.State) (replayStart, error) {
	snapshot, b, err := findReplayStart(dir)
	if err != nil || snapshot == nil {
		return b, err
	}
	defer snapshot.Close()
	section, err := snapshot.Next()
	if err != nil {
		return b, fmt.Errorf("cannot read a snapshot: %w", err)
	}
	_, err = s.LoadSnapshot(section)
	return b, err
}

// logOptions returns the options with which the log is opened or cut, so that the part after
// the snapshot is checked.
func (b *replayStart) logOptions() wal.Options {
	return wal.Options{From: b.LastInAllSections + 1, AtLeast: b.Newest}
}

// checkReplayIsPossible returns an error if the log's first entries were removed because of their age
// and no snapshot contains their effects. Such a log cannot be replayed. Cutting it would not
// help.
func (b *replayStart) checkReplayIsPossible(dir string) error {
	segments, err := wal.Segments(dir)
	if err != nil || len(segments) == 0 || segments[0].First == 1 || b.Newest != 0 {
		return nil //nolint:nilerr // there is no log yet, or opening it will say what is wrong
	}
	return b.addSnapshotErrors(fmt.Errorf("no snapshot in %q is good, and the log there begins only with entry %d: "+
		"put a snapshot back from a backup, or the whole folder", dir, segments[0].First))
}

// addSnapshotErrors appends to err the errors of the snapshots that were damaged, so that an
// operator sees both.
func (b *replayStart) addSnapshotErrors(err error) error {
	for _, bad := range b.bad {
		err = fmt.Errorf("%w; %w", err, bad.Err)
	}
	return err
}

// CutLogAtDamage cuts the log in dataDir at the damage because of which the exchange does not start:
// see wal.AcceptLoss. The entries after it are lost. The exchange must not run.
func CutLogAtDamage(dataDir string, logger *slog.Logger) (wal.LossReport, error) {
	snapshot, b, err := findReplayStart(dataDir)
	if err != nil {
		return wal.LossReport{}, err
	}
	if snapshot != nil {
		snapshot.Close()
	}
	if err := b.checkReplayIsPossible(dataDir); err != nil {
		return wal.LossReport{}, err
	}
	opt := b.logOptions()
	opt.Logger = logger
	return wal.AcceptLoss(dataDir, opt)
}
