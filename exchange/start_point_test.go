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

// segments makes a log of ten entries in segments that begin with 1, 4, 7 and 10,
// and a snapshot behind entry 6.
func segments(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	log := must.Value(wal.Open(dir, wal.Options{SegmentSize: 3 * 47, MaxBatch: 1}))(t)
	for i := range 10 {
		must.Succeed(t, log.Append(fmt.Appendf(nil, "%06d", i), nil))
	}
	must.Succeed(t, log.Close())
	found, err := wal.Segments(dir)
	if err != nil || len(found) != 4 || found[2].First != 7 {
		t.Fatalf("%+v, %v", found, err)
	}
	w := must.Value(wal.CreateSnapshot(dir, wal.SnapshotOptions{}))(t)
	must.Value(w.Commit(6, 6, nil))(t)
	return dir
}

func segment(dir string, first int) string {
	return filepath.Join(dir, "log", fmt.Sprintf("%020d", first))
}

// flip damages a file at one byte; at counts from the end where it is negative.
func flip(t testing.TB, path string, at int) {
	t.Helper()
	data := must.Value(os.ReadFile(path))(t)
	if at < 0 {
		at += len(data)
	}
	data[at] ^= 1
	must.Succeed(t, os.WriteFile(path, data, 0o600))
}

func remove(t testing.TB, path string) {
	t.Helper()
	must.Succeed(t, os.Remove(path))
}

// TestAcceptLossJudgesAsAStartDoes: from the newest good snapshot on.
func TestAcceptLossJudgesAsAStartDoes(t *testing.T) {
	for name, row := range map[string]struct {
		harm func(t *testing.T, dir string)
		last uint64 // that the log ends with; 0: there is nothing to accept
		says string // what a refusal says
	}{
		"nothing":     {func(*testing.T, string) {}, 0, ""},
		"old rot":     {func(t *testing.T, dir string) { flip(t, segment(dir, 1), -1) }, 0, ""},
		"in the tail": {func(t *testing.T, dir string) { flip(t, segment(dir, 7), -1) }, 8, ""},
		"old rot and in the tail": {func(t *testing.T, dir string) {
			flip(t, segment(dir, 1), -1)
			flip(t, segment(dir, 7), -1)
		}, 8, ""},
		"trimmed history and in the tail": {func(t *testing.T, dir string) {
			remove(t, segment(dir, 1))
			flip(t, segment(dir, 7), -1)
		}, 8, ""},
		"it ends before the snapshot": {func(t *testing.T, dir string) {
			for _, first := range []int{4, 7, 10} {
				remove(t, segment(dir, first))
			}
		}, 3, ""},
		"it ends before the only snapshot, and begins late": {func(t *testing.T, dir string) {
			for _, first := range []int{1, 7, 10} {
				remove(t, segment(dir, first))
			}
			flip(t, segment(dir, 4), -1)
		}, 0, "log not changed"},
		"no good snapshot, and it begins late": {func(t *testing.T, dir string) {
			remove(t, segment(dir, 1))
			flip(t, snapshots(t, dir)[0], 30)
		}, 0, "no snapshot"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := segments(t)
			row.harm(t, dir)
			loss, err := AcceptLoss(dir, logger)
			if row.says != "" {
				if err == nil || !strings.Contains(err.Error(), row.says) || !strings.Contains(err.Error(), "backup") {
					t.Errorf("%+v, %v", loss, err)
				}
				return
			}
			if err != nil || (loss.Damage != nil) != (row.last != 0) || row.last != 0 && loss.Last != row.last {
				t.Fatalf("%+v, %v", loss, err)
			}
			_, b, err := findReplayStart(dir)
			must.Succeed(t, err)
			log := must.Value(wal.Open(dir, b.logOptions()))(t)
			log.Close()
		})
	}
}

func snapshots(t testing.TB, data string) []string {
	t.Helper()
	found := must.Value(filepath.Glob(filepath.Join(data, "snapshot", "*.snap")))(t)
	return found
}

// TestDamagedSnapshots: a start goes on with an older one, or with the log alone,
// says so as an error, and takes the bad file out of the way.
func TestDamagedSnapshots(t *testing.T) {
	for name, bad := range map[string]int{"the newest": 1, "both": 2} {
		t.Run(name, func(t *testing.T) {
			x := start(t, newPlace(t, recorded))
			first := x.sold(lead(1), "Idempotency-Key", "k")
			x = x.again()
			x.sold(lead(2))
			x.stop()
			found := snapshots(t, x.data())
			if len(found) != 2 {
				t.Fatal(found)
			}
			for _, path := range found[2-bad:] {
				flip(t, path, 30)
			}
			before := len(spoken.String())
			y := start(t, x.place)
			y.ingest(lead(1), "Idempotency-Key", "k").isReplayOf(t, first)
			if n := y.state.LeadCount(); n != 2 {
				t.Errorf("%d leads", n)
			}
			if said := spoken.String()[before:]; strings.Count(said, "moved an invalid snapshot to damage") != bad || !strings.Contains(said, "level=ERROR") {
				t.Errorf("said %s", said)
			}
			if left := snapshots(t, y.data()); len(left) != 2-bad {
				t.Errorf("left: %v", left)
			}
			kept, err := filepath.Glob(filepath.Join(y.data(), "damage", "*.bad"))
			if err != nil || len(kept) != bad {
				t.Errorf("kept: %v, %v", kept, err)
			}
		})
	}
}

// TestNoSnapshotForAShortLog: where the log's beginning has gone and no snapshot is
// good, that is what is said, with what is wrong with each; and not that the log
// is damaged, or may be cut.
func TestNoSnapshotForAShortLog(t *testing.T) {
	dir := segments(t)
	if err := (&replayStart{}).checkReplayIsPossible(dir); err != nil {
		t.Errorf("the log begins with entry 1: %v", err)
	}
	remove(t, segment(dir, 1))
	bad := snapshots(t, dir)[0]
	flip(t, bad, 30)
	snapshot, b, err := findReplayStart(dir)
	if snapshot != nil || err != nil || len(b.bad) != 1 {
		t.Fatalf("%+v, %v", b, err)
	}
	p := newPlace(t, recorded)
	must.Succeed(t, os.Rename(dir, p.data()))
	bad = snapshots(t, p.data())[0]
	_, err = Start(p.config(), Options{Env: env, Logger: logger})
	for _, want := range []string{"no snapshot in", "begins only with entry 4", "checksum", bad, "backup"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("not a word of %q: %v", want, err)
		}
	}
	if errors.Is(err, wal.ErrDamaged) || strings.Contains(err.Error(), "log accept") {
		t.Error(err)
	}
	if len(snapshots(t, p.data())) != 1 {
		t.Error("the folder was changed")
	}
}
