package wal

import (
	"os"
	"testing"

	tidwall "github.com/tidwall/wal"
)

// The tests in this file show how tidwall/wal behaves alone. If one fails after an update,
// the library has changed, and this package may no longer need its protection.

func bare(t *testing.T, dir string) *tidwall.Log {
	t.Helper()
	log, err := tidwall.Open(logDir(dir), &tidwall.Options{SegmentSize: 3 * recordSize(12), AllowEmpty: true})
	if err != nil {
		t.Fatalf("the library alone does not open it: %v", err)
	}
	return log
}

func TestLibraryReadsZerosAsEntries(t *testing.T) {
	dir := t.TempDir()
	written(t, dir, 2, Options{})
	edit(t, lastPath(t, dir), func(b []byte) []byte { return append(b, 0, 0, 0) })
	log := bare(t, clone(t, dir))
	defer log.Close()
	last, err := log.LastIndex()
	equal(t, "entries for the library", []any{last, err}, []any{5, nil})
	l := mustOpen(t, dir, Options{})
	seq, _ := l.Durable()
	equal(t, "entries for us", seq, 2)
}

func TestLibraryOpensLogWithMissingSegment(t *testing.T) {
	dir, opt := threeAFile(t)
	os.Remove(livePath(dir, 4))
	log := bare(t, clone(t, dir))
	defer log.Close()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("reading a missing entry does not panic any more")
			}
		}()
		log.Read(5)
	}()
	wantRefusal(t, dir, opt, 4)
}

func TestLibraryAcceptsSwappedSegments(t *testing.T) {
	dir, opt := threeAFile(t)
	four, seven := mustRead(t, livePath(dir, 4)), mustRead(t, livePath(dir, 7))
	mustWrite(t, livePath(dir, 4), seven)
	mustWrite(t, livePath(dir, 7), four)
	log := bare(t, clone(t, dir))
	defer log.Close()
	frame, err := log.Read(4)
	if err != nil {
		t.Fatal(err)
	}
	_, data, err := parseFrame(frame)
	equal(t, "entry 4 of the library", []any{string(data), err}, []any{"entry-000007", nil})
	wantRefusal(t, dir, opt, 4)
}

func TestLibraryAllowsSecondWriter(t *testing.T) {
	dir := t.TempDir()
	written(t, dir, 1, Options{})
	dir = clone(t, dir)
	one, two := bare(t, dir), bare(t, dir)
	if err1, err2 := one.Write(2, []byte("one")), two.Write(2, []byte("the other")); err1 != nil || err2 != nil {
		t.Errorf("one of the writers was refused: %v, %v", err1, err2)
	}
	one.Close()
	two.Close()
	log := bare(t, dir)
	defer log.Close()
	last, err := log.LastIndex()
	equal(t, "entries of the two that were acknowledged", []any{last - 1, err}, []any{1, nil})
}

func TestLibraryDeletesSegmentsNextToStartFile(t *testing.T) {
	dir, opt := threeAFile(t)
	mustWrite(t, livePath(dir, 7)+".START", nil)
	copied := clone(t, dir)
	bare(t, copied).Close()
	if _, err := os.Stat(livePath(copied, 1)); err == nil {
		t.Error("the library keeps the segments before a START file now")
	}
	_, err := Open(dir, opt)
	wantError(t, err, ErrForeign)
}
