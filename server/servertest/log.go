package servertest

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/state"
)

// At reads the memory's log back.
func (l *MemoryLog) At(seq uint64) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if seq == 0 || seq > uint64(len(l.entries)) {
		return nil, engine.ErrGone
	}
	return l.entries[seq-1], nil
}

// MemoryLog is a log in memory. Each entry is durable at once.
type MemoryLog struct {
	mu      sync.Mutex
	entries [][]byte
}

func (l *MemoryLog) Append(data []byte, w engine.Waiter) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, bytes.Clone(data))
	w.Committed(uint64(len(l.entries)), time.Now().UnixNano())
	return nil
}

// Entry returns an entry, from 0.
func (l *MemoryLog) Entry(i int) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.entries[i]
}

// Size returns the number of entries.
func (l *MemoryLog) Size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.entries)
}

// Replay returns the state after all entries.
func (l *MemoryLog) Replay(t testing.TB) *state.State {
	t.Helper()
	s := state.New()
	var d event.Decoder
	for i, data := range l.entries {
		fact, err := d.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		s.Apply(uint64(i+1), 1, fact)
	}
	return s
}
