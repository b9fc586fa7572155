package exchange

import (
	"testing"
	"time"
)

// hurried starts an exchange that takes a snapshot after so many bytes of log, and
// looks all the time.
func hurried(t testing.TB, p place, every uint64) *running {
	t.Helper()
	return startWith(t, p, func(x *Exchange) { x.snapshots.minBytes, x.snapshots.interval = every, time.Millisecond })
}

// TestSnapshotIsDue counts what a start would have to replay: what this one had to,
// and what was written since the last snapshot.
func TestSnapshotIsDue(t *testing.T) {
	k := snapshotter{minBytes: 100}
	k.recordLoadedSnapshot(&replayStart{}, 30)
	for _, row := range []struct {
		written, snapshot uint64
		due               bool
	}{
		{0, 0, false},
		{69, 0, false},
		{70, 0, true},
		{71, 0, false},
		{169, 0, false},
		{170, 99, true},
		{269, 0, false},
		{300, 0, true},
		{399, 0, false},
		{400, 101, false}, // as much as the last one was large
		{401, 101, true},
	} {
		if due := k.isDue(row.written, row.snapshot); due != row.due {
			t.Errorf("with %d written beside a snapshot of %d: %v", row.written, row.snapshot, due)
		}
		if row.due {
			k.restartByteCount(row.written)
		}
	}
	k.recordLoadedSnapshot(&replayStart{}, 100)
	if k.written = 0; !k.isDue(0, 0) {
		t.Error("a start that had all of it to replay does it again")
	}
}

// TestCrashesInARow: though no run writes much, there is a snapshot in the end.
func TestCrashesInARow(t *testing.T) {
	const every = 12_000
	p := newPlace(t, recorded)
	for range 10 {
		x := hurried(t, p, every)
		if x.snapshots.replayed.Load() >= every {
			eventually(t, "there is a snapshot", func() bool { return x.snapshots.last.Load() != 0 })
			return
		}
		for n := range 10 {
			x.sold(lead(n))
		}
		if written := x.log.Stats().Bytes; written >= every {
			t.Fatalf("%d bytes in one run", written)
		}
		p = x.copy(t)
		x.stop()
	}
	t.Error("there never was a snapshot")
}

// TestLogBehindTheFallbackIsKept: of two snapshots the older one says which part of
// the log may go. One that was written anew under the same name is no second one.
func TestLogBehindTheFallbackIsKept(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	snapshot := func() uint64 {
		t.Helper()
		x.snapshot()
		return x.snapshots.last.Load()
	}
	needed := func(want uint64) {
		t.Helper()
		if got := x.snapshots.needed[0].Load(); got != want {
			t.Errorf("the log is let go up to entry %d, want %d", got, want)
		}
	}
	x.sold(lead(1))
	first := snapshot()
	needed(0)
	x.sold(lead(2))
	second := snapshot()
	needed(first)
	snapshot()
	needed(first)
	x = x.again()
	needed(0) // the older one was not looked at
	x.sold(lead(3))
	snapshot()
	needed(second)
}
