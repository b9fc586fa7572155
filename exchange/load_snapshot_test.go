package exchange

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/internal/must"
	"pingpost/wal"
)

// newSegmentedLog writes a log of ten entries in segments from 1, 4, 7 and 10, and a snapshot at
// entry 6.
func newSegmentedLog(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	log := must.Value(wal.Open(dir, wal.Options{SegmentSize: 3 * 47, MaxBatch: 1}))(t)
	for i := range 10 {
		must.Succeed(t, log.Append(fmt.Appendf(nil, "%06d", i), nil))
	}
	must.Succeed(t, log.Close())
	found, err := wal.Segments(dir)
	if err != nil || len(found) != 4 || found[2].First != 7 {
		t.Fatalf("unexpected segments: %+v, %v", found, err)
	}
	w := must.Value(wal.BeginSnapshot(dir, wal.SnapshotRateOptions{}))(t)
	must.Value(w.Commit(6, 6, nil))(t)
	return dir
}

func segmentPath(dir string, first int) string {
	return filepath.Join(dir, "log", fmt.Sprintf("%020d", first))
}

// flipByte changes a byte of a file. A negative position counts from the end.
func flipByte(t testing.TB, path string, at int) {
	t.Helper()
	data := must.Value(os.ReadFile(path))(t)
	if at < 0 {
		at += len(data)
	}
	data[at] ^= 1
	must.Succeed(t, os.WriteFile(path, data, 0o600))
}

func removeFile(t testing.TB, path string) {
	t.Helper()
	must.Succeed(t, os.Remove(path))
}

// TestAcceptLossUsesNewestGoodSnapshot: like a start.
func TestAcceptLossUsesNewestGoodSnapshot(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		damage func(t *testing.T, dir string)
		last   uint64 // last entry after the cut; 0: no damage to accept
		err    string
	}{
		"no damage":           {func(*testing.T, string) {}, 0, ""},
		"before the snapshot": {func(t *testing.T, dir string) { flipByte(t, segmentPath(dir, 1), -1) }, 0, ""},
		"after the snapshot":  {func(t *testing.T, dir string) { flipByte(t, segmentPath(dir, 7), -1) }, 8, ""},
		"before and after the snapshot": {func(t *testing.T, dir string) {
			flipByte(t, segmentPath(dir, 1), -1)
			flipByte(t, segmentPath(dir, 7), -1)
		}, 8, ""},
		"trimmed log, after the snapshot": {func(t *testing.T, dir string) {
			removeFile(t, segmentPath(dir, 1))
			flipByte(t, segmentPath(dir, 7), -1)
		}, 8, ""},
		"log ends before the snapshot": {func(t *testing.T, dir string) {
			for _, first := range []int{4, 7, 10} {
				removeFile(t, segmentPath(dir, first))
			}
		}, 3, ""},
		"log ends before the snapshot and begins late": {func(t *testing.T, dir string) {
			for _, first := range []int{1, 7, 10} {
				removeFile(t, segmentPath(dir, first))
			}
			flipByte(t, segmentPath(dir, 4), -1)
		}, 0, "log not changed"},
		"no good snapshot, and the log begins late": {func(t *testing.T, dir string) {
			removeFile(t, segmentPath(dir, 1))
			flipByte(t, snapshotFiles(t, dir)[0], 30)
		}, 0, "no snapshot"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newSegmentedLog(t)
			row.damage(t, dir)
			loss, err := CutLogAtDamage(dir, newLogger(new(logBuffer)))
			if row.err != "" {
				if err == nil || !strings.Contains(err.Error(), row.err) || !strings.Contains(err.Error(), "backup") {
					t.Errorf("unexpected result: %+v, %v", loss, err)
				}
				return
			}
			if err != nil || (loss.Damage != nil) != (row.last != 0) || row.last != 0 && loss.Last != row.last {
				t.Fatalf("unexpected result: %+v, %v", loss, err)
			}
			_, replay, err := findReplayStart(dir)
			must.Succeed(t, err)
			log := must.Value(wal.Open(dir, replay.logOptions()))(t)
			log.Close()
		})
	}
}

func snapshotFiles(t testing.TB, data string) []string {
	t.Helper()
	found := must.Value(filepath.Glob(filepath.Join(data, "snapshot", "*.snap")))(t)
	return found
}

// TestStartSkipsDamagedSnapshots: a start uses an older snapshot or the log alone, logs an error
// and moves the damaged file.
func TestStartSkipsDamagedSnapshots(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]int{"the newest": 1, "both": 2} {
		t.Run(name, func(t *testing.T) {
			x := start(t, newTestDir(t, baseConfig))
			first := x.mustSell(leadBody(1), "Idempotency-Key", "k")
			x = x.restart()
			x.mustSell(leadBody(2))
			x.stop()
			found := snapshotFiles(t, x.dataDir())
			if len(found) != 2 {
				t.Fatalf("want two snapshots, got %v", found)
			}
			for _, path := range found[2-bad:] {
				flipByte(t, path, 30)
			}
			before := len(x.logged.String())
			y := start(t, x.testDir)
			y.ingest(leadBody(1), "Idempotency-Key", "k").mustBeReplayOf(t, first)
			if n := y.state.LeadCountWithExpired(); n != 2 {
				t.Errorf("%d leads", n)
			}
			if lines := x.logged.String()[before:]; strings.Count(lines, "moved an invalid snapshot to damage") != bad || !strings.Contains(lines, "level=ERROR") {
				t.Errorf("start logged %s", lines)
			}
			if left := snapshotFiles(t, y.dataDir()); len(left) != 2-bad {
				t.Errorf("remaining snapshots: %v", left)
			}
			moved, err := filepath.Glob(filepath.Join(y.dataDir(), "damage", "*.bad"))
			if err != nil || len(moved) != bad {
				t.Errorf("files in damage: %v, %v", moved, err)
			}
		})
	}
}

// TestTrimmedLogNeedsSnapshot: if the log's beginning is gone and no snapshot is good, the error
// says so, with each snapshot's problem. It does not call the log damaged.
func TestTrimmedLogNeedsSnapshot(t *testing.T) {
	t.Parallel()
	dir := newSegmentedLog(t)
	if err := (&replayStart{}).checkReplayIsPossible(dir); err != nil {
		t.Errorf("log that begins with entry 1: %v", err)
	}
	removeFile(t, segmentPath(dir, 1))
	bad := snapshotFiles(t, dir)[0]
	flipByte(t, bad, 30)
	snapshot, replay, err := findReplayStart(dir)
	if snapshot != nil || err != nil || len(replay.bad) != 1 {
		t.Fatalf("want one bad snapshot, got %+v, %v", replay, err)
	}
	p := newTestDir(t, baseConfig)
	must.Succeed(t, os.Rename(dir, p.dataDir()))
	bad = snapshotFiles(t, p.dataDir())[0]
	_, err = Start(p.configPath(), Options{Env: env, Logger: p.logger()})
	for _, want := range []string{"no snapshot in", "begins only with entry 4", "checksum", bad, "backup"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %q: %v", want, err)
		}
	}
	if errors.Is(err, wal.ErrDamaged) || strings.Contains(err.Error(), "log accept") {
		t.Errorf("error calls the log damaged: %v", err)
	}
	if len(snapshotFiles(t, p.dataDir())) != 1 {
		t.Error("the failed start changed the folder")
	}
}
