package leadkeys

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"pingpost/internal/must"
)

// told records the messages of a key store.
type told struct {
	mu   sync.Mutex
	said []string
}

func (t *told) tell(what string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.said = append(t.said, what)
}

func (t *told) times(what string) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, said := range t.said {
		if said == what {
			n++
		}
	}
	return n
}

func begin(t testing.TB, dir string, highest uint64, f testFaults) (*KeyStore, *told) {
	t.Helper()
	heard := new(told)
	s := must.Value(open(dir, highest, sumKey, heard.tell, f))(t)
	t.Cleanup(s.Close)
	return s, heard
}

// nearTheEnd returns a folder whose first file is used up to the highest slot.
func nearTheEnd(t testing.TB) (dir string, highest uint64) {
	t.Helper()
	dir = t.TempDir()
	once(t, dir, 0, func(*KeyStore) {})
	return dir, PerFile - 3
}

// once opens a key store, calls use, and closes the store.
func once(t testing.TB, dir string, highest uint64, use func(s *KeyStore)) {
	t.Helper()
	s := must.Value(open(dir, highest, sumKey, func(what string, err error) { t.Errorf("%s: %v", what, err) }, testFaults{}))(t)
	defer s.Close()
	use(s)
}

// take returns the next key. It waits if no key is ready.
func take(t testing.TB, s *KeyStore) (slot uint64, key Key) {
	t.Helper()
	eventually(t, "a key is ready", func() (ok bool) {
		var err error
		slot, err = s.Next(&key)
		return err == nil
	})
	return slot, key
}

func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never came to this: %s", what)
		}
	}
}

// files returns the names in the folder of keys.
func files(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries := must.Value(os.ReadDir(filepath.Join(dir, "keys", "leads")))(t)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func nameOf(first uint64) string { return fmt.Sprintf("%020d", first) }

// onDisk reads a slot's key from its file.
func onDisk(t testing.TB, dir string, slot uint64) Key {
	t.Helper()
	keys := must.Value(os.ReadFile(filepath.Join(dir, "keys", "leads", nameOf(FirstSlot(slot)))))(t)
	return Key(keys[(slot-FirstSlot(slot))*KeySize:])
}

func owner(n uint64) (id [16]byte) {
	id[0], id[15] = 1, byte(n)
	return id
}

var sumKey = SumKey{1, 2, 3}
