package exchange

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/state"
	"pingpost/exchange/coldfiles"
	"pingpost/wal"
)

// replayStart is the point of the log at which a replay begins: after the newest undamaged
// snapshot, or at the first entry if there is no snapshot. In the latter case all fields but
// bad are zero. Every check of a log must begin here, because no start reads earlier entries.
type replayStart struct {
	wal.SnapshotInfo
	bad []wal.BadSnapshot

	lacksColdRows error // not nil: the snapshot's cold files are incomplete, so rebuildColdRowsFromLog must follow the replay
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
	return snapshot, replayStart{SnapshotInfo: snapshot.SnapshotInfo, bad: snapshot.Bad}, nil
}

// loadNewestSnapshot loads the newest undamaged snapshot and its cold files into the empty state s. It returns
// the point from which the log must be replayed. Without a snapshot the state stays empty.
func loadNewestSnapshot(s *state.State, options coldfiles.Options) (*coldfiles.Folder, replayStart, error) {
	snapshot, b, err := findReplayStart(options.DataDir)
	if err != nil {
		return nil, b, err
	}
	cold, err := coldfiles.Open(b.Meta, options)
	if errors.Is(err, coldfiles.ErrIncomplete) {
		b.lacksColdRows, err = err, nil
	}
	if err != nil || snapshot == nil {
		return cold, b, err
	}
	defer snapshot.Close()
	s.SetColdFiles(cold.Files())
	section, err := snapshot.Next()
	if err != nil {
		return cold, b, fmt.Errorf("cannot read a snapshot: %w", err)
	}
	_, err = s.LoadSnapshot(section)
	return cold, b, err
}

// rebuildColdRowsFromLog replays the whole history of the log in dataDir for the rows of closed leads, and adds to memory those
// that the replayed state s lacks. The next snapshots move them to files again. firstEntryNanos is the time of the
// history's first entry; 0: it is the first of the exchange.
func rebuildColdRowsFromLog(dataDir string, s *state.State) (added int, firstEntryNanos int64, err error) {
	segments, err := wal.Segments(dataDir)
	if err != nil || len(segments) == 0 {
		return 0, 0, err
	}
	first := segments[0].First
	rebuilt := state.NewRowRebuild(first)
	if first > 1 {
		if firstEntryNanos, err = readEntryTime(dataDir, first); err != nil {
			return 0, 0, err
		}
	}
	reader, err := wal.NewReader(dataDir, first)
	if err != nil {
		return 0, 0, fmt.Errorf("cannot rebuild the rows of closed leads: %w", err)
	}
	defer reader.Close()
	last, _ := s.Position()
	if _, err := ReplayLog(reader, rebuilt, last); err != nil {
		return 0, 0, fmt.Errorf("cannot rebuild the rows of closed leads: %w", err)
	}
	return s.AddRebuiltRows(rebuilt), firstEntryNanos, nil
}

// rebuildColdRows rebuilds the rows of the snapshot's cold files, which are incomplete for the given reason.
func (x *Exchange) rebuildColdRows(dataDir string, reason error) error {
	began := time.Now()
	rows, firstEntryNanos, err := rebuildColdRowsFromLog(dataDir, x.state)
	if err != nil {
		return errors.Join(err, reason)
	}
	x.logger.Warn("rebuilt rows of closed leads from the log", "rows", rows, "seconds", time.Since(began).Seconds(), "reason", reason)
	if _, at := x.state.Position(); firstEntryNanos > at-int64(x.cold.KeptFor()) {
		x.logger.Error("the log no longer covers the time for which leads are kept: idempotency keys and duplicate values of leads older than the log's first entry are missing, so their repeats and duplicates would be accepted; restore the data directory from a backup that still has the older log",
			"first_entry", time.Unix(0, firstEntryNanos).UTC(), "kept_for", x.cold.KeptFor().String())
	}
	return nil
}

// stopBecauseOfColdFile ends the exchange because of a damaged or unreadable cold file. A request that needs a row of it
// got ErrUnavailable. The next start rebuilds the rows of a damaged file.
func (x *Exchange) stopBecauseOfColdFile(err error) {
	select {
	case x.broken <- fmt.Errorf("a file with rows of closed leads cannot be read; start again, and the exchange rebuilds the rows of a damaged file from the log: %w", err):
	default: // other errors end the exchange already
	}
}

