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

// TestFullDiskFailsNextUntilSpaceReturns: Next uses the prepared keys and then fails at once. No
// partial file stays, the error is logged once, and the store continues when there is space.
func TestFullDiskFailsNextUntilSpaceReturns(t *testing.T) {
	for name, fault := range map[string]func(f *testFaults, fail func() error){
		"write": func(f *testFaults, fail func() error) { f.write = fail },
		"sync":  func(f *testFaults, fail func() error) { f.sync = fail },
	} {
		t.Run(name, func(t *testing.T) {
			dir, highest := newAlmostUsedFolder(t)
			var full atomic.Bool
			var f testFaults
			fault(&f, func() error {
				if full.Load() {
					return errFull
				}
				return nil
			})
			s, messages := openWithFaults(t, dir, highest, f)
			eventually(t, "the next file is prepared", func() bool { return slices.Contains(keyFileNames(t, dir), fileName(PerFile+1)) })
			full.Store(true)
			for range PerFile + 3 {
				mustNext(t, s)
			}
			var key Key
			for range 3 {
				if _, err := s.TakeUnusedKey(&key); !errors.Is(err, ErrBusy) {
					t.Fatalf("Next without prepared keys: %v, want ErrBusy", err)
				}
			}
			eventually(t, "the failure is logged", func() bool { return messages.count(makeFailed) == 1 })
			if got := keyFileNames(t, dir); slices.Contains(got, fileName(2*PerFile+1)) || slices.Contains(got, temporaryName) {
				t.Errorf("partial or new files on a full disk: %q", got)
			}
			full.Store(false)
			if slot, _ := mustNext(t, s); slot != 2*PerFile+1 {
				t.Errorf("slot after the failure is %d, want the next file's first", slot)
			}
			eventually(t, "the recovery is logged", func() bool { return messages.count(makeRecovered) == 1 })
			if messages.count(makeFailed) != 1 {
				t.Errorf("messages %q", messages.messages)
			}
		})
	}
}

func TestStartOnFullDisk(t *testing.T) {
	var full atomic.Bool
	full.Store(true)
	s, messages := openWithFaults(t, t.TempDir(), 0, testFaults{write: func() error {
		if full.Load() {
			return errFull
		}
		return nil
	}})
	var key Key
	if _, err := s.TakeUnusedKey(&key); !errors.Is(err, ErrBusy) || messages.count(makeFailed) == 0 {
		t.Fatalf("Next on a full disk: %v, messages %q", err, messages.messages)
	}
	full.Store(false)
	if slot, _ := mustNext(t, s); slot != 1 {
		t.Errorf("slot %d, want 1", slot)
	}
}

// TestPartialFileIsIgnored: a partial file of a crash is not used and does not block a new one.
func TestPartialFileIsIgnored(t *testing.T) {
	dir := t.TempDir()
	withKeyStore(t, dir, 0, func(*KeyStore) {})
	partial := filepath.Join(dir, "keys", "leads", temporaryName)
	must.Succeed(t, os.WriteFile(partial, make([]byte, fileSize/2), 0o600))
	must.Succeed(t, os.Remove(filepath.Join(dir, "keys", "leads", fileName(1))))
	s, _ := openWithFaults(t, dir, 0, testFaults{})
	if slot, key := mustNext(t, s); slot != 1 || key != keyOnDisk(t, dir, 1) {
		t.Errorf("slot %d, want 1", slot)
	}
	eventually(t, "the partial file is removed", func() bool { return !slices.Contains(keyFileNames(t, dir), temporaryName) })
}

// TestFastUsePreparesMoreFiles: fast use prepares more than one file, up to maxAhead.
func TestFastUsePreparesMoreFiles(t *testing.T) {
	s, _ := openWithFaults(t, t.TempDir(), 0, testFaults{})
	maxPrepared := 0
	for range 6 * PerFile {
		mustNext(t, s)
		s.mu.Lock()
		maxPrepared = max(maxPrepared, len(s.ahead))
		s.mu.Unlock()
	}
	eventually(t, "more than one file is prepared", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		maxPrepared = max(maxPrepared, len(s.ahead))
		return maxPrepared > 1
	})
	if maxPrepared > maxAhead {
		t.Errorf("%d files were prepared", maxPrepared)
	}
}
