package backup

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pingpost/wal"
	"pingpost/wal/backup/store"

	"pingpost/internal/must"
)

// good reports whether Verify finds no problem.
func good(t *testing.T, from store.Store) bool {
	t.Helper()
	found, err := NewRepository(from, nil).Verify(t.Context(), 0)
	return err == nil && found.OK()
}

// openObjects returns the names of the claims, fences and manifests in a store.
func openObjects(t *testing.T, in store.Store) (names []string) {
	t.Helper()
	objects := must.Value(in.List(t.Context(), ""))(t)
	for _, o := range objects {
		_, isManifest := folderOfManifest(o)
		if isManifest || strings.HasSuffix(o.Name, "/claim") || strings.HasPrefix(o.Name, fenceFolder+"/") {
			names = append(names, o.Name)
		}
	}
	return names
}

// signedSite returns a store with a log, a snapshot and a file, and the names of its
// unencrypted objects.
func signedSite(t *testing.T) (s *site, to store.Store, names []string) {
	t.Helper()
	s = newSite(t, t.TempDir())
	s.many(30)
	s.snapshot(20)
	s.file("lists/a", "12025550100\n")
	to = newDir(t, t.TempDir())
	ship(t, s, small(to, nil)).Close()
	if !good(t, to) {
		t.Fatal("the backup does not verify before any edit")
	}
	names = openObjects(t, to)
	for _, want := range []string{fenceName(1), "gen/0000000001/claim"} {
		if !slices.Contains(names, want) {
			t.Fatalf("the store has no %s: %q", want, names)
		}
	}
	return s, to, names
}

// TestVerifyFindsEveryEditOfAByte changes, adds and removes each byte of each claim,
// fence and manifest in turn, removes its sum, and repeats its members.
func TestVerifyFindsEveryEditOfAByte(t *testing.T) {
	_, to, names := signedSite(t)
	for _, name := range names {
		text := must.Value(to.Get(t.Context(), name))(t)
		_, isManifest := folderOfManifest(store.Object{Name: name, Size: int64(len(text))})
		edit := func(what string, at int, changed []byte) {
			t.Helper()
			if isManifest && len(changed) != len(text) {
				return // its name has its size: half of one is left by a put that failed, and counts for none
			}
			must.Succeed(t, to.Put(t.Context(), name, changed))
			if good(t, to) {
				t.Errorf("%s: %s byte %d of %q: verify finds no problem in %q", name, what, at, text, changed)
			}
		}
		for at := range text {
			flipped := bytes.Clone(text)
			flipped[at] ^= 1
			edit("flipped", at, flipped)
			edit("removed", at, slices.Delete(bytes.Clone(text), at, at+1))
			edit("a space before", at, slices.Insert(bytes.Clone(text), at, ' '))
		}
		edit("a line after", len(text), append(bytes.Clone(text), '\n'))
		body, _, _ := bytes.Cut(text, []byte(sumMember))
		edit("without the sum", len(body), append(bytes.Clone(body), '}'))
		again := bytes.Replace(text[:len(text)-1], []byte("{"), []byte(","), 1) // each member twice
		edit("repeated", len(text)-1, slices.Concat(text[:len(text)-1], again, []byte("}")))
		must.Succeed(t, to.Put(t.Context(), name, text))
	}
}

// Verify reports removed fences, and the highest life of a claim still stops a superseded
// copy.
func TestFencesAreRemoved(t *testing.T) {
	s, to, _ := signedSite(t)
	dir, _ := restored(t, to, nil, s, RestoreOptions{Dir: filepath.Join(t.TempDir(), "data")})
	next := s.copyAt(dir)
	next.many(3)
	ship(t, next, small(to, nil)).Close()
	objects, err := to.List(t.Context(), fenceFolder)
	if err != nil || len(objects) == 0 {
		t.Fatalf("%v, %v", objects, err)
	}
	for _, o := range objects {
		must.Succeed(t, to.Delete(t.Context(), o.Name))
	}
	if good(t, to) {
		t.Error("verify finds no problem without fences")
	}
	superseded := shipping(t, s, small(to, nil))
	if err := superseded.PrepareShipping(t.Context()); !errors.Is(err, ErrFenced) {
		t.Errorf("a superseded copy: %v", err)
	}
	ship(t, next, small(to, nil)).Close()
	if !good(t, to) {
		t.Error("the next start of the copy in the newest life does not raise a fence")
	}
	_, done := restored(t, to, nil, next, RestoreOptions{Dir: filepath.Join(t.TempDir(), "data")})
	if done.Epoch != 3 {
		t.Errorf("restored %+v", done)
	}
}