// readEntryTime returns the time of an entry of the log.
func readEntryTime(dataDir string, seq uint64) (unixNanos int64, err error) {
	reader, err := wal.NewReader(dataDir, seq)
	if err != nil {
		return 0, fmt.Errorf("cannot read entry %d of the log: %w", seq, err)
	}
	defer reader.Close()
	entry, err := reader.Next()
	if err != nil {
		return 0, fmt.Errorf("cannot read entry %d of the log: %w", seq, err)
	}
	return entry.At, nil
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

// logEntryReader is a reader that returns the entries of a log one after the other.
type logEntryReader interface {
	Next() (wal.Entry, error)
}

// replayQueues is the number of queues of entries between the two goroutines of a replay: one queue is
// filled, one is applied, and the others let neither goroutine wait for the other's slow moments.
const replayQueues = 4

// ReplayLog applies the log's entries to the state s, and returns how many it applied. It stops after the
// entry lastSeq, or at the end of the log if lastSeq is 0. It applies them in its own goroutine, while
// another one reads and decodes the following entries.
func ReplayLog(entries logEntryReader, s *state.State, lastSeq uint64) (applied uint64, err error) {
	empty, filled := make(chan *state.LogReplay, replayQueues), make(chan *state.LogReplay, replayQueues)
	for range replayQueues {
		empty <- s.NewLogReplay()
	}
	go func() {
		defer close(filled)
		applied, err = queueEntries(entries, lastSeq, empty, filled)
	}()
	for queue := range filled {
		queue.ApplyQueuedEntries()
		empty <- queue
	}
	return applied, errors.Join(err, s.ColdFailure())
}

// queueEntries takes empty queues, and sends each one again when it is full. It sends the last one at
// the log's end, after the entry lastSeq, or at an error, and returns how many entries it queued.
func queueEntries(entries logEntryReader, lastSeq uint64, empty <-chan *state.LogReplay, filled chan<- *state.LogReplay) (count uint64, err error) {
	queue := <-empty
	defer func() { filled <- queue }()
	for {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) || (err == nil && lastSeq != 0 && entry.Seq > lastSeq) {
			return count, nil
		}
		if err != nil {
			return count, fmt.Errorf("replay: cannot read the log: %w", err)
		}
		hasRoom, err := queue.QueueEntry(entry.Seq, entry.At, entry.Data)
		if err != nil {
			return count, err
		}
		count++
		if !hasRoom {
			filled <- queue
			queue = <-empty
		}
	}
}

// forEachEvent calls visit with each event of the log, and the number of its entry, until visit returns
// false or the log ends. It calls pause before each entry, and ends with the error of pause or visit.
// An event is valid until visit returns. Errors of the log name task, as in "cannot read the log to
// TASK".
func forEachEvent(task string, log logEntryReader, pause func() error, visit func(seq uint64, ev event.Event) (more bool, err error)) error {
	decoder := &event.Decoder{ForReplay: true}
	for {
		if err := pause(); err != nil {
			return err
		}
		entry, err := log.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot read the log to %s: %w", task, err)
		}
		ev, err := decoder.Decode(entry.Data)
		if err != nil {
			return fmt.Errorf("cannot decode entry %d of the log to %s: %w", entry.Seq, task, err)
		}
		if more, err := visit(entry.Seq, ev); err != nil || !more {
			return err
		}
	}
}

// StateHash returns the hash of the state after the log entry atSeq, or after the last entry if atSeq is
// 0. It builds the state from the data directory dataDir, which an exchange may be using. Two
// copies with equal hashes have equal states.
func StateHash(dataDir string, atSeq uint64) (seq, hash uint64, err error) {
	s := state.New()
	_, b, err := loadNewestSnapshot(s, coldfiles.Options{DataDir: dataDir})
	if err != nil {
		return 0, 0, err
	}
	newest := b.Newest
	if atSeq != 0 && newest > atSeq {
		s, newest, b.lacksColdRows = state.New(), 0, nil // the snapshot is newer: replay from the beginning
	}
	from, _ := s.Position()
	reader, err := wal.NewReader(dataDir, from+1)
	if err != nil {
		return 0, 0, fmt.Errorf("cannot read the log from entry %d on: %w", from+1, err)
	}
	defer reader.Close()
	if _, err := ReplayLog(reader, s, atSeq); err != nil {
		return 0, 0, err
	}
	if b.lacksColdRows != nil {
		if _, _, err := rebuildColdRowsFromLog(dataDir, s); err != nil {
			return 0, 0, err
		}
	}
	seq, hash = s.Hash()
	if seq < newest || (atSeq != 0 && seq != atSeq) {
		return seq, hash, fmt.Errorf("the log in %q ends at entry %d, before the requested entry or snapshot %d; give an earlier entry, or restore the missing segments from a backup", dataDir, seq, max(newest, atSeq))
	}
	return seq, hash, nil
}
