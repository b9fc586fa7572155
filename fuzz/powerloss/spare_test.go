package main

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/wal"
	"pingpost/wal/backup"
)

// backedUp is a world with its backup, in a folder as a recording has one.
func backedUp(t *testing.T) (w *world, r *recording) {
	t.Helper()
	w = personal(t)
	r = &recording{folder: filepath.Dir(w.dir)}
	laid(t, r.folder, nil)
	w.ship()
	return w, r
}

// ship backs up what is in the world's log.
func (w *world) ship() {
	w.t.Helper()
	s := w.spare()
	shipper, err := backup.NewShipper(backup.Folder(w.dir), backup.Options{To: s.store, Key: s.key})
	if err != nil {
		w.t.Fatal(err)
	}
	defer shipper.Close()
	if err := shipper.Once(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) spare() *spare {
	w.t.Helper()
	s, err := (&recording{folder: filepath.Dir(w.dir)}).openSpare(filepath.Dir(w.dir))
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// backupFindings are what is found of the world's backup, and of how it goes on.
func (w *world) backupFindings(kept promises) error {
	o, err := open(w.dir)
	if err != nil {
		return err
	}
	s := w.spare()
	if err := s.judge(w.t.Context(), o, w.life.truth, kept, rand.New(rand.NewPCG(1, 1))); err != nil {
		_ = o.log.Close()
		return err
	}
	return o.goOn(func() error { return s.shipOn(w.t.Context(), o) })
}

// objects are the files of the backup whose path has these words.
func (w *world) objects(words string) (paths []string) {
	w.t.Helper()
	err := filepath.WalkDir(storeIn(filepath.Dir(w.dir)), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.Contains(path, words) {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) == 0 {
		w.t.Fatalf("the backup has no %s: %v", words, err)
	}
	return paths
}

// TestBackupIsHeldToItsPromises breaks one at a time.
func TestBackupIsHeldToItsPromises(t *testing.T) {
	all := promises{entry: 15, revision: 1, erasures: 1}
	for what, test := range map[string]struct {
		change  func(w *world, kept *promises)
		finding string
	}{
		"as it was":           {func(*world, *promises) {}, ""},
		"with half an object": {func(w *world, _ *promises) { w.copy(w.objects("/log/")[0], w.objects("/log/")[0]+"0", 10) }, ""},
		"with what was not named": {func(w *world, _ *promises) {
			w.copy(w.objects("/log/")[0], filepath.Join(storeIn(filepath.Dir(w.dir)), ".tmp", "1"), 10)
		}, ""},
		"before anything was shipped": {func(w *world, kept *promises) {
			w.removeAll(storeIn(filepath.Dir(w.dir)))
			*kept = promises{}
		}, ""},
		"lost altogether":         {func(w *world, _ *promises) { w.removeAll(storeIn(filepath.Dir(w.dir))) }, "entry 15 was said to be in it"},
		"an object is lost":       {func(w *world, _ *promises) { w.remove(w.objects("/log/")[0]) }, "entry 15 was said to be in it"},
		"said to have more":       {func(_ *world, kept *promises) { kept.entry = 16 }, "ends with entry 15, and entry 16"},
		"ahead of its log":        {func(w *world, kept *promises) { w.cut(13); kept.entry = 0 }, "has entry 15, and the log it is of ends with entry 13"},
		"an object is damaged":    {func(w *world, _ *promises) { w.edit(w.objects("/log/")[0], flip) }, "does not verify"},
		"a snapshot is":           {func(w *world, _ *promises) { w.edit(w.objects("/snapshot/")[0], flip) }, "does not verify"},
		"a file is lost":          {func(w *world, _ *promises) { w.removeAll(filepath.Dir(w.objects("/catalogs/" + w.docs[1])[0])) }, "names a file that is not there"},
		"the exchange's key is":   {func(w *world, _ *promises) { w.remove(w.objects("exchange.key")[0]) }, "does not verify"},
		"the leads' keys are":     {func(w *world, _ *promises) { w.remove(w.objects("keys/leads")[0]) }, "whose key is lost"},
		"an older configuration":  {func(_ *world, kept *promises) { kept.revision = 2 }, "revision 2 was told to be"},
		"begun anew":              {func(w *world, _ *promises) { w.again() }, "begun anew"},
		"an entry that never was": {func(w *world, _ *promises) { w.life.truth.entries[7].At++ }, "entry 8 is not the one"},
		"another state":           {func(w *world, _ *promises) { w.life.truth.hashes[15] = 1 }, "by the log alone"},
	} {
		t.Run(what, func(t *testing.T) {
			w, _ := backedUp(t)
			kept := all
			test.change(w, &kept)
			err := w.backupFindings(kept)
			if (err == nil) != (test.finding == "") || err != nil && !strings.Contains(err.Error(), test.finding) {
				t.Errorf("found: %v", err)
			}
		})
	}
}

// TestAPersonWhoComesBackIsFound: the store brings a key back that was dropped.
func TestAPersonWhoComesBackIsFound(t *testing.T) {
	w := personal(t)
	laid(t, filepath.Dir(w.dir), nil)
	w.put(2, 9)
	w.ship()
	w.put(2, 0)
	if err := w.backupFindings(promises{entry: 15, revision: 1, erasures: 1}); err == nil || !strings.Contains(err.Error(), "entry 9 drops the key of slot 2") {
		t.Errorf("found: %v", err)
	}
	if err := w.backupFindings(promises{entry: 15, revision: 1}); err != nil {
		t.Errorf("before it was said to be dropped there: %v", err)
	}
}

// TestAnEndThatIsNotTheLogsIsFound: of a backup that has gone on.
func TestAnEndThatIsNotTheLogsIsFound(t *testing.T) {
	w, _ := backedUp(t)
	other := newWorld(t)
	for dir, finding := range map[string]string{w.dir: "", other.dir: "is not the one that was written"} {
		reader, err := wal.NewReader(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		err = w.spare().holds(context.Background(), reader)
		reader.Close()
		if (err == nil) != (finding == "") || err != nil && !strings.Contains(err.Error(), finding) {
			t.Errorf("found: %v", err)
		}
	}
}

func flip(text []byte) []byte { text[len(text)/2] ^= 1; return text }

func (w *world) removeAll(path string) {
	w.t.Helper()
	if err := os.RemoveAll(path); err != nil {
		w.t.Fatal(err)
	}
}

// again has a second generation begin: of the first one a part is gone.
func (w *world) again() {
	w.t.Helper()
	claims := w.objects("/claim")
	to := strings.Replace(claims[0], "0000000001", "0000000002", 1)
	w.copy(claims[0], to, 1000)
}
