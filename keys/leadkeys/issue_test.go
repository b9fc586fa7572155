package leadkeys

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"pingpost/internal/must"
)

// replicateTo returns a function that stores files in all folders, like the leader of a cluster: it leaves
// a file that exists as it is.
func replicateTo(t *testing.T, dirs ...string) func(string, []byte) error {
	return func(name string, content []byte) error {
		for _, dir := range dirs {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o700))
				must.Succeed(t, os.WriteFile(path, content, 0o600))
			}
		}
		return nil
	}
}

// Two nodes issue keys in turn, and each can read the keys of the other. A file of one leader stays, also
// if that leader failed before it had replicated the checksums.
func TestNodesOfClusterIssueKeysInTurn(t *testing.T) {
	dirs := []string{t.TempDir(), t.TempDir()}
	replicate := replicateTo(t, dirs...)
	var stores [2]*KeyStore
	for i, dir := range dirs {
		stores[i] = must.Value(OpenWithoutIssuing(dir, sumKey, func(message string, err error) { t.Log(message, err) }))(t)
		t.Cleanup(stores[i].Close)
	}
	var highest uint64
	sealed := map[uint64][]byte{}
	for turn := range 4 {
		leader, follower := stores[turn%2], stores[(turn+1)%2]
		if _, err := follower.TakeUnusedKey(new(Key)); !errors.Is(err, ErrBusy) {
			t.Errorf("turn %d: a follower issues a key: %v", turn, err)
		}
		first := replicate
		if turn == 0 {
			first = func(name string, content []byte) error { // it fails before the checksums
				if filepath.Dir(name) == "keys/checksums" {
					return errors.New("not the leader")
				}
				return replicate(name, content)
			}
		}
		must.Succeed(t, leader.StartIssuing(highest, first))
		if turn > 0 {
			slot, key := mustNext(t, leader)
			if slot <= highest {
				t.Errorf("turn %d: slot %d is issued again", turn, slot)
			}
			highest, sealed[slot] = slot, Seal(nil, slot, &key, owner(slot), []byte("a person"))
		}
		leader.StopIssuing()
	}
	for i, s := range stores {
		for slot, part := range sealed {
			if plain, err := s.Open(nil, slot, owner(slot), part); err != nil || string(plain) != "a person" {
				t.Errorf("node %d cannot read the key in slot %d: %q, %v", i, slot, plain, err)
			}
		}
	}
}
