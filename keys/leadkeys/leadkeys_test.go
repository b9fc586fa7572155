package leadkeys

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// TestNextFileIsPreparedAhead checks the prepared files, their permissions and the first key.
func TestNextFileIsPreparedAhead(t *testing.T) {
	dir := t.TempDir()
	s, messages := openWithFaults(t, dir, 0, testFaults{})
	if got := keyFileNames(t, dir); !slices.Equal(got, []string{fileName(1)}) {
		t.Errorf("files of a new store: %q", got)
	}
	slot, key := mustNext(t, s)
	for range makeNextAfter {
		mustNext(t, s)
	}
	eventually(t, "the next file is prepared", func() bool {
		return slices.Equal(keyFileNames(t, dir), []string{fileName(1), fileName(PerFile + 1)})
	})
	if slot != 1 || key != keyOnDisk(t, dir, 1) || key == (Key{}) {
		t.Errorf("first slot %d has the key %x, on disk %x", slot, key[:4], keyOnDisk(t, dir, 1))
	}
	for path, want := range map[string]os.FileMode{"keys": 0o700 | os.ModeDir, "keys/leads": 0o700 | os.ModeDir, "keys/leads/" + fileName(1): 0o600} {
		if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode() != want || !info.IsDir() && info.Size() != fileSize {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	if len(messages.messages) != 0 {
		t.Errorf("unexpected messages %q", messages.messages)
	}
}

func TestSlotsContinueAcrossFiles(t *testing.T) {
	dir, highest := newAlmostUsedFolder(t)
	s, _ := openWithFaults(t, dir, highest, testFaults{})
	seen := map[Key]bool{}
	for want := uint64(PerFile - 2); want < PerFile+4; want++ {
		slot, key := mustNext(t, s)
		if slot != want || seen[key] || key != keyOnDisk(t, dir, slot) {
			t.Errorf("slot %d, want %d; duplicate key: %t", slot, want, seen[key])
		}
		seen[key] = true
	}
}

func TestConcurrentCallersGetDifferentSlots(t *testing.T) {
	dir, highest := newAlmostUsedFolder(t)
	s, _ := openWithFaults(t, dir, highest-500, testFaults{})
	const callers, each = 8, 200
	got := make(chan uint64, callers*each)
	for range callers {
		go func() {
			for range each {
				slot, _ := mustNext(t, s)
				got <- slot
			}
		}()
	}
	seen := map[uint64]bool{}
	for range callers * each {
		slot := <-got
		if seen[slot] {
			t.Fatalf("slot %d is returned twice", slot)
		}
		seen[slot] = true
	}
}

// TestSlotsStayUniqueAcrossRestarts: with random logged slots and restarts, no two log entries have
// the same slot, and each restart can decrypt all data.
func TestSlotsStayUniqueAcrossRestarts(t *testing.T) {
	dir, highest := newAlmostUsedFolder(t)
	highest -= 100
	logged := map[uint64][]byte{}
	random := rand.New(rand.NewPCG(1, 2))
	for run := range 60 {
		withKeyStore(t, dir, highest, func(s *KeyStore) {
			for range random.IntN(12) {
				slot, key := mustNext(t, s)
				if random.IntN(2) == 0 {
					continue // not logged
				}
				if logged[slot] != nil {
					t.Fatalf("run %d: slot %d is already in the log", run, slot)
				}
				logged[slot] = Seal(nil, slot, &key, owner(slot), []byte("a person"))
				highest = max(highest, slot)
			}
			for slot, sealed := range logged {
				if plain, err := s.Open(nil, slot, owner(slot), sealed); err != nil || string(plain) != "a person" {
					t.Fatalf("run %d, slot %d: %q, %v", run, slot, plain, err)
				}
			}
		})
	}
	if highest <= PerFile {
		t.Errorf("the test did not reach the second file: highest slot %d", highest)
	}
}

// TestMissingFileIsSkippedAndCanBeRestored: the store continues in the next file and does not
// replace the missing one.
func TestMissingFileIsSkippedAndCanBeRestored(t *testing.T) {
	dir := t.TempDir()
	var key Key
	withKeyStore(t, dir, 0, func(s *KeyStore) { _, key = mustNext(t, s) })
	sealed := Seal(nil, 1, &key, owner(1), []byte("a person"))
	path, moved := filepath.Join(dir, "keys", "leads", fileName(1)), filepath.Join(dir, "moved")
	must.Succeed(t, os.Rename(path, moved))
	s, _ := openWithFaults(t, dir, 1, testFaults{})
	if slot, _ := mustNext(t, s); slot != PerFile+1 {
		t.Errorf("next slot is %d, want the first of the next file", slot)
	}
	if _, err := s.Open(nil, 1, owner(1), sealed); err == nil || errors.Is(err, ErrErased) || !strings.Contains(err.Error(), fileName(1)) || !strings.Contains(err.Error(), "backup") {
		t.Errorf("Open with a missing file: %v", err)
	}
	if err := s.Erase([]uint64{1}); err != nil {
		t.Errorf("Erase of a missing key: %v", err)
	}
	must.Succeed(t, os.Rename(moved, path))
	if plain, err := s.Open(nil, 1, owner(1), sealed); err != nil || string(plain) != "a person" {
		t.Errorf("after the restore: %q, %v", plain, err)
	}
}

// TestFileOfWrongSizeIsRejected also checks that Open does not overwrite the file.
func TestFileOfWrongSizeIsRejected(t *testing.T) {
	dir := t.TempDir()
	withKeyStore(t, dir, 0, func(*KeyStore) {})
	path := filepath.Join(dir, "keys", "leads", fileName(1))
	for _, size := range []int64{0, fileSize - 1, fileSize + 1} {
		must.Succeed(t, os.Truncate(path, size))
		s, err := OpenKeyStore(dir, 0, sumKey, func(string, error) {})
		if err == nil {
			s.Close()
			t.Fatalf("a file of %d bytes is accepted", size)
		}
		if !strings.Contains(err.Error(), "backup") {
			t.Error(err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() != size {
			t.Errorf("Open changed the file: %v, %v", info, err)
		}
	}
}

func TestOpenFailsWithoutFolder(t *testing.T) {
	dir := t.TempDir()
	must.Succeed(t, os.WriteFile(filepath.Join(dir, "keys"), nil, 0o600))
	if _, err := OpenKeyStore(dir, 0, sumKey, nil); err == nil {
		t.Error("Open returns no error")
	}
}
