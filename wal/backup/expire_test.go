package backup

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pingpost/wal"

	"pingpost/internal/must"
)

// The test simulates days with entries, snapshots and deleted history. Every moment within
// the retention period stays restorable.
func TestRetention(t *testing.T) {
	s := newSite(t, t.TempDir())
	to := newDir(t, t.TempDir())
	opt := small(to, nil)
	opt.now = func() time.Time { return time.Unix(0, s.clock) }
	opt.Retain = 72 * time.Hour
	ends := map[int]uint64{} // last entry of a day
	var most int
	for day := 1; day <= 12; day++ {
		s.clock += int64(24 * time.Hour)
		s.many(30)
		s.snapshot(uint64(len(s.entries)) - 2)
		s.archive(uint64(max(1, len(s.entries)-40))) // history is a good day
		ends[day] = uint64(len(s.entries))
		if day == 5 { // another life, so another generation
			s.close()
			s.must(wal.WriteEpoch(s.dir, 2))
			s.open()
		}
		ship(t, s, opt).Close()
		objects := must.Value(to.List(t.Context(), genFolder))(s.t)
		most = max(most, len(objects))
		for before := range 3 {
			if end, known := ends[day-before]; known {
				_, done := restored(t, to, nil, s, RestoreOptions{At: RestorePoint{Seq: end}, Dir: filepath.Join(t.TempDir(), "data"), Drill: true})
				if done.Seq != end {
					t.Fatalf("day %d: entry %d of %d days ago was restored as %d", day, end, before, done.Seq)
				}
			}
		}
		if day > 3 { // the very first moment that is retained
			at := RestorePoint{Time: opt.now().Add(-opt.Retain)}
			_, done := restored(t, to, nil, s, RestoreOptions{At: at, Dir: filepath.Join(t.TempDir(), "data"), Drill: true})
			if s.entries[done.Seq-1].At > at.Time.UnixNano() || s.entries[done.Seq].At <= at.Time.UnixNano() {
				t.Fatalf("day %d: %s was restored as entry %d", day, at, done.Seq)
			}
		}
		check(t, NewRepository(to, nil), map[bool]int{true: 2, false: 1}[day >= 5 && day < 8])
	}
	objects := must.Value(to.List(t.Context(), genFolder))(s.t)
	if len(objects) > most*2/3 {
		t.Errorf("%d objects are left of %d", len(objects), most)
	}
	if _, err := NewRepository(to, nil).Restore(t.Context(), RestoreOptions{At: RestorePoint{Seq: ends[2]}, Dir: filepath.Join(t.TempDir(), "data"), Drill: true}); err == nil {
		t.Error("what is past its retention could be restored")
	}
}

// After failed removals, merged small objects and partly trimmed log objects are removed
// later like other old objects. They count as no gap, and no new generation begins.
func TestRetentionAfterRemovalsThatFailed(t *testing.T) {
	s := newSite(t, t.TempDir())
	down := 0
	to := &flaky{Store: newDir(t, t.TempDir()), fails: func(_ int, kind, name string) (int, error) {
		if kind == "delete" && strings.Contains(name, "/log/") {
			down++
			return 0, map[bool]error{false: errFlaky}[down%3 == 1]
		}
		return 0, nil
	}}
	opt := small(to, nil)
	opt.now = func() time.Time { return time.Unix(0, s.clock) }
	for day := range 8 {
		s.clock += int64(24 * time.Hour)
		if day == 6 {
			opt.Retain = 72 * time.Hour
		}
		for range 10 {
			s.many(3)
			shipper := shipping(t, s, opt)
			if err := shipper.ShipAll(t.Context()); err != nil && !errors.Is(err, errFlaky) {
				t.Fatal(err)
			}
			shipper.Close()
		}
		s.snapshot(uint64(len(s.entries)) - 2)
		s.archive(uint64(max(1, len(s.entries)-40)))
	}
	to.fails = nil
	for range 2 {
		s.many(1)
		ship(t, s, opt).Close()
	}
	all := must.Value(NewRepository(to, nil).Generations(t.Context()))(s.t)
	if len(all) != 1 || all[0].Gaps != 0 {
		t.Errorf("generations: %+v", all)
	}
	if first := all[0].First; s.entries[first-1].At < opt.now().Add(-5*24*time.Hour).UnixNano() {
		t.Errorf("it goes back to entry %d of %d", first, len(s.entries))
	}
	check(t, NewRepository(to, nil), 1)
}
