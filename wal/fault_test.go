package wal

import (
	"errors"
	"log/slog"
	"os"
	"sync/atomic"
	"syscall"
	"testing"

	"pingpost/internal/must"
)

// fault makes disk operations fail from the middle of a test on.
type fault struct {
	armed atomic.Bool
	calls atomic.Int32 // calls after the first failure
}

func (f *fault) strike() error {
	if !f.armed.Load() {
		return nil
	}
	f.calls.Add(1)
	return syscall.EIO
}

// wantFailed fails unless the log has failed for good: it rejects current and later
// entries, commits none, and calls no method of tidwall's log.
func wantFailed(t *testing.T, l *Log, inHand []*result, durable uint64) {
	t.Helper()
	<-l.Failed()
	for i, w := range inHand {
		if _, err := w.wait(); !errors.Is(err, ErrFailed) || !errors.Is(err, syscall.EIO) {
			t.Errorf("entry %d was notified with %v", i, err)
		}
	}
	for range 3 {
		wantError(t, l.Append([]byte("later"), newResult()), ErrFailed)
		wantError(t, l.RunBetweenBatches(func(uint64, int64) { t.Error("Do ran") }), ErrFailed)
	}
	wantError(t, l.Err(), syscall.EIO)
	if seq, _ := l.LastEntry(); seq != durable {
		t.Errorf("entry %d is called durable, %d was", seq, durable)
	}
	wantError(t, l.Close(), ErrFailed)
	wantError(t, l.Close(), ErrFailed)
	if err := l.writer.log.Close(); err != nil { // fails if the log was closed already
		t.Errorf("tidwall's log was closed: %v", err)
	}
}

func TestDiskErrorFailsLog(t *testing.T) {
	third := 3 * recordSize(12)
	for name, c := range map[string]struct {
		faults  func(f *fault) Faults
		size    int
		durable uint64 // of 2 before the fault and 3 in one batch after
		found   int    // entries that a restart finds
	}{
		"a write": {func(f *fault) Faults {
			return Faults{Write: func(int) (int, error) { return 0, f.strike() }}
		}, 1 << 20, 2, 2},
		"a write that is short": {func(f *fault) Faults {
			return Faults{Write: func(size int) (int, error) { return size/2 + 1, f.strike() }}
		}, 1 << 20, 2, 3},
		"an fsync": {func(f *fault) Faults {
			return Faults{Sync: f.strike}
		}, 1 << 20, 2, 5},
		"the fsync of a rotation": {func(f *fault) Faults {
			return Faults{Sync: f.strike}
		}, third, 2, 3},
		"the fsync of the folder": {func(f *fault) Faults {
			return Faults{SyncDir: f.strike}
		}, third, 3, 3},
	} {
		t.Run(name, func(t *testing.T) {
			dir, f := t.TempDir(), new(fault)
			j := new(journal)
			l := mustOpen(t, dir, Options{SegmentSize: c.size, Faults: c.faults(f), Logger: j.logger()})
			put(t, l, numbered(5)[:2]...)
			f.armed.Store(true)
			var inHand []*result
			if err := l.RunBetweenBatches(func(uint64, int64) {
				for _, e := range numbered(5)[2:] {
					inHand = append(inHand, newResult())
					if err := l.Append([]byte(e), inHand[len(inHand)-1]); err != nil {
						t.Error(err)
					}
				}
			}); err != nil {
				t.Fatal(err)
			}
			acked := int(c.durable) - 2
			wantFailed(t, l, inHand[acked:], c.durable)
			equal(t, "calls of the disk after the failure", f.calls.Load(), 1)
			if !j.contains("log failed") {
				t.Error("the failure was not logged")
			}
			equal(t, "what our readers see", mustDrain(t, l), numbered(int(c.durable)))

			again := mustOpen(t, dir, Options{})
			seq, _ := again.LastEntry()
			equal(t, "entries after a restart", seq, c.found)
			put(t, again, "next")
			equal(t, "entries", all(t, dir, 0), append(numbered(c.found), "next"))
		})
	}
}

func mustDrain(t *testing.T, l *Log) []string {
	t.Helper()
	return must.Value(drain(l.NewReader(0)))(t)
}

func TestRotationFsyncsFolder(t *testing.T) {
	var order []string
	note := func(what string) { order = append(order, what) }
	l := mustOpen(t, t.TempDir(), Options{
		SegmentSize: 2 * recordSize(12),
		Faults: Faults{
			Write:   func(int) (int, error) { note("write"); return 0, nil },
			Sync:    func() error { note("sync"); return nil },
			SyncDir: func() error { note("folder"); return nil },
		},
		Observe: func(BatchStats) { note("ack") },
	})
	put(t, l, numbered(4)...)
	mustClose(t, l)
	equal(t, "order", order, "[write sync ack write sync ack folder write sync ack write sync ack folder]")
}

func TestFolderFsyncErrorFailsLog(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir, Options{
		SegmentSize: recordSize(12),
		Faults:      Faults{SyncDir: func() error { return os.Rename(logDir(dir), logDir(dir)+".away") }},
	})
	put(t, l, numbered(1)...) // durable in an existing segment
	<-l.Failed()
	wantError(t, l.Err(), os.ErrNotExist)
	wantError(t, l.Append([]byte("next"), nil), ErrFailed)
}

// onWrite is a logger's output that calls a function for each line.
type onWrite func()

func (f onWrite) Write(line []byte) (int, error) { f(); return len(line), nil }

func TestFailedLogRejectsEntriesBeforeNotifying(t *testing.T) {
	var l *Log
	heard := make(chan error, 1)
	l = mustOpen(t, t.TempDir(), Options{
		Faults: Faults{Sync: func() error { return syscall.EIO }},
		Logger: slog.New(slog.NewTextHandler(onWrite(func() {
			select {
			case <-l.Failed():
				heard <- l.Append([]byte("next"), nil)
			default:
				heard <- errors.New("notified of a failure that did not happen")
			}
		}), nil)),
	})
	w := newResult()
	must.Succeed(t, l.Append([]byte("first"), w))
	_, err := w.wait()
	wantError(t, err, syscall.EIO)
	wantError(t, <-heard, ErrFailed)
}

// preparing is a waiter that prepares.
type preparing struct {
	*result
	prepared bool
}

func (p *preparing) Prepare() { p.prepared = true }

// No waiter prepares for a batch that does not become durable.
func TestFailedBatchDoesNotPrepare(t *testing.T) {
	l := mustOpen(t, t.TempDir(), Options{Faults: Faults{Sync: func() error { return errors.New("disk on fire") }}})
	w := &preparing{result: newResult()}
	must.Succeed(t, l.Append([]byte("entry"), w))
	if _, err := w.wait(); err == nil || w.prepared {
		t.Errorf("error %v, prepared %v; want an error without Prepare", err, w.prepared)
	}
}
