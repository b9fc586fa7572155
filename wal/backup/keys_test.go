package backup

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/internal/must"
)

const slots = "keys/leads/00000000000000000001"

// settle gives the folder's key files an old modification time.
func (s *site) settle() {
	s.t.Helper()
	old := time.Now().Add(-time.Hour).Add(time.Duration(len(s.entries)) * time.Second)
	s.must(filepath.WalkDir(filepath.Join(s.dir, "keys"), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return os.Chtimes(path, old, old)
	}))
}

// keyAt returns a key of a restored folder.
func keyAt(t *testing.T, dir string, slot int) []byte {
	t.Helper()
	content := must.Value(os.ReadFile(filepath.Join(dir, filepath.FromSlash(slots))))(t)
	return content[slot*keySize : (slot+1)*keySize]
}

// An erased key stays erased in a restore of any entry, also after a stale copy of the key
// file was shipped.
func TestErasedStaysErased(t *testing.T) {
	full, recipient := identity(t)
	s := newSite(t, t.TempDir())
	to := newDir(t, t.TempDir())
	whole := random(100 * keySize)
	stale := bytes.Clone(whole)
	s.file(slots, string(whole))
	s.many(10)
	shipper := ship(t, s, small(to, recipient))
	clear(whole[7*keySize : 8*keySize])
	s.many(10)
	s.file(slots, string(whole))
	s.settle()
	must.Succeed(t, shipper.ShipAll(t.Context()))
	shipper.Close()
	expect := func(what string) {
		t.Helper()
		for _, seq := range []uint64{3, 20} {
			dir, _ := restored(t, to, full, s, RestoreOptions{At: RestorePoint{Seq: seq}, Dir: filepath.Join(t.TempDir(), "data"), Drill: true})
			if !bytes.Equal(keyAt(t, dir, 7), make([]byte, keySize)) {
				t.Errorf("%s: at entry %d the erased key is back", what, seq)
			}
			if !bytes.Equal(keyAt(t, dir, 8), stale[8*keySize:9*keySize]) {
				t.Errorf("%s: at entry %d a key is gone that was not erased", what, seq)
			}
		}
	}
	expect("erased")
	if objects, err := to.List(t.Context(), slots); err != nil || len(objects) != 1 {
		t.Errorf("the version before is still there: %v, %v", objects, err)
	}
	s.file(slots, string(stale))
	s.settle()
	ship(t, s, small(to, recipient)).Close()
	expect("and a stale copy shipped")
}

// Zeros in a file that has just been written do not count as erasures.
func TestUnsettledZerosAreNoErasures(t *testing.T) {
	s := newSite(t, t.TempDir())
	to := newDir(t, t.TempDir())
	s.many(1)
	s.file(slots, strings.Repeat("\x00", 4*keySize))
	shipper := ship(t, s, small(to, nil))
	whole := random(4 * keySize)
	s.file(slots, string(whole))
	must.Succeed(t, shipper.ShipAll(t.Context()))
	dir, _ := restored(t, to, nil, s, RestoreOptions{Dir: filepath.Join(t.TempDir(), "data"), Drill: true})
	for slot := range 4 {
		if !bytes.Equal(keyAt(t, dir, slot), whole[slot*keySize:(slot+1)*keySize]) {
			t.Errorf("key %d is gone", slot)
		}
	}
}

// Key files, catalogs and lists are in the store before the records that may name them.
func TestKeysGoBeforeTheLog(t *testing.T) {
	s := newSite(t, t.TempDir())
	var order []string
	to := &flaky{Store: newDir(t, t.TempDir()), fails: func(_ int, kind, name string) (int, error) {
		if kind == "put" {
			order = append(order, name)
		}
		return 0, nil
	}}
	shipper := shipping(t, s, small(to, nil))
	for i := range 3 {
		order = nil
		s.file("keys/leads/0000000000000000000"+string(rune('1'+i)), string(random(keySize)))
		s.file("catalogs/"+string(rune('1'+i))+".json", "{}")
		s.many(2)
		must.Succeed(t, shipper.ShipAll(t.Context()))
		text := strings.Join(order, " ")
		log, keys, files := strings.Index(text, "/log/"), strings.LastIndex(text, "keys/"), strings.LastIndex(text, "/file/")
		if log < 0 || keys < 0 || files < 0 || keys > log || files > log {
			t.Errorf("round %d: %s", i, text)
		}
	}
}

