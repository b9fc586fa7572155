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

// messageRecorder records the messages of a key store.
type messageRecorder struct {
	mu       sync.Mutex
	messages []string
}

func (t *messageRecorder) record(message string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.messages = append(t.messages, message)
}

func (t *messageRecorder) count(message string) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, recorded := range t.messages {
		if recorded == message {
			n++
		}
	}
	return n
}

// openWithFaults opens a key store that injects the faults and records its messages.
func openWithFaults(t testing.TB, dir string, highest uint64, f testFaults) (*KeyStore, *messageRecorder) {
	t.Helper()
	messages := new(messageRecorder)
	s := must.Value(openKeyStore(dir, highest, sumKey, messages.record, f))(t)
	t.Cleanup(s.Close)
	return s, messages
}

// newAlmostUsedFolder returns a folder and the highest used slot, the third last of its first file.
func newAlmostUsedFolder(t testing.TB) (dir string, highest uint64) {
	t.Helper()
	dir = t.TempDir()
	withKeyStore(t, dir, 0, func(*KeyStore) {})
	return dir, PerFile - 3
}

// withKeyStore opens a key store, calls use, and closes the store. It fails on any message.
func withKeyStore(t testing.TB, dir string, highest uint64, use func(s *KeyStore)) {
	t.Helper()
	s := must.Value(openKeyStore(dir, highest, sumKey, func(what string, err error) { t.Errorf("%s: %v", what, err) }, testFaults{}))(t)
	defer s.Close()
	use(s)
}

// mustNext returns the next key. It waits up to 20 seconds if no key is ready.
func mustNext(t testing.TB, s *KeyStore) (slot uint64, key Key) {
	t.Helper()
	eventually(t, "a key is ready", func() (ok bool) {
		var err error
		slot, err = s.TakeUnusedKey(&key)
		return err == nil
	})
	return slot, key
}

func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out before %s", what)
		}
	}
}

// keyFileNames returns the names in the folder of lead keys.
func keyFileNames(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries := must.Value(os.ReadDir(filepath.Join(dir, "keys", "leads")))(t)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func fileName(first uint64) string { return fmt.Sprintf("%020d", first) }

// keyOnDisk reads a slot's key from its file.
func keyOnDisk(t testing.TB, dir string, slot uint64) Key {
	t.Helper()
	keys := must.Value(os.ReadFile(filepath.Join(dir, "keys", "leads", fileName(FirstSlotOfFile(slot)))))(t)
	return Key(keys[(slot-FirstSlotOfFile(slot))*KeySize:])
}

func owner(n uint64) (id [16]byte) {
	id[0], id[15] = 1, byte(n)
	return id
}

var sumKey = KeyFileChecksumKey{1, 2, 3}
