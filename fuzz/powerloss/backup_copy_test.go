package main

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/internal/must"
	"pingpost/wal"
	"pingpost/wal/backup"
)

// worldWithBackup returns a world with its backup, laid out as in a recording.
func worldWithBackup(t *testing.T) (w *world, r *recording) {
	t.Helper()
	w = worldWithLeadKeys(t)
	r = &recording{folder: filepath.Dir(w.dir)}
	loadedDisks(t, r.folder, nil)
	w.ship()
	return w, r
}

// ship backs up the world's log.
func (w *world) ship() {
	w.t.Helper()
	s := w.openBackupCopy()
	shipper := must.Value(backup.NewShipper(backup.SourceFromFolder(w.dir), backup.Options{To: s.store, Key: s.key}))(w.t)
	defer shipper.Close()
	must.Succeed(w.t, shipper.ShipAll(w.t.Context()))
}

func (w *world) openBackupCopy() *backupCopy {
	w.t.Helper()
	s := must.Value((&recording{folder: filepath.Dir(w.dir)}).openBackup(filepath.Dir(w.dir)))(w.t)
	return s
}

// backupFindings checks the world's backup and its continuation.
func (w *world) backupFindings(kept promises) error {
	o, err := openDir(w.dir)
	if err != nil {
		return err
	}
	s := w.openBackupCopy()
	if err := s.checkAfterLoss(w.t.Context(), o, w.life.log, kept, rand.New(rand.NewPCG(1, 1))); err != nil {
		_ = o.log.Close()
		return err
	}
	return o.checkAppendedEntries(func() error { return s.checkContinuation(w.t.Context(), o) })
}

// objects returns the files of the backup whose path contains the words.
func (w *world) objects(words string) (paths []string) {
	w.t.Helper()
	err := filepath.WalkDir(backupDir(filepath.Dir(w.dir)), func(path string, entry fs.DirEntry, err error) error {
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

// Each case breaks one promise.
func TestBackupCheckDetectsViolations(t *testing.T) {
	if testing.Short() {
		t.Skip("restores twenty backups; make test-long does")
	}
	all := promises{seq: 15, revision: 1, erasures: 1}
	for what, test := range map[string]struct {
		change  func(w *world, kept *promises)
		finding string
	}{
		"as it was":           {func(*world, *promises) {}, ""},
		"with half an object": {func(w *world, _ *promises) { w.copy(w.objects("/log/")[0], w.objects("/log/")[0]+"0", 10) }, ""},
		"with what was not named": {func(w *world, _ *promises) {
			w.copy(w.objects("/log/")[0], filepath.Join(backupDir(filepath.Dir(w.dir)), ".tmp", "1"), 10)
		}, ""},
		"before anything was shipped": {func(w *world, kept *promises) {
			w.removeAll(backupDir(filepath.Dir(w.dir)))
			*kept = promises{}
		}, ""},
		"lost altogether":      {func(w *world, _ *promises) { w.removeAll(backupDir(filepath.Dir(w.dir))) }, "reported entry 15 as backed up"},
		"an object is lost":    {func(w *world, _ *promises) { w.remove(w.objects("/log/")[0]) }, "reported entry 15 as backed up"},
		"said to have more":    {func(_ *world, kept *promises) { kept.seq = 16 }, "ends with entry 15, but the exchange reported entry 16"},
		"ahead of its log":     {func(w *world, kept *promises) { w.cut(13); kept.seq = 0 }, "has entry 15, but its log ends with entry 13"},
		"an object is damaged": {func(w *world, _ *promises) { w.edit(w.objects("/log/")[0], flip) }, "does not verify"},
		"a snapshot is":        {func(w *world, _ *promises) { w.edit(w.objects("/snapshot/")[0], flip) }, "does not verify"},
		"a file is lost": {func(w *world, _ *promises) {
			w.removeAll(filepath.Dir(w.objects("/catalogs/" + w.documentHashes[1])[0]))
		}, "named by the log is missing"},
		"the exchange's key is":   {func(w *world, _ *promises) { w.remove(w.objects("exchange.key")[0]) }, "does not verify"},
		"the leads' keys are":     {func(w *world, _ *promises) { w.remove(w.objects("keys/leads")[0]) }, "which is lost"},
		"an older configuration":  {func(_ *world, kept *promises) { kept.revision = 2 }, "revision 2 was acknowledged"},
		"begun anew":              {func(w *world, _ *promises) { w.startSecondGeneration() }, "a second generation"},
		"an entry that never was": {func(w *world, _ *promises) { w.life.log.entries[7].At++ }, "entry 8 differs"},
		"another state":           {func(w *world, _ *promises) { w.life.log.hashes[15] = 1 }, "the log alone gives"},
	} {
		t.Run(what, func(t *testing.T) {
			w, _ := worldWithBackup(t)
			kept := all
			test.change(w, &kept)
			err := w.backupFindings(kept)
			if (err == nil) != (test.finding == "") || err != nil && !strings.Contains(err.Error(), test.finding) {
				t.Errorf("found: %v", err)
			}
		})
	}
}

// A restored copy must not contain a key that was dropped.
func TestBackupCheckDetectsRestoredKey(t *testing.T) {
	w := worldWithLeadKeys(t)
	loadedDisks(t, filepath.Dir(w.dir), nil)
	w.put(2, 9)
	w.ship()
	w.put(2, 0)
	if err := w.backupFindings(promises{seq: 15, revision: 1, erasures: 1}); err == nil || !strings.Contains(err.Error(), "entry 9 drops the key of slot 2") {
		t.Errorf("found: %v", err)
	}
	if err := w.backupFindings(promises{seq: 15, revision: 1}); err != nil {
		t.Errorf("before it was said to be dropped there: %v", err)
	}
}

// After its continuation, the backup must end like the log.
func TestCompareWithLogDetectsDifference(t *testing.T) {
	w, _ := worldWithBackup(t)
	other := newWorld(t)
	for dir, finding := range map[string]string{w.dir: "", other.dir: "differs from the written one"} {
		reader := must.Value(wal.NewReader(dir, 0))(t)
		err := w.openBackupCopy().compareWithLog(context.Background(), reader)
		reader.Close()
		if (err == nil) != (finding == "") || err != nil && !strings.Contains(err.Error(), finding) {
			t.Errorf("found: %v", err)
		}
	}
}

func flip(text []byte) []byte { text[len(text)/2] ^= 1; return text }

func (w *world) removeAll(path string) {
	w.t.Helper()
	must.Succeed(w.t, os.RemoveAll(path))
}

// startSecondGeneration damages the first generation and makes the backup start another.
func (w *world) startSecondGeneration() {
	w.t.Helper()
	claims := w.objects("/claim")
	to := strings.Replace(claims[0], "0000000001", "0000000002", 1)
	w.copy(claims[0], to, 1000)
}
