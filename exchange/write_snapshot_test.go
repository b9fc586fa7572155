package exchange

import (
	"testing"
	"time"
)

// startWithFrequentSnapshots starts an exchange that takes a snapshot after every so many bytes of
// log.
func startWithFrequentSnapshots(t testing.TB, p testDir, every uint64) *testExchange {
	t.Helper()
	return startWith(t, p, func(x *Exchange) { x.snapshots.minBytes, x.snapshots.interval = every, time.Millisecond })
}

// TestSnapshotIsDue: the bytes that a start would replay count: the replayed ones and those since
// the last snapshot.
func TestSnapshotIsDue(t *testing.T) {
	t.Parallel()
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
		{400, 101, false}, // the size of the last snapshot
		{401, 101, true},
	} {
		if due := k.isDue(row.written, row.snapshot); due != row.due {
			t.Errorf("with %d bytes written and a snapshot of %d: due %v", row.written, row.snapshot, due)
		}
		if row.due {
			k.restartByteCount(row.written)
		}
	}
	k.recordLoadedSnapshot(&replayStart{}, 100)
	if k.written = 0; !k.isDue(0, 0) {
		t.Error("no snapshot is due after the replay of the whole log")
	}
}

// TestRepeatedCrashesLeadToSnapshot: although each run writes little.
func TestRepeatedCrashesLeadToSnapshot(t *testing.T) {
	t.Parallel()
	const every = 12_000
	p := newTestDir(t, baseConfig)
	for range 10 {
		x := startWithFrequentSnapshots(t, p, every)
		if x.snapshots.replayed.Load() >= every {
			eventually(t, "a snapshot exists", func() bool { return x.snapshots.last.Load() != 0 })
			return
		}
		for n := range 10 {
			x.mustSell(leadBody(n))
		}
		if written := x.log.Stats().Bytes; written >= every {
			t.Fatalf("one run wrote %d bytes", written)
		}
		p = x.copyFiles(t)
		x.stop()
	}
	t.Error("no snapshot after 10 runs")
}

// TestOlderSnapshotKeepsItsLog: the log is kept from the older one of two snapshots. A snapshot
// that is written again under the same name is not a second one.
func TestOlderSnapshotKeepsItsLog(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	snapshot := func() uint64 {
		t.Helper()
		x.mustSnapshot()
		return x.snapshots.last.Load()
	}
	checkUnneeded := func(want uint64) {
		t.Helper()
		if got := x.snapshots.needed[0].Load(); got != want {
			t.Errorf("log is unneeded up to entry %d, want %d", got, want)
		}
	}
	x.mustSell(leadBody(1))
	first := snapshot()
	checkUnneeded(0)
	x.mustSell(leadBody(2))
	second := snapshot()
	checkUnneeded(first)
	snapshot()
	checkUnneeded(first)
	x = x.restart()
	checkUnneeded(0) // a start does not check the older one
	x.mustSell(leadBody(3))
	snapshot()
	checkUnneeded(second)
}
