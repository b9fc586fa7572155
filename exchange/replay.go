package exchange

import (
	"errors"
	"fmt"
	"io"

	"pingpost/engine/state"
	"pingpost/wal"
)

// loadSnapshot loads the newest undamaged snapshot in dir into the empty state s. It returns
// the point from which the log must be replayed. Without a snapshot the state stays empty.
func loadSnapshot(dir string, s *state.State) (startPoint, error) {
	snapshot, b, err := openStartPoint(dir)
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

// entrySource is a reader that returns the entries of a log one after the other.
type entrySource interface {
	Next() (wal.Entry, error)
	// Ready reports whether Next leaves the data of earlier entries unchanged.
	Ready() bool
}

// replayEntries applies the log's entries to the state s, and returns how many it applied. It
// stops after the entry last, or at the end of the log if last is 0.
func replayEntries(entries entrySource, s *state.State, last uint64) (applied uint64, err error) {
	waiting := s.NewLogReplay()
	for {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) || (err == nil && last != 0 && entry.Seq > last) {
			waiting.ApplyAdded()
			return applied, nil
		}
		if err != nil {
			return applied, fmt.Errorf("replay: cannot read the log: %w", err)
		}
		more, err := waiting.Add(entry.Seq, entry.At, entry.Data)
		if err != nil {
			return applied, err
		}
		applied++
		if !more || !entries.Ready() {
			waiting.ApplyAdded()
		}
	}
}

// Hash returns the hash of the state after the log entry at, or after the last entry if at is
// 0. It builds the state from the data directory dir, which an exchange may be using. Two
// copies with equal hashes have equal states.
func Hash(dir string, at uint64) (seq, hash uint64, err error) {
	s := state.New()
	b, err := loadSnapshot(dir, s)
	if err != nil {
		return 0, 0, err
	}
	newest := b.Newest
	if at != 0 && newest > at {
		s, newest = state.New(), 0 // the snapshot is newer: replay from the beginning
	}
	from, _ := s.Position()
	reader, err := wal.NewReader(dir, from+1)
	if err != nil {
		return 0, 0, fmt.Errorf("cannot read the log from entry %d on: %w", from+1, err)
	}
	defer reader.Close()
	if _, err := replayEntries(reader, s, at); err != nil {
		return 0, 0, err
	}
	seq, hash = s.Hash()
	if seq < newest || (at != 0 && seq != at) {
		return seq, hash, fmt.Errorf("the log ends at entry %d", seq)
	}
	return seq, hash, nil
}