// The shipper ships no temporary file.
func TestUnfinishedKeyFilesAreNotShipped(t *testing.T) {
	s := newSite(t, t.TempDir())
	for _, name := range []string{"keys/.new-123", "keys/leads/1.tmp", "lists/.new-123", "catalogs/x.tmp"} {
		s.file(name, "half")
	}
	s.many(1)
	to := newDir(t, t.TempDir())
	ship(t, s, small(to, nil))
	objects := must.Value(to.List(t.Context(), ""))(t)
	for _, o := range objects {
		if strings.Contains(o.Name, ".new") || strings.Contains(o.Name, ".tmp") {
			t.Errorf("%s was shipped", o.Name)
		}
	}
}

// In any order of merging, a key that is zero in one version becomes zero, and other bytes
// do not change.
func TestMergeOfErasures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.IntRange(1, 40).Draw(t, "keys")
		whole := bytes.Repeat([]byte{7}, keys*keySize+rapid.IntRange(0, keySize-1).Draw(t, "rest"))
		got, want := bytes.Clone(whole), bytes.Clone(whole)
		for range rapid.IntRange(0, 4).Draw(t, "versions") {
			version := bytes.Clone(whole)
			for _, key := range rapid.SliceOfN(rapid.IntRange(0, keys-1), 0, 5).Draw(t, "erased") {
				clear(version[key*keySize : (key+1)*keySize])
				clear(want[key*keySize : (key+1)*keySize])
			}
			zeroErasedKeys(got, bitmapOfErasedKeys(version))
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("merged to other keys")
		}
	})
}

// An old version of a key file that an error or a crash left in the store contains keys
// that were erased later. The next step removes it.
func TestOldKeysDoNotStay(t *testing.T) {
	for _, crash := range []bool{false, true} {
		s := newSite(t, t.TempDir())
		to := &flaky{Store: newDir(t, t.TempDir())}
		whole := random(4 * keySize)
		s.file(slots, string(whole))
		s.settle()
		s.many(3)
		shipper := ship(t, s, small(to, nil))
		to.fails = func(_ int, kind, name string) (int, error) {
			if kind == "delete" && strings.HasPrefix(name, keysFolder) {
				return 0, errFlaky
			}
			return 0, nil
		}
		clear(whole[:keySize])
		s.many(1)
		s.file(slots, string(whole))
		s.settle()
		if err := shipper.ShipAll(t.Context()); !errors.Is(err, errFlaky) {
			t.Errorf("crash %v: the store does not remove anything: %v", crash, err)
		}
		to.fails = nil
		if crash {
			shipper.Close()
			shipper = shipping(t, s, small(to, nil))
		}
		must.Succeed(t, shipper.ShipAll(t.Context()))
		if objects, err := to.List(t.Context(), slots); err != nil || len(objects) != 1 {
			t.Errorf("crash %v: the version with the erased key is there still: %v, %v", crash, objects, err)
		}
		shipper.Close()
		s.close()
	}
}

// A file with a future modification time was not written just now, so its erasures count.
func TestErasedBeforeTheClockWentBack(t *testing.T) {
	s := newSite(t, t.TempDir())
	s.file(slots, string(make([]byte, 2*keySize)))
	ahead := time.Now().Add(time.Hour)
	s.must(os.Chtimes(filepath.Join(s.dir, filepath.FromSlash(slots)), ahead, ahead))
	s.many(1)
	to := newDir(t, t.TempDir())
	ship(t, s, small(to, nil))
	if objects, err := to.List(t.Context(), erasedFolder); err != nil || len(objects) != 1 {
		t.Errorf("erased are %v, %v", objects, err)
	}
}
