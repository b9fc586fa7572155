package wal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/internal/must"
)

func TestNewLogIsEmpty(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data")
	l := mustOpen(t, dir, Options{})
	seq, at := l.LastEntry()
	equal(t, "durable", []any{seq, at, l.Epoch(), l.Dir()}, []any{0, 0, 1, dir})
	put(t, l, "a", "b")
	mustClose(t, l)
	l = mustOpen(t, dir, Options{})
	seq, _ = l.LastEntry()
	equal(t, "durable after reopening", seq, 2)
	put(t, l, "c")
	equal(t, "entries", all(t, dir, 0), "[a b c]")
	equal(t, "file of the first segment", mustSegments(t, dir)[0].Path, filepath.Join(dir, "log", "00000000000000000001"))
}

func TestSegmentsRotate(t *testing.T) {
	for name, size := range map[string]int{
		"one entry a segment":           1,
		"an entry that just fills it":   recordSize(12),
		"two entries":                   recordSize(12) + 1,
		"three that just fill it":       3 * recordSize(12),
		"none is ever full":             1 << 20,
		"full at the end of the stream": 5 * recordSize(12),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			written(t, dir, 10, Options{SegmentSize: size})
			written(t, dir, 10, Options{SegmentSize: size})
			equal(t, "entries", all(t, dir, 0), append(numbered(10), numbered(10)...))
			for _, s := range mustSegments(t, dir) {
				full := len(mustRead(t, s.Path)) >= size
				last := s.First == mustSegments(t, dir)[len(mustSegments(t, dir))-1].First
				if full == last {
					t.Errorf("segment %d: full %v, last %v", s.First, full, last)
				}
			}
		})
	}
}

func TestSegmentSizeCanChange(t *testing.T) {
	dir := t.TempDir()
	want := []string{}
	for _, size := range []int{1 << 20, 100, 10, 1 << 20, 60} {
		written(t, dir, 3, Options{SegmentSize: size})
		want = append(want, numbered(3)...)
	}
	equal(t, "entries", all(t, dir, 0), want)
}

func TestLogCanBeginAfterSnapshot(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, livePath(dir, 501), nil)
	l := mustOpen(t, dir, Options{From: 501, AtLeast: 500, NotBefore: 77, Now: func() int64 { return 5 }})
	seq, _ := l.LastEntry()
	equal(t, "durable", seq, 500)
	put(t, l, "a")
	seq, at := l.LastEntry()
	equal(t, "the first entry", []any{seq, at}, []any{501, 77})
	mustClose(t, l)
	mustOpen(t, dir, Options{From: 501, AtLeast: 501})
}

func TestOpenRejectsLogBehindSnapshot(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(t *testing.T, dir string)
		opt     Options
		says    string
	}{
		"it ends before the snapshot": {
			opt:  Options{From: 3, AtLeast: 11},
			says: "ends with entry 10, but a snapshot contains entry 11",
		},
		"it ends before the replay begins": {
			opt:  Options{From: 12},
			says: "ends with entry 10, but a snapshot contains entry 11",
		},
		"it begins after the snapshot": {
			prepare: func(t *testing.T, dir string) { os.Remove(livePath(dir, 1)) },
			opt:     Options{From: 2},
			says:    "this start needs entries from 2 on",
		},
		"it is gone, with a snapshot": {
			prepare: func(t *testing.T, dir string) { os.RemoveAll(logDir(dir)) },
			opt:     Options{From: 2, AtLeast: 5},
			says:    "has no segments, but an archive or a snapshot exists",
		},
		"it is gone, with an archive": {
			prepare: func(t *testing.T, dir string) {
				mustWrite(t, archivePath(dir, 1), mustRead(t, livePath(dir, 1)))
				os.RemoveAll(logDir(dir))
			},
			says: "has no segments, but an archive or a snapshot exists",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			written(t, dir, 10, Options{SegmentSize: 3 * recordSize(12)})
			if c.prepare != nil {
				c.prepare(t, dir)
			}
			before := tree(t, dir)
			_, err := Open(dir, c.opt)
			wantError(t, err, ErrDamaged)
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error %q does not say %q", err, c.says)
			}
			equal(t, "files", tree(t, dir), before)
		})
	}
}

