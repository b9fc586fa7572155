package leadkeys

import (
	"errors"
	"testing"

	"pingpost/internal/must"
)

// Erase destroys keys in memory and on disk, in this life and the next. Other keys stay
// unchanged.
func TestErase(t *testing.T) {
	dir, highest := nearTheEnd(t)
	sealed := map[uint64][]byte{}
	keys := map[uint64]Key{}
	dropped := []uint64{PerFile + 1, PerFile - 1, PerFile - 1}
	look := func(s *KeyStore, erased bool) {
		t.Helper()
		for slot, part := range sealed {
			gone := erased && (slot == dropped[0] || slot == dropped[1])
			plain, err := s.Open(nil, slot, owner(slot), part)
			if gone != errors.Is(err, ErrErased) || gone != (err != nil) || gone != (string(plain) == "") {
				t.Errorf("slot %d: %q, %v", slot, plain, err)
			}
			if on := onDisk(t, dir, slot); gone && on != (Key{}) || !gone && on != keys[slot] {
				t.Errorf("slot %d has the key %x on the disk", slot, on[:4])
			}
		}
	}
	once(t, dir, highest, func(s *KeyStore) {
		for range 6 {
			slot, key := take(t, s)
			sealed[slot], keys[slot] = Seal(nil, slot, &key, owner(slot), []byte("a person")), key
		}
		look(s, false)
		for range 2 {
			must.Succeed(t, s.Erase(dropped))
			look(s, true)
		}
		if err := s.Erase(nil); err != nil {
			t.Error(err)
		}
	})
	once(t, dir, PerFile+3, func(s *KeyStore) { look(s, true) })
}

// A log that was restored to an earlier time may reach a slot whose key was erased since.
// Next skips that slot.
func TestEraseBeforeItWasTaken(t *testing.T) {
	dir := t.TempDir()
	s, _ := begin(t, dir, 0, testFaults{})
	must.Succeed(t, s.Erase([]uint64{1, 2, 4}))
	for _, want := range []uint64{3, 5} {
		if slot, key := take(t, s); slot != want || key == (Key{}) {
			t.Errorf("slot %d, want %d", slot, want)
		}
	}
}

// After a disk error Erase returns the error and has still erased the key in memory. A
// second call, or the next start, completes the erasure.
func TestEraseFails(t *testing.T) {
	dir := t.TempDir()
	fails := true
	s, _ := begin(t, dir, 0, testFaults{drop: func() error {
		if fails {
			return errors.New("input/output error")
		}
		return nil
	}})
	slot, key := take(t, s)
	sealed := Seal(nil, slot, &key, owner(1), []byte("a person"))
	if err := s.Erase([]uint64{slot}); err == nil {
		t.Error("it says nothing")
	}
	if _, err := s.Open(nil, slot, owner(1), sealed); !errors.Is(err, ErrErased) {
		t.Errorf("memory has the key still: %v", err)
	}
	fails = false
	if err := s.Erase([]uint64{slot}); err != nil || onDisk(t, dir, slot) != (Key{}) {
		t.Errorf("again: %v, %x", err, onDisk(t, dir, slot))
	}
}

// Erase also clears the keys of files that are in memory only because Open read them.
func TestEraseOfAFileThatWasRead(t *testing.T) {
	dir := t.TempDir()
	var key Key
	once(t, dir, 0, func(s *KeyStore) { _, key = take(t, s) })
	sealed := Seal(nil, 1, &key, owner(1), []byte("a person"))
	s, _ := begin(t, dir, 5*PerFile, testFaults{})
	must.Value(s.Open(nil, 1, owner(1), sealed))(t)
	must.Succeed(t, s.Erase([]uint64{1}))
	if _, err := s.Open(nil, 1, owner(1), sealed); !errors.Is(err, ErrErased) {
		t.Errorf("%v", err)
	}
}
