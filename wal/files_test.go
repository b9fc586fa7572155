package wal

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/internal/durable"
	"pingpost/internal/must"
)

func TestWriteFileIsAtomic(t *testing.T) {
	broken := errors.New("broken pipe")
	for name, c := range map[string]struct {
		content io.Reader
		size    int64
		want    string
		err     error
	}{
		"whole":     {strings.NewReader("new"), 3, "new", nil},
		"empty":     {strings.NewReader(""), 0, "", nil},
		"too short": {strings.NewReader("ne"), 3, "old", io.ErrUnexpectedEOF},
		"broken":    {io.MultiReader(strings.NewReader("n"), errReader{broken}), 3, "old", broken},
	} {
		path := filepath.Join(t.TempDir(), "file")
		mustWrite(t, path, []byte("old"))
		err := replaceFileDurably(path, c.content, c.size)
		if !errors.Is(err, c.err) || string(mustRead(t, path)) != c.want {
			t.Errorf("%s: %v, the file has %q", name, err, mustRead(t, path))
		}
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

func TestReplaceFileByOwnPrefix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "segment")
	mustWrite(t, path, []byte("good tail"))
	must.Succeed(t, copyFileOver(path, path, 4))
	equal(t, "what is left", string(mustRead(t, path)), "good")
	wantError(t, copyFileOver(path, filepath.Join(t.TempDir(), "none"), 0), fs.ErrNotExist)
}

func TestMoveFile(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "a", "x"), filepath.Join(dir, "b", "y")
	mustWrite(t, from, []byte("moved"))
	must.Succeed(t, durable.MakeFolder(filepath.Join(dir, "b")))
	must.Succeed(t, moveFile(from, to))
	equal(t, "there", string(mustRead(t, to)), "moved")
	wantError(t, moveFile(from, to), fs.ErrNotExist)
}

func TestParseName(t *testing.T) {
	for name, want := range map[string]uint64{
		"00000000000000000001":      1,
		"18446744073709551615":      1<<64 - 1,
		"18446744073709551616":      0, // over 64 bits
		"00000000000000000000":      0,
		"0000000000000000001":       0,
		"000000000000000000001":     0,
		"0000000000000000000x":      0,
		"+0000000000000000001":      0,
		"00000000000000000001.seg":  0,
		"00000000000000000001.END":  0,
		"copy.tmp":                  0,
		"":                          0,
		"00000000000000000001.snap": 0,
	} {
		if got, ok := parseSequenceName(name, ""); got != want && ok || ok != (want > 0) {
			t.Errorf("%q is read as %d, %v", name, got, ok)
		}
	}
	if got, ok := parseSequenceName("00000000000000000012.seg", archiveSuffix); got != 12 || !ok {
		t.Errorf("an archived segment is read as %d, %v", got, ok)
	}
}

func TestMovingSegmentIsListedOnce(t *testing.T) {
	dir, _ := threeAFile(t)
	mustWrite(t, archivePath(dir, 1), bytes.Clone(mustRead(t, livePath(dir, 1))))
	segments := mustSegments(t, dir)
	equal(t, "segments", len(segments), 4)
	equal(t, "the first", []any{segments[0].First, segments[0].Archived}, []any{1, true})
	_, err := Segments(t.TempDir())
	wantError(t, err, os.ErrNotExist)
}