func TestOpenRejectsForeignFiles(t *testing.T) {
	for _, name := range []string{
		"00000000000000000002.START", "00000000000000000002.END",
		"00000000000000000000", "99999999999999999999",
	} {
		dir := t.TempDir()
		written(t, dir, 3, Options{SegmentSize: 1})
		mustWrite(t, filepath.Join(logDir(dir), name), nil)
		before := tree(t, dir)
		_, err := Open(dir, Options{})
		wantError(t, err, ErrForeign)
		if !strings.Contains(err.Error(), name) {
			t.Errorf("the error %q does not name %s", err, name)
		}
		equal(t, "files", tree(t, dir), before)
	}
	dir := t.TempDir()
	must.Succeed(t, os.MkdirAll(livePath(dir, 2), dirPerm))
	_, err := Open(dir, Options{})
	wantError(t, err, ErrForeign)
}

func TestOpenLeavesOtherFilesAlone(t *testing.T) {
	dir := t.TempDir()
	written(t, dir, 3, Options{})
	mustWrite(t, filepath.Join(logDir(dir), "notes.txt"), []byte("ours"))
	mustWrite(t, filepath.Join(logDir(dir), "copy.tmp"), []byte("of a crash in the last start"))
	written(t, dir, 1, Options{})
	equal(t, "notes", string(mustRead(t, filepath.Join(logDir(dir), "notes.txt"))), "ours")
	if _, err := os.Stat(filepath.Join(logDir(dir), "copy.tmp")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the unfinished copy is still there: %v", err)
	}
}

func TestEpochOfFolderAndFrames(t *testing.T) {
	dir := t.TempDir()
	written(t, dir, 1, Options{})
	must.Succeed(t, WriteEpoch(dir, 4))
	written(t, dir, 1, Options{})
	os.Remove(filepath.Join(dir, "EPOCH"))
	l := mustOpen(t, dir, Options{})
	equal(t, "epoch after the file was lost", l.Epoch(), 4)
	r := must.Value(l.NewReader(0))(t)
	defer r.Close()
	for _, want := range []uint32{1, 4} {
		e := must.Value(r.Next())(t)
		equal(t, "epoch of the entry", e.Epoch, want)
	}
	mustClose(t, l)
	mustWrite(t, filepath.Join(dir, "EPOCH"), []byte("none"))
	if _, err := Open(dir, Options{}); err == nil {
		t.Error("an unreadable epoch was passed over")
	}
}

func TestOptionsHaveDefaults(t *testing.T) {
	o := Options{}.withDefaults()
	equal(t, "sizes", []int{o.SegmentSize, o.MaxBatch, o.MaxBatchBytes, o.QueueLen, o.QueueBytes, o.reopenAfter},
		[]int{2 << 20, 256, 1 << 20, 4096, 64 << 20, 10_000})
	if first := o.Now(); o.Logger == nil || o.Now() < first {
		t.Error("the logger is missing, or the clock goes back")
	}
}

func TestFilePermissions(t *testing.T) {
	dir := t.TempDir()
	written(t, dir, 5, Options{SegmentSize: 1})
	for _, s := range mustSegments(t, dir) {
		info := must.Value(os.Stat(s.Path))(t)
		equal(t, "mode of "+s.Path, info.Mode().Perm(), filePerm)
	}
}

func TestFree(t *testing.T) {
	if free, err := FreeDiskSpace(t.TempDir()); err != nil || free == 0 {
		t.Errorf("got %d, %v", free, err)
	}
	if _, err := FreeDiskSpace(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a folder that is not there has free space")
	}
}