// TestLastEpoch: the highest epoch has no successor, and a restore reports that
// before it makes a folder.
func TestLastEpoch(t *testing.T) {
	s := newSite(t, t.TempDir())
	s.many(5)
	s.close()
	s.must(wal.WriteEpoch(s.dir, math.MaxUint32))
	s.open()
	to := newDir(t, t.TempDir())
	ship(t, s, small(to, nil)).Close()
	dir := filepath.Join(t.TempDir(), "data")
	done, err := NewRepository(to, nil).Restore(t.Context(), RestoreOptions{Dir: dir})
	if err == nil || errors.Is(err, ErrFenced) || !strings.Contains(err.Error(), "epoch 4294967295 is the highest number") {
		t.Errorf("restored %+v, %v", done, err)
	}
	if left, err := filepath.Glob(dir + "*"); err != nil || len(left) > 0 {
		t.Errorf("it left %q, %v", left, err)
	}
	restored(t, to, nil, s, RestoreOptions{Dir: dir, Drill: true})
	ship(t, s, small(to, nil)).Close()
}

// Verify detects a valid object that was copied to another name.
func TestClaimOfAnotherGeneration(t *testing.T) {
	s, to, _ := signedSite(t)
	dir, _ := restored(t, to, nil, s, RestoreOptions{Dir: filepath.Join(t.TempDir(), "data")})
	next := s.copyAt(dir)
	ship(t, next, small(to, nil)).Close()
	for _, pair := range [][2]string{{"gen/0000000001/claim", "gen/0000000002/claim"}, {fenceName(3), fenceName(4)}} {
		text := must.Value(to.Get(t.Context(), pair[0]))(t)
		before, err := to.Get(t.Context(), pair[1])
		s.must(errors.Join(ignoreNotFound(err), to.Put(t.Context(), pair[1], text)))
		if good(t, to) {
			t.Errorf("%s as %s: verify finds no problem", pair[0], pair[1])
		}
		if before != nil {
			s.must(to.Put(t.Context(), pair[1], before))
		}
	}
}

func ignoreNotFound(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// A start and a restore stop at a changed claim or fence, because it may be of a later
// life. A drill still works if the claim is unchanged.
func TestChangedClaim(t *testing.T) {
	for _, name := range []string{"gen/0000000001/claim", fenceName(1)} {
		s, to, _ := signedSite(t)
		dir, _ := restored(t, to, nil, s, RestoreOptions{Dir: filepath.Join(t.TempDir(), "data")})
		next := s.copyAt(dir)
		if name == fenceName(1) {
			name = fenceName(2)
		}
		text, err := to.Get(t.Context(), name)
		s.must(errors.Join(err, to.Put(t.Context(), name, bytes.Replace(text, []byte(`"epoch":`), []byte(`"epoch":9`), 1))))
		starting := shipping(t, next, small(to, nil))
		if err := starting.PrepareShipping(t.Context()); !errors.Is(err, ErrChanged) || !IsPermanent(err) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: a start: %v", name, err)
		}
		starting.Close()
		opt := RestoreOptions{Dir: filepath.Join(t.TempDir(), "data")}
		if _, err := NewRepository(to, nil).Restore(t.Context(), opt); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: a restore: %v", name, err)
		}
		opt.Drill = true
		if _, err := NewRepository(to, nil).Restore(t.Context(), opt); (err == nil) != strings.HasPrefix(name, fenceFolder) { // a drill needs the claim alone
			t.Errorf("%s: a drill: %v", name, err)
		}
		s.must(to.Delete(t.Context(), name))
		ship(t, next, small(to, nil)).Close()
		next.close()
	}
}

