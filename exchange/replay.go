package exchange

import (
	"errors"
	"fmt"
	"io"

	"pingpost/engine/event"
	"pingpost/engine/state"
	"pingpost/wal"
)

// logEntryReader is a reader that returns the entries of a log one after the other.
type logEntryReader interface {
	Next() (wal.Entry, error)
	// HasBufferedEntry reports whether Next leaves the data of earlier entries unchanged.
	HasBufferedEntry() bool
}

// replayEntries applies the log's entries to the state s, and returns how many it applied. It
// stops after the entry lastSeq, or at the end of the log if lastSeq is 0.
func replayEntries(entries logEntryReader, s *state.State, lastSeq uint64) (applied uint64, err error) {
	waiting := s.NewLogReplay()
	for {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) || (err == nil && lastSeq != 0 && entry.Seq > lastSeq) {
			waiting.ApplyQueuedEntries()
			return applied, nil
		}
		if err != nil {
			return applied, fmt.Errorf("replay: cannot read the log: %w", err)
		}
		more, err := waiting.QueueEntry(entry.Seq, entry.At, entry.Data)
		if err != nil {
			return applied, err
		}
		applied++
		if !more || !entries.HasBufferedEntry() {
			waiting.ApplyQueuedEntries()
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
	b, err := loadNewestSnapshot(dataDir, s)
	if err != nil {
		return 0, 0, err
	}
	newest := b.Newest
	if atSeq != 0 && newest > atSeq {
		s, newest = state.New(), 0 // the snapshot is newer: replay from the beginning
	}
	from, _ := s.Position()
	reader, err := wal.NewReader(dataDir, from+1)
	if err != nil {
		return 0, 0, fmt.Errorf("cannot read the log from entry %d on: %w", from+1, err)
	}
	defer reader.Close()
	if _, err := replayEntries(reader, s, atSeq); err != nil {
		return 0, 0, err
	}
	seq, hash = s.Hash()
	if seq < newest || (atSeq != 0 && seq != atSeq) {
		return seq, hash, fmt.Errorf("the log in %q ends at entry %d, before the requested entry or snapshot %d; give an earlier entry, or restore the missing segments from a backup", dataDir, seq, max(newest, atSeq))
	}
	return seq, hash, nil
}
