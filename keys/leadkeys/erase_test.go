package leadkeys

import (
	"errors"
	"testing"

	"pingpost/internal/must"
)

// TestEraseDestroysKeysInMemoryAndOnDisk also checks a restarted store and the other keys.
func TestEraseDestroysKeysInMemoryAndOnDisk(t *testing.T) {
	dir, highest := newAlmostUsedFolder(t)
	sealed := map[uint64][]byte{}
	keys := map[uint64]Key{}
	erasedSlots := []uint64{PerFile + 1, PerFile - 1, PerFile - 1}
	checkKeys := func(s *KeyStore, erased bool) {
		t.Helper()
		for slot, part := range sealed {
			isErased := erased && (slot == erasedSlots[0] || slot == erasedSlots[1])
			plain, err := s.Open(nil, slot, owner(slot), part)
			if isErased != errors.Is(err, ErrErased) || isErased != (err != nil) || isErased != (string(plain) == "") {
				t.Errorf("slot %d: %q, %v", slot, plain, err)
			}
			if stored := keyOnDisk(t, dir, slot); isErased && stored != (Key{}) || !isErased && stored != keys[slot] {
				t.Errorf("slot %d has the key %x on disk", slot, stored[:4])
			}
		}
	}
	withKeyStore(t, dir, highest, func(s *KeyStore) {
		for range 6 {
			slot, key := mustNext(t, s)
			sealed[slot], keys[slot] = Seal(nil, slot, &key, owner(slot), []byte("a person")), key
		}
		checkKeys(s, false)
		for range 2 {
			must.Succeed(t, s.Erase(erasedSlots))
			checkKeys(s, true)
		}
		if err := s.Erase(nil); err != nil {
			t.Error(err)
		}
	})
	withKeyStore(t, dir, PerFile+3, func(s *KeyStore) { checkKeys(s, true) })
}

// TestNextSkipsErasedSlots: after a restore to an earlier time, the log can reach slots whose keys
// were erased since.
func TestNextSkipsErasedSlots(t *testing.T) {
	dir := t.TempDir()
	s, _ := openWithFaults(t, dir, 0, testFaults{})
	must.Succeed(t, s.Erase([]uint64{1, 2, 4}))
	for _, want := range []uint64{3, 5} {
		if slot, key := mustNext(t, s); slot != want || key == (Key{}) {
			t.Errorf("slot %d, want %d", slot, want)
		}
	}
}

// TestEraseAfterDiskError: Erase returns the error but erases the key in memory. A second call
// completes the erasure on disk.
func TestEraseAfterDiskError(t *testing.T) {
	dir := t.TempDir()
	fails := true
	s, _ := openWithFaults(t, dir, 0, testFaults{drop: func() error {
		if fails {
			return errors.New("input/output error")
		}
		return nil
	}})
	slot, key := mustNext(t, s)
	sealed := Seal(nil, slot, &key, owner(1), []byte("a person"))
	if err := s.Erase([]uint64{slot}); err == nil {
		t.Error("Erase returns no error")
	}
	if _, err := s.Open(nil, slot, owner(1), sealed); !errors.Is(err, ErrErased) {
		t.Errorf("Open of an erased slot: %v, want ErrErased", err)
	}
	fails = false
	if err := s.Erase([]uint64{slot}); err != nil || keyOnDisk(t, dir, slot) != (Key{}) {
		t.Errorf("second Erase: %v, key on disk %x", err, keyOnDisk(t, dir, slot))
	}
}

func TestEraseClearsKeysReadByOpen(t *testing.T) {
	dir := t.TempDir()
	var key Key
	withKeyStore(t, dir, 0, func(s *KeyStore) { _, key = mustNext(t, s) })
	sealed := Seal(nil, 1, &key, owner(1), []byte("a person"))
	s, _ := openWithFaults(t, dir, 5*PerFile, testFaults{})
	must.Value(s.Open(nil, 1, owner(1), sealed))(t)
	must.Succeed(t, s.Erase([]uint64{1}))
	if _, err := s.Open(nil, 1, owner(1), sealed); !errors.Is(err, ErrErased) {
		t.Errorf("Open of an erased slot: %v, want ErrErased", err)
	}
}

// TestEraseClearsAllCopiesInMemory: a file that was read for a decryption can later be used for new keys
// too, and is then in memory twice.
func TestEraseClearsAllCopiesInMemory(t *testing.T) {
	s, _ := openWithFaults(t, t.TempDir(), 0, testFaults{})
	slot, _ := mustNext(t, s)
	copies := []*keyFileContent{must.Value(readKeyFile(s.keyFilePath(1), 1))(t), must.Value(readKeyFile(s.keyFilePath(1), 1))(t)}
	s.mu.Lock()
	s.cacheFileLocked(copies[0])
	s.cacheFileLocked(copies[1])
	s.mu.Unlock()
	must.Succeed(t, s.Erase([]uint64{slot}))
	for n, file := range append(copies, s.current) {
		if key := Key(file.keyAt(slot)); key != (Key{}) {
			t.Errorf("copy %d in memory has the key %x", n, key[:4])
		}
	}
}
