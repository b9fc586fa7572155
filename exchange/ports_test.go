package exchange

import (
	"errors"
	"os"
	"testing"

	"pingpost/engine"
	"pingpost/internal/must"
	"pingpost/wal"
)

// TestLogHistoryReadsEntries: an entry before the history is ErrGone, a later one another error.
func TestLogHistoryReadsEntries(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := must.Value(wal.Open(dir, wal.Options{SegmentSize: 100}))(t)
	t.Cleanup(func() { log.Close() })
	var port engine.LogHistory = engineLogAdapter{log}
	for _, text := range []string{"first", "second", "third"} {
		done := make(chan struct{})
		must.Succeed(t, log.Append([]byte(text), committed(func() { close(done) })))
		<-done
	}
	if data, err := port.At(2); err != nil || string(data) != "second" {
		t.Errorf("got %q, %v", data, err)
	}
	if data, err := port.At(4); err == nil || errors.Is(err, engine.ErrGone) || data != nil {
		t.Errorf("entry after the end: got %q, %v", data, err)
	}
	segments, err := wal.Segments(dir)
	if err != nil || len(segments) < 2 {
		t.Fatalf("%d segments, %v", len(segments), err)
	}
	must.Succeed(t, os.Remove(segments[0].Path))
	if data, err := port.At(1); !errors.Is(err, engine.ErrGone) || data != nil {
		t.Errorf("entry before the history: got %q, %v, want ErrGone", data, err)
	}
}

// committed is a function that the log calls when an entry is durable.
type committed func()

func (c committed) Committed(uint64, int64) { c() }
func (c committed) Failed(error)            {}