// A backup without sums verifies with a note and can be restored. The next start adds a
// generation with sums. Verify compares an unsigned claim with the entries.
func TestBackupOfAnEarlierProgram(t *testing.T) {
	unpack := func() (s *site, to store.Store) {
		dir := t.TempDir()
		must.Succeed(t, os.CopyFS(dir, os.DirFS("testdata/unsigned")))
		s = &site{t: t, dir: filepath.Join(dir, "data"), clock: 1_700_000_100_000_000_000, small: 600}
		s.open()
		s.closeAfterTest()
		s.entries = read(t, s.dir, 1, nil)
		return s, newDir(t, filepath.Join(dir, "place"))
	}
	s, to := unpack()
	found, err := NewRepository(to, nil).Verify(t.Context(), 0)
	if err != nil || !found.OK() || len(found.Notes) != 2 {
		t.Errorf("%+v, %v", found, err)
	}
	_, done := restored(t, to, nil, s, RestoreOptions{Dir: filepath.Join(t.TempDir(), "data"), Drill: true})
	if done.Seq != 6 || !done.Unsigned {
		t.Errorf("restored %+v", done)
	}
	s.many(3)
	ship(t, s, small(to, nil)).Close()
	ship(t, s, small(to, nil)).Close()
	found, err = NewRepository(to, nil).Verify(t.Context(), 0)
	if err != nil || !found.OK() || len(found.Checks) != 2 || !found.Checks[1].Signed || len(found.Notes) != 1 {
		t.Errorf("with sums beside it: %+v, %v", found, err)
	}
	_, done = restored(t, to, nil, s, RestoreOptions{Dir: filepath.Join(t.TempDir(), "data")})
	if done.Seq != 9 || done.Unsigned || done.Epoch != 2 {
		t.Errorf("restored %+v", done)
	}

	for what, claim := range map[string]string{
		"first entry":  `{"epoch":1,"first":4,"begun":"2026-11-23T05:39:00Z","sealed":false}`,
		"no life":      `{"epoch":0,"first":1,"begun":"2026-11-23T05:39:00Z","sealed":false}`,
		"later life":   `{"epoch":4294967295,"first":1,"begun":"2026-11-23T05:39:00Z","sealed":false}`,
		"encryption":   `{"epoch":1,"first":1,"begun":"2026-11-23T05:39:00Z","sealed":true}`,
		"a new member": `{"epoch":1,"first":1,"begun":"2026-11-23T05:39:00Z","sealed":false,"x":1}`,
	} {
		_, to := unpack()
		must.Succeed(t, to.Put(t.Context(), "gen/0000000001/claim", []byte(claim)))
		if good(t, to) {
			t.Errorf("%s: verify finds no problem", what)
		}
	}
}

// A backup whose claims, fences and manifests lost their sums does not pass for an earlier
// version, because its entries are bound to the claim.
func TestSumsCannotBeCutOut(t *testing.T) {
	_, to, names := signedSite(t)
	for _, name := range names {
		text := must.Value(to.Get(t.Context(), name))(t)
		body, _, found := bytes.Cut(text, []byte(sumMember))
		if !found {
			t.Fatalf("%s has no sum", name)
		}
		body, bare := append(bytes.Clone(body), '}'), name
		if of, isManifest := folderOfManifest(store.Object{Name: name, Size: int64(len(text))}); isManifest {
			bare = fmt.Sprintf("%s/whole-%d", of, len(body))
		}
		must.Succeed(t, errors.Join(to.Delete(t.Context(), name), to.Put(t.Context(), bare, body)))
	}
	if good(t, to) {
		t.Error("verify finds no problem")
	}
	opt := RestoreOptions{Dir: filepath.Join(t.TempDir(), "data")}
	if done, err := NewRepository(to, nil).Restore(t.Context(), opt); err == nil {
		t.Errorf("restored %+v", done)
	}
}
