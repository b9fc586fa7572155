package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/wal"
	"pingpost/wal/backup/store"

	"pingpost/internal/must"
)

// After any temporary failure of the store the backup becomes complete, and it stays
// restorable meanwhile.
func TestFlakyStores(t *testing.T) {
	every := func(n, leaves int, kinds string) func(int, string, string) (int, error) {
		return func(op int, kind, _ string) (int, error) {
			if op%n == 0 && strings.Contains(kinds, kind) {
				return leaves, errFlaky
			}
			return 0, nil
		}
	}
	for what, fails := range map[string]func(op int, kind, name string) (int, error){
		"every other request fails":        every(2, 0, "put create get list delete"),
		"puts fail":                        every(3, 0, "put create"),
		"puts succeed and say they failed": every(3, 1<<20, "put create"),
		"puts leave half an object":        every(3, 40, "put"),
		"puts leave an empty object":       every(2, 0, "put"),
		"listings fail":                    every(2, 0, "list"),
		"gets fail":                        every(2, 0, "get"),
		"deletes fail":                     every(2, 0, "delete"),
		"manifests alone fail": func(op int, kind, name string) (int, error) {
			if strings.Contains(name, "/whole-") && op%3 > 0 {
				return 5, errFlaky
			}
			return 0, nil
		},
	} {
		t.Run(what, func(t *testing.T) {
			s := newSite(t, t.TempDir())
			to := &flaky{Store: newDir(t, t.TempDir()), fails: fails}
			failed := 0
			var shipper *Shipper
			for round := range 6 {
				if round%2 == 0 {
					if shipper != nil {
						shipper.Close()
					}
					shipper = shipping(t, s, small(to, nil))
				}
				s.many(6)
				s.snapshot(uint64(len(s.entries)) - 2)
				for range 100 {
					err := shipper.ShipAll(t.Context())
					if err == nil {
						break
					}
					if failed++; !errors.Is(err, errFlaky) {
						t.Fatal(err)
					}
				}
			}
			if failed == 0 {
				t.Error("the store never failed")
			}
			shipper.Close()
			to.fails = nil
			ship(t, s, small(to, nil)).Close()
			checkEnd(t, to, s)
		})
	}
}

// checkEnd verifies the backup and restores the last entry.
func checkEnd(t *testing.T, from store.Store, s *site) {
	t.Helper()
	for _, c := range check(t, NewRepository(from, nil), 1) {
		if n := uint64(len(s.entries)); c.Last != n || c.Entries != n || !c.Whole {
			t.Errorf("of %d entries there are %d, the last is %d", n, c.Entries, c.Last)
		}
	}
	restored(t, from, nil, s, RestoreOptions{Dir: filepath.Join(t.TempDir(), "data"), Drill: true})
}

// Lag is the time that a lost disk would cost. The last error stays until everything is
// shipped.
func TestStatus(t *testing.T) {
	s := newSite(t, t.TempDir())
	s.many(3)
	down := true
	to := &flaky{Store: newDir(t, t.TempDir())}
	to.fails = func(_ int, kind, _ string) (int, error) {
		if down && kind == "put" {
			return 0, errFlaky
		}
		return 0, nil
	}
	clock := time.Unix(1000, 0)
	opt := small(to, nil)
	opt.now = func() time.Time { return clock }
	shipper := shipping(t, s, opt)
	clock = clock.Add(7 * time.Second)
	if _, err := shipper.ShipOnce(t.Context()); !errors.Is(err, errFlaky) {
		t.Fatal(err)
	}
	if got := shipper.Status(); got.LagEntries != 3 || got.Lag != 7*time.Second || !got.LastSuccess.IsZero() {
		t.Errorf("while it is down: %+v", got)
	}
	down = false
	if caughtUp, err := shipper.ShipOnce(t.Context()); err != nil || !caughtUp {
		t.Fatal(caughtUp, err)
	}
	if got := shipper.Status(); got.LagEntries != 0 || got.Lag != 0 || !got.LastSuccess.Equal(clock) || got.Shipped != 3 {
		t.Errorf("when all is shipped: %+v", got)
	}
	clock = clock.Add(time.Hour)
	if got := shipper.Status(); got.Lag != 0 {
		t.Errorf("while nothing happens: %+v", got)
	}
	s.many(2)
	clock = clock.Add(time.Second)
	if got := shipper.Status(); got.LagEntries != 2 || got.Lag <= 0 {
		t.Errorf("behind: %+v", got)
	}
}

// Run counts errors and continues when the store works again.
func TestRunGoesOnAfterErrors(t *testing.T) {
	s := newSite(t, t.TempDir())
	s.many(3)
	to := &flaky{Store: newDir(t, t.TempDir()), fails: func(op int, _, _ string) (int, error) {
		if op <= 2 {
			return 0, errFlaky
		}
		return 0, nil
	}}
	shipper := shipping(t, s, small(to, nil))
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- shipper.Run(ctx) }()
	for shipper.Status().Shipped < 3 {
		time.Sleep(time.Millisecond)
	}
	if got := shipper.Status(); got.Errors == 0 {
		t.Errorf("no error was counted: %+v", got)
	}
	s.many(4)
	for shipper.Status().Shipped < 7 {
		time.Sleep(time.Millisecond)
	}
	end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// The test runs random operations on a log and its backup, and interrupts shipping at any
