package wal

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

	"pingpost/internal/must"
)

// spoil damages a snapshot.
func spoil(t testing.TB, dir string, newest uint64) {
	t.Helper()
	edit(t, snapshotPath(dir, newest), func(b []byte) []byte { b[20] ^= 1; return b })
}

func names(t testing.TB, dir string) (newest []uint64) {
	t.Helper()
	infos := must.Value(ListSnapshotFiles(dir))(t)
	for _, info := range infos {
		newest = append(newest, info.Newest)
	}
	return newest
}

// The writer does not remove a valid snapshot in favor of an invalid one, whichever of them
// is invalid.
func TestCommitKeepsValidFallback(t *testing.T) {
	for name, c := range map[string]struct {
		bad     []uint64
		written uint64
		kept    string
	}{
		"all are good":                   {nil, 9, "[9 5]"},
		"the newest is bad":              {[]uint64{5}, 9, "[9 5 4]"},
		"the newest two are":             {[]uint64{4, 5}, 9, "[9 5 4 3]"},
		"all are":                        {[]uint64{3, 4, 5}, 9, "[9 5 4 3]"},
		"a bad one is of later":          {[]uint64{5}, 4, "[5 4 3]"},
		"the one before is bad, and old": {[]uint64{4}, 9, "[9 5]"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, other := t.TempDir(), t.TempDir()
			for _, newest := range []uint64{3, 4, 5} {
				from := takeSnapshot(t, other, newest, newest).Path
				mustWrite(t, snapshotPath(dir, newest), mustRead(t, from))
			}
			for _, newest := range c.bad {
				spoil(t, dir, newest)
			}
			takeSnapshot(t, dir, c.written, c.written)
			equal(t, "kept", names(t, dir), c.kept)
			equal(t, "the newest good one", mustSnapshot(t, dir).Newest, c.written)
		})
	}
}

// A snapshot that this process has loaded or written is not read again.
func TestVerifiedSnapshotIsNotReadAgain(t *testing.T) {
	dir := t.TempDir()
	written(t, dir, 9, Options{})
	takeSnapshot(t, dir, 3, 3)
	takeSnapshot(t, dir, 5, 5)
	l := mustOpen(t, dir, Options{From: 6, AtLeast: 5})
	take := func(newest uint64) {
		t.Helper()
		w := must.Value(l.BeginSnapshot(SnapshotRateOptions{BytesPerSecond: -1}))(t)
		must.Value(w.Commit(newest, newest, nil))(t)
	}
	spoil(t, dir, 5) // a second read would detect this
	take(7)
	equal(t, "after the first", names(t, dir), "[7 5]")
	spoil(t, dir, 7)
	take(9)
	take(9)
	equal(t, "after the third, of the same name as the second", names(t, dir), "[9 7]")
}

func TestQuarantineSnapshots(t *testing.T) {
	dir := t.TempDir()
	takeSnapshot(t, dir, 3, 3)
	takeSnapshot(t, dir, 5, 5)
	spoil(t, dir, 5)
	spoilt := mustRead(t, snapshotPath(dir, 5))
	s := mustSnapshot(t, dir)
	j := new(journal)
	l := mustOpen(t, dir, Options{Logger: j.logger()})
	gone := BadSnapshot{Path: snapshotPath(dir, 4)}
	_, gone.Err = verifySnapshot(gone.Path, newThrottle(0))
	must.Succeed(t, l.QuarantineSnapshots(append(s.Bad, gone)))
	equal(t, "snapshots", names(t, dir), "[3]")
	kept, err := filepath.Glob(filepath.Join(dir, "damage", "*.bad"))
	if err != nil || len(kept) != 1 || string(mustRead(t, kept[0])) != string(spoilt) {
		t.Errorf("kept: %v, %v", kept, err)
	}
	if !j.contains("level=ERROR") || !j.contains("invalid snapshot") || !j.contains("checksum") {
		t.Error("the move was not logged")
	}
}

func TestNoSnapshotErrorNamesCauses(t *testing.T) {
	dir := t.TempDir()
	var none *NoSnapshotError
	if _, err := OpenNewestValidSnapshot(dir); !errors.As(err, &none) || len(none.Bad) != 0 {
		t.Errorf("an empty folder: %v", err)
	}
	takeSnapshot(t, dir, 3, 3)
	takeSnapshot(t, dir, 5, 5)
	spoil(t, dir, 3)
	spoil(t, dir, 5)
	_, err := OpenNewestValidSnapshot(dir)
	if !errors.As(err, &none) || len(none.Bad) != 2 {
		t.Fatal(err)
	}
	wantError(t, err, none.Bad[1].Err)
	equal(t, "order", fmt.Sprint(none.Bad[0].Path, none.Bad[1].Path), snapshotPath(dir, 5)+snapshotPath(dir, 3))
}

// A snapshot that has its name is usable, even if an older one cannot be deleted.
func TestCommitSucceedsIfOldSnapshotStays(t *testing.T) {
	dir, j := t.TempDir(), new(journal)
	takeSnapshot(t, dir, 3, 3)
	takeSnapshot(t, dir, 4, 4)
	l := mustOpen(t, dir, Options{Logger: j.logger()})
	w := must.Value(l.BeginSnapshot(SnapshotRateOptions{BytesPerSecond: -1}))(t)
	w.remove = func(string) error { return syscall.EIO }
	info := must.Value(w.Commit(9, 9, nil))(t)
	equal(t, "written", info.Newest, 9)
	equal(t, "the files", names(t, dir), "[9 4 3]")
	if !j.contains("cannot delete old snapshots") {
		t.Error("the failure was not logged")
	}
	mustClose(t, l)
}
