package leadkeys

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"pingpost/internal/must"
)

var errFull = errors.New("no space left on device")

// While no file can be made, the prepared keys are used up and then Next fails at once. No
// partial file stays, the error is logged once, and the store continues when there is
// space.
func TestFullDisk(t *testing.T) {
	for name, fault := range map[string]func(f *testFaults, fail func() error){
		"write": func(f *testFaults, fail func() error) { f.write = fail },
		"sync":  func(f *testFaults, fail func() error) { f.sync = fail },
	} {
		t.Run(name, func(t *testing.T) {
			dir, highest := nearTheEnd(t)
			var full atomic.Bool
			var f testFaults
			fault(&f, func() error {
				if full.Load() {
					return errFull
				}
				return nil
			})
			s, heard := begin(t, dir, highest, f)
			eventually(t, "one file is ahead", func() bool { return slices.Contains(files(t, dir), nameOf(PerFile+1)) })
			full.Store(true)
			for range PerFile + 3 {
				take(t, s)
			}
			var key Key
			for range 3 {
				if _, err := s.Next(&key); !errors.Is(err, ErrBusy) {
					t.Fatalf("a key from nowhere: %v", err)
				}
			}
			eventually(t, "it is told", func() bool { return heard.times(makeFailed) == 1 })
			if got := files(t, dir); slices.Contains(got, nameOf(2*PerFile+1)) || slices.Contains(got, temporaryName) {
				t.Errorf("there is %q", got)
			}
			full.Store(false)
			if slot, _ := take(t, s); slot != 2*PerFile+1 {
				t.Errorf("it goes on with slot %d", slot)
			}
			eventually(t, "that is told too", func() bool { return heard.times(makeRecovered) == 1 })
			if heard.times(makeFailed) != 1 {
				t.Errorf("%q", heard.said)
			}
		})
	}
}

// A start on a full disk succeeds without keys. Keys come when there is space.
func TestFullDiskAtAStart(t *testing.T) {
	var full atomic.Bool
	full.Store(true)
	s, heard := begin(t, t.TempDir(), 0, testFaults{write: func() error {
		if full.Load() {
			return errFull
		}
		return nil
	}})
	var key Key
	if _, err := s.Next(&key); !errors.Is(err, ErrBusy) || heard.times(makeFailed) == 0 {
		t.Fatalf("%v, told %q", err, heard.said)
	}
	full.Store(false)
	if slot, _ := take(t, s); slot != 1 {
		t.Errorf("slot %d", slot)
	}
}

// A file that a crash left incomplete is not used as a key file and blocks no new one.
func TestCrashWhileMaking(t *testing.T) {
	dir := t.TempDir()
	once(t, dir, 0, func(*KeyStore) {})
	half := filepath.Join(dir, "keys", "leads", temporaryName)
	must.Succeed(t, os.WriteFile(half, make([]byte, fileSize/2), 0o600))
	must.Succeed(t, os.Remove(filepath.Join(dir, "keys", "leads", nameOf(1))))
	s, _ := begin(t, dir, 0, testFaults{})
	if slot, key := take(t, s); slot != 1 || key != onDisk(t, dir, 1) {
		t.Errorf("slot %d", slot)
	}
	eventually(t, "it is gone", func() bool { return !slices.Contains(files(t, dir), temporaryName) })
}

// Files that are used up within seconds have more than one prepared successor, up to the
// limit.
func TestMoreAheadWhereTakenFast(t *testing.T) {
	s, _ := begin(t, t.TempDir(), 0, testFaults{})
	most := 0
	for range 6 * PerFile {
		take(t, s)
		s.mu.Lock()
		most = max(most, len(s.ahead))
		s.mu.Unlock()
	}
	eventually(t, "more than one lies ready", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		most = max(most, len(s.ahead))
		return most > 1
	})
	if most > maxAhead {
		t.Errorf("%d files lay ready", most)
	}
}
