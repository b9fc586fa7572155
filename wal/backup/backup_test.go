package backup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pingpost/wal"

	"pingpost/internal/must"
)

// The test backs up in steps, with snapshots and deleted history, and restores every entry
// by its number and by its time.
func TestEveryEntryCanBeRestored(t *testing.T) {
	full, recipient := identity(t)
	for _, key := range []struct {
		name         string
		read, writes *Key
	}{{"encrypted", full, recipient}, {"unencrypted", nil, nil}} {
		t.Run(key.name, func(t *testing.T) {
			s := newSite(t, t.TempDir())
			to := newDir(t, t.TempDir())
			shipper := shipping(t, s, small(to, key.writes))
			for range 12 {
				s.many(5)
				if len(s.entries)%2 == 0 {
					s.snapshot(uint64(len(s.entries)) - 3)
					s.archive(uint64(max(1, len(s.entries)-15)))
				}
				s.file(fmt.Sprintf("catalogs/%d.json", len(s.entries)), "{}")
				must.Succeed(t, shipper.ShipAll(t.Context()))
			}
			step := uint64(1)
			if testing.Short() {
				step = 3 // no divisor of the ten entries between two snapshots, so each place is tried
			}
			for seq := uint64(1); seq <= uint64(len(s.entries)); seq += step {
				for _, at := range []RestorePoint{{Seq: seq}, {Time: time.Unix(0, s.entries[seq-1].At)}} {
					dir, done := restored(t, to, key.read, s, RestoreOptions{At: at, Dir: filepath.Join(t.TempDir(), "data"), Drill: true})
					want := seq
					for at.Seq == 0 && int(want) < len(s.entries) && s.entries[want].At == s.entries[seq-1].At {
						want++ // the whole batch
					}
					if done.Seq != want || done.Epoch != 1 {
						t.Fatalf("%s: restored to %+v", at, done)
					}
					log := must.Value(wal.Open(dir, wal.Options{}))(t)
					log.Close()
				}
			}
			check(t, NewRepository(to, key.read), 1)
		})
	}
}

// check verifies all generations.
func check(t *testing.T, r *Repository, generations int) []GenerationCheck {
	t.Helper()
	found, err := r.Verify(t.Context(), 0)
	if err != nil || len(found.Checks) != generations {
		t.Fatalf("%+v, %v, want %d generations", found, err, generations)
	}
	if len(found.Problems)+len(found.Notes) > 0 {
		t.Errorf("fences: %v, %q", found.Problems, found.Notes)
	}
	if none, err := r.Verify(t.Context(), 99); err == nil || !strings.Contains(err.Error(), "no generation 99") {
		t.Errorf("one that is not there: %v, %v", none, err)
	}
	for _, c := range found.Checks {
		if !c.OK() {
			t.Errorf("generation %d: %v", c.Number, c.Problems)
		}
	}
	return found.Checks
}

// A second run ships only new entries.
func TestOnlyWhatIsNewIsShipped(t *testing.T) {
	s := newSite(t, t.TempDir())
	s.many(50)
	s.snapshot(40)
	s.file("lists/a", strings.Repeat("x", 1000))
	to := &flaky{Store: newDir(t, t.TempDir())}
	ship(t, s, small(to, nil)).Close()
	if to.bytes < 3000 {
		t.Errorf("the first run put %d bytes", to.bytes)
	}
	for _, more := range []int{0, 1, 3} {
		to.bytes = 0
		s.many(more)
		ship(t, s, small(to, nil)).Close()
		if to.bytes > 250+more*400 { // a fence, and the entries, merged or not
			t.Errorf("with %d new entries it put %d bytes", more, to.bytes)
		}
	}
}

// Many small shipments leave few objects.
func TestSmallObjectsAreMerged(t *testing.T) {
	s := newSite(t, t.TempDir())
	to := newDir(t, t.TempDir())
	var shipper *Shipper
	for i := range 60 {
		if i%7 == 0 {
			if shipper != nil {
				shipper.Close()
			}
			shipper = shipping(t, s, small(to, nil))
		}
		s.many(1)
		must.Succeed(t, shipper.ShipAll(t.Context()))
	}
	shipper.Close()
	objects, err := to.List(t.Context(), "gen/0000000001/log")
	if err != nil || len(objects) > 60*80/700+5 {
		t.Errorf("%d objects, %v", len(objects), err)
	}
	restored(t, to, nil, s, RestoreOptions{Dir: filepath.Join(t.TempDir(), "data")})
}