// request to the store. Shipped entries stay restorable at every moment, and all entries
// once the store works.
func TestEveryHistory(t *testing.T) {
	base := t.TempDir()
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		place := filepath.Join(base, fmt.Sprint(run))
		s := newSite(t, filepath.Join(place, "data"))
		defer func() { s.close() }()
		to := &flaky{Store: newDir(t, filepath.Join(place, "store"))}
		opt := small(to, nil)
		shipper := shipping(t, s, opt)
		defer func() { shipper.Close() }()
		restores := 0
		restore := func(seq int) {
			restores++
			dir := filepath.Join(place, fmt.Sprint("restored", restores))
			_, done := restored(t, to.Store, nil, s, RestoreOptions{At: RestorePoint{Seq: uint64(seq)}, Dir: dir, Drill: true})
			if done.Seq != uint64(seq) {
				t.Fatalf("entry %d was restored as %d", seq, done.Seq)
			}
		}
		shipped := 0
		t.Repeat(map[string]func(*rapid.T){
			"log": func(t *rapid.T) { s.many(rapid.IntRange(1, 12).Draw(t, "entries")) },
			"snapshot": func(t *rapid.T) {
				if n := len(s.entries); n > 0 {
					s.snapshot(uint64(rapid.IntRange(max(1, n-5), n).Draw(t, "oldest")))
				}
			},
			"archive": func(t *rapid.T) {
				if infos, err := wal.ListSnapshotFiles(s.dir); err == nil && len(infos) == 2 {
					s.archive(uint64(max(1, int(infos[1].Newest)-6)))
				}
			},
			"list": func(*rapid.T) { s.file(fmt.Sprintf("lists/%d", len(s.entries)), "numbers") },
			"restart the exchange": func(*rapid.T) {
				shipper.Close()
				s.close()
				s.open()
				shipper = shipping(t, s, opt)
			},
			"ship, cut off": func(t *rapid.T) {
				at, leaves := to.ops+rapid.IntRange(1, 25).Draw(t, "request"), rapid.SampledFrom([]int{0, 10, 100, 1 << 20}).Draw(t, "leaves")
				to.fails = func(op int, _, _ string) (int, error) {
					if op >= at {
						return leaves * max(0, at+1-op), errFlaky
					}
					return 0, nil
				}
				if err := shipper.ShipAll(context.Background()); err == nil {
					shipped = len(s.entries)
				} else if !errors.Is(err, errFlaky) {
					t.Fatal(err)
				}
				if shipper.snapshotDone != nil { // its failure would else be the result of a later ShipAll
					if err := shipper.waitForAndRecordSnapshotResult(context.Background()); err != nil && !errors.Is(err, errFlaky) {
						t.Fatal(err)
					}
				}
				to.fails = nil
				if rapid.Bool().Draw(t, "crash") {
					shipper.Close()
					shipper = shipping(t, s, opt)
				}
			},
			"ship": func(t *rapid.T) {
				must.Succeed(t, shipper.ShipAll(context.Background()))
				shipped = len(s.entries)
			},
			"restore": func(t *rapid.T) {
				if shipped > 0 {
					restore(shipped)
				}
			},
			"": func(*rapid.T) {},
		})
		must.Succeed(t, shipper.ShipAll(context.Background()))
		if len(s.entries) > 0 {
			restore(len(s.entries))
		}
	})
}

// An unmounted store folder returns fs.ErrNotExist for each put. The shipper must not take
// this for a missing file of the exchange.
func TestStoreThatIsGone(t *testing.T) {
	for _, part := range []string{"/file/", "/snapshot/"} {
		s := newSite(t, t.TempDir())
		gone := true
		to := &flaky{Store: newDir(t, t.TempDir()), fails: func(_ int, kind, name string) (int, error) {
			if gone && kind == "put" && strings.Contains(name, part) {
				return 0, fmt.Errorf("cannot write %s: %w", name, fs.ErrNotExist)
			}
			return 0, nil
		}}
		s.file("catalogs/1.json", "{}")
		s.many(4)
		s.snapshot(3)
		shipper := shipping(t, s, small(to, nil))
		if err := shipper.ShipAll(t.Context()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s cannot be put: %v", part, err)
		}
		if objects, err := to.List(t.Context(), "gen"); part == "/file/" && (err != nil || len(objects) != 1) {
			t.Errorf("the log went before what it names: %v, %v", objects, err)
		}
		gone = false
		if err := shipper.ShipAll(t.Context()); err != nil {
			t.Error(err)
		}
		checkEnd(t, to, s)
		shipper.Close()
		s.close()
	}
}
