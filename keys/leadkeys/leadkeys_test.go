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

// A complete private file exists before its first key is used, and the next file is
// prepared.
func TestFilesAreMadeAhead(t *testing.T) {
	dir := t.TempDir()
	s, heard := begin(t, dir, 0, testFaults{})
	if got := files(t, dir); !slices.Equal(got, []string{nameOf(1)}) {
		t.Errorf("at the beginning there is %q", got)
	}
	slot, key := take(t, s)
	for range makeNextAfter {
		take(t, s)
	}
	eventually(t, "one file is ahead", func() bool {
		return slices.Equal(files(t, dir), []string{nameOf(1), nameOf(PerFile + 1)})
	})
	if slot != 1 || key != onDisk(t, dir, 1) || key == (Key{}) {
		t.Errorf("the first slot is %d, its key %x, and %x on the disk", slot, key[:4], onDisk(t, dir, 1))
	}
	for path, want := range map[string]os.FileMode{"keys": 0o700 | os.ModeDir, "keys/leads": 0o700 | os.ModeDir, "keys/leads/" + nameOf(1): 0o600} {
		if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode() != want || !info.IsDir() && info.Size() != fileSize {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	if len(heard.said) != 0 {
		t.Errorf("%q", heard.said)
	}
}

// Slots increase by one, also at the end of a file. Each key is unique and equals the one
// on disk.
func TestKeysGoOnOverFiles(t *testing.T) {
	dir, highest := nearTheEnd(t)
	s, _ := begin(t, dir, highest, testFaults{})
	seen := map[Key]bool{}
	for want := uint64(PerFile - 2); want < PerFile+4; want++ {
		slot, key := take(t, s)
		if slot != want || seen[key] || key != onDisk(t, dir, slot) {
			t.Errorf("slot %d, want %d; its key was seen: %v", slot, want, seen[key])
		}
		seen[key] = true
	}
}

// Concurrent callers get different slots.
func TestManyTakers(t *testing.T) {
	dir, highest := nearTheEnd(t)
	s, _ := begin(t, dir, highest-500, testFaults{})
	const takers, each = 8, 200
	got := make(chan uint64, takers*each)
	for range takers {
		go func() {
			for range each {
				slot, _ := take(t, s)
				got <- slot
			}
		}()
	}
	seen := map[uint64]bool{}
	for range takers * each {
		slot := <-got
		if seen[slot] {
			t.Fatalf("slot %d was given twice", slot)
		}
		seen[slot] = true
	}
}

// For any number of logged slots and restarts, no two log entries have the same slot, and
// every later life can decrypt all sealed data.
func TestNoSlotIsLoggedTwice(t *testing.T) {
	dir, highest := nearTheEnd(t)
	highest -= 100
	logged := map[uint64][]byte{}
	chance := rand.New(rand.NewPCG(1, 2))
	for life := range 60 {
		once(t, dir, highest, func(s *KeyStore) {
			for range chance.IntN(12) {
				slot, key := take(t, s)
				if chance.IntN(2) == 0 {
					continue // it never came to be logged
				}
				if logged[slot] != nil {
					t.Fatalf("life %d: slot %d is in the log already", life, slot)
				}
				logged[slot] = Seal(nil, slot, &key, owner(slot), []byte("a person"))
				highest = max(highest, slot)
			}
			for slot, sealed := range logged {
				if plain, err := s.Open(nil, slot, owner(slot), sealed); err != nil || string(plain) != "a person" {
					t.Fatalf("life %d, slot %d: %q, %v", life, slot, plain, err)
				}
			}
		})
	}
	if highest <= PerFile {
		t.Errorf("it never came over the end of a file: %d", highest)
	}
}

// If the newest used file is missing, the store does not replace it and continues in the
// next file. The file can still be restored.
func TestLostFile(t *testing.T) {
	dir := t.TempDir()
	var key Key
	once(t, dir, 0, func(s *KeyStore) { _, key = take(t, s) })
	sealed := Seal(nil, 1, &key, owner(1), []byte("a person"))
	path, aside := filepath.Join(dir, "keys", "leads", nameOf(1)), filepath.Join(dir, "aside")
	must.Succeed(t, os.Rename(path, aside))
	s, _ := begin(t, dir, 1, testFaults{})
	if slot, _ := take(t, s); slot != PerFile+1 {
		t.Errorf("slot %d follows", slot)
	}
	if _, err := s.Open(nil, 1, owner(1), sealed); err == nil || errors.Is(err, ErrErased) || !strings.Contains(err.Error(), nameOf(1)) || !strings.Contains(err.Error(), "backup") {
		t.Errorf("%v", err)
	}
	if err := s.Erase([]uint64{1}); err != nil {
		t.Errorf("a key that is not there cannot be dropped: %v", err)
	}
	must.Succeed(t, os.Rename(aside, path))
	if plain, err := s.Open(nil, 1, owner(1), sealed); err != nil || string(plain) != "a person" {
		t.Errorf("put back: %q, %v", plain, err)
	}
}

// The store rejects a file of the wrong size and does not overwrite it.
func TestDamagedFile(t *testing.T) {
	dir := t.TempDir()
	once(t, dir, 0, func(*KeyStore) {})
	path := filepath.Join(dir, "keys", "leads", nameOf(1))
	for _, size := range []int64{0, fileSize - 1, fileSize + 1} {
		must.Succeed(t, os.Truncate(path, size))
		s, err := Open(dir, 0, sumKey, func(string, error) {})
		if err == nil {
			s.Close()
			t.Fatalf("%d bytes are opened", size)
		}
		if !strings.Contains(err.Error(), "backup") {
			t.Error(err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() != size {
			t.Errorf("it was changed: %v, %v", info, err)
		}
	}
}

// Open returns an error if it cannot create the folder.
func TestNoPlaceForKeys(t *testing.T) {
	dir := t.TempDir()
	must.Succeed(t, os.WriteFile(filepath.Join(dir, "keys"), nil, 0o600))
	if _, err := Open(dir, 0, sumKey, nil); err == nil {
		t.Error("opened")
	}
}