// A new generation begins if the log no longer has the entries after the shipped ones, or
// is in another life.
func TestLogThatCannotBeReached(t *testing.T) {
	for what, happens := range map[string]func(s *site){
		"its history has gone on": func(s *site) {
			s.many(60)
			s.snapshot(75)
			s.archive(75)
			for {
				segments, err := wal.Segments(s.dir)
				if err != nil || len(segments) < 2 || segments[1].First > 75 {
					break // all is gone that may go: no more of it is missed while the rest is shipped
				}
				time.Sleep(time.Millisecond)
			}
		},
		"a loss was accepted": func(s *site) {
			s.close()
			s.entries = s.entries[:15]
			s.must(wal.WriteEpoch(s.dir, 2))
			cut(s)
			s.open()
			s.many(10)
		},
	} {
		t.Run(what, func(t *testing.T) {
			s := newSite(t, t.TempDir())
			to := newDir(t, t.TempDir())
			s.many(20)
			ship(t, s, small(to, nil)).Close()
			happens(s)
			ship(t, s, small(to, nil)).Close()
			_, done := restored(t, to, nil, s, RestoreOptions{Dir: filepath.Join(t.TempDir(), "data")})
			if done.Generation != 2 || done.Seq != uint64(len(s.entries)) {
				t.Errorf("restored %+v", done)
			}
			check(t, NewRepository(to, nil), 2)
		})
	}
}

// cut rewrites a closed log with the remaining entries.
func cut(s *site) {
	s.t.Helper()
	s.must(os.RemoveAll(filepath.Join(s.dir, "log")))
	b := must.Value(wal.NewRebuilder(s.dir, 1))(s.t)
	for i := range s.entries {
		s.must(b.Append(&s.entries[i]))
	}
	s.must(b.Close(2))
}

// A snapshot that is damaged or cannot be read does not stop the shipping of the log and of the next
// snapshot.
func TestUnusableSnapshotStopsNothing(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"damaged": func(path string) error {
			content, err := os.ReadFile(path)
			content[30] ^= 1
			return errors.Join(err, os.WriteFile(path, content, 0o600))
		},
		"unreadable": func(path string) error { return errors.Join(os.Remove(path), os.Symlink(filepath.Dir(path), path)) }, // a read fails: it is a folder
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, t.TempDir())
			s.many(5)
			s.snapshot(4)
			infos := must.Value(wal.ListSnapshotFiles(s.dir))(t)
			must.Succeed(t, spoil(infos[0].Path))
			s.many(5)
			s.snapshot(9)
			to := newDir(t, t.TempDir())
			ship(t, s, small(to, nil))
			check(t, NewRepository(to, nil), 1)
			_, done := restored(t, to, nil, s, RestoreOptions{Dir: filepath.Join(t.TempDir(), "data")})
			if done.Seq != 10 || done.Snapshot != 10 {
				t.Errorf("restored %+v, want entry 10 and its snapshot", done)
			}
		})
	}
}

// A second shipper for the same folder and place gets ErrLocked.
func TestOneFolderOnePlaceOneShipper(t *testing.T) {
	s := newSite(t, t.TempDir())
	to, other := newDir(t, t.TempDir()), newDir(t, t.TempDir())
	shipping(t, s, small(to, nil))
	if _, err := NewShipper(SourceFromFolder(s.dir), small(to, nil)); !errors.Is(err, wal.ErrLocked) {
		t.Errorf("a second one: %v", err)
	}
	shipping(t, s, small(other, nil))
}

func TestNothingToBackUp(t *testing.T) {
	dir := t.TempDir()
	shipper := must.Value(NewShipper(SourceFromFolder(dir), small(newDir(t, t.TempDir()), nil)))(t)
	defer shipper.Close()
	if err := shipper.ShipAll(t.Context()); err == nil || !strings.Contains(err.Error(), "the first start of an exchange creates it") {
		t.Errorf("an empty folder: %v", err)
	}
	must.Succeed(t, os.MkdirAll(filepath.Join(dir, "keys"), 0o700))
	must.Succeed(t, os.WriteFile(filepath.Join(dir, "keys", exchangeKey), []byte("key"), 0o600))
	if err := shipper.ShipAll(t.Context()); err == nil || !strings.Contains(err.Error(), "no log") {
		t.Errorf("a key alone: %v", err)
	}
}

func TestLogReadErrorSaysOnceWhatFailed(t *testing.T) {
	s := newSite(t, t.TempDir())
	s.put("lead")
	shipper := shipping(t, s, small(newDir(t, t.TempDir()), nil))
	must.Succeed(t, shipper.ShipAll(t.Context()))
	shipper.reader.Close()
	shipper.reader = nil
	shipper.src.NewReader = func(uint64) (*wal.Reader, error) { return nil, errFlaky }
	err := shipper.ShipAll(t.Context())
	if !errors.Is(err, errFlaky) || strings.Count(err.Error(), "to back it up") != 1 {
		t.Errorf("%v", err)
	}
}
