package exchange

import (
	"errors"
	"sync"
	"testing"

	"pingpost/engine"
	"pingpost/wal"
)

// told is a waiter that stands in the committer's way until it is let go.
type told struct {
	once    sync.Once
	in, let chan struct{}
}

func (w *told) Committed(uint64, int64) { w.once.Do(func() { close(w.in) }); <-w.let }
func (w *told) Failed(error)            {}

// The engine offers an outcome again where the queue is full, so it must know
// that from a log that has failed.
func TestJournalNamesAFullQueue(t *testing.T) {
	log, err := wal.Open(t.TempDir(), wal.Options{QueueLen: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	port := journal{log}
	w := &told{in: make(chan struct{}), let: make(chan struct{})}
	if err := port.Append([]byte("first"), w); err != nil {
		t.Fatal(err)
	}
	<-w.in
	for range 2 {
		if err := port.Append([]byte("queued"), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := port.Append([]byte("one too many"), nil); !errors.Is(err, engine.ErrBusy) {
		t.Errorf("got %v", err)
	}
	close(w.let)
	if err := port.Append(nil, nil); err == nil || errors.Is(err, engine.ErrBusy) {
		t.Errorf("an empty entry: %v", err)
	}
}
