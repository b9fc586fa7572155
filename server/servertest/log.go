package servertest

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/state"
	"pingpost/internal/must"
)

// At returns the data of the entry seq; the first entry has the number 1.
func (l *MemoryLog) At(seq uint64) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if seq == 0 || seq > uint64(len(l.entries)) {
		return nil, engine.ErrGone
	}
	return l.entries[seq-1], nil
}

// MemoryLog is a log in memory for tests. Each entry counts as durable at once.
type MemoryLog struct {
	mu      sync.Mutex
	entries [][]byte
	refuse  func(index int, data []byte) error // nil: accepts all entries
}

// Refuse makes Append return the error of refuse, which gets the index and the data of each further entry.
func (l *MemoryLog) Refuse(refuse func(index int, data []byte) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refuse = refuse
}

func (l *MemoryLog) Append(data []byte, w engine.CommitWaiter) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuse != nil {
		if err := l.refuse(len(l.entries), data); err != nil {
			return err
		}
	}
	l.entries = append(l.entries, bytes.Clone(data))
	w.Committed(uint64(len(l.entries)), time.Now().UnixNano())
	return nil
}

// EntryAtIndex returns the data of the entry with the index i; the first entry has the index 0.
func (l *MemoryLog) EntryAtIndex(i int) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.entries[i]
}

// EntryCount returns the number of entries in the log.
func (l *MemoryLog) EntryCount() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.entries)
}

// Replay returns a new state to which all entries of the log were applied.
func (l *MemoryLog) Replay(t testing.TB) *state.State {
	t.Helper()
	s := state.New()
	var d event.Decoder
	for i, data := range l.entries {
		decoded := must.Value(d.Decode(data))(t)
		s.Apply(uint64(i+1), 1, decoded)
	}
	return s
}
