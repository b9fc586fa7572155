package wal

import (
	"errors"
	"io"
	"os"
	"testing"

	"pingpost/internal/must"
)

func TestReaderContinuesAfterEOF(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir, Options{SegmentSize: 2 * recordSize(12)})
	ours := must.Value(l.NewReader(0))(t)
	defer ours.Close()
	theirs := must.Value(NewReader(dir, 0))(t)
	defer theirs.Close()
	for i, want := range numbered(7) {
		for name, r := range map[string]*Reader{"of the log": ours, "of the folder": theirs} {
			if _, err := r.Next(); !errors.Is(err, io.EOF) {
				t.Fatalf("%s, before entry %d: %v", name, i+1, err)
			}
		}
		put(t, l, want)
		for name, r := range map[string]*Reader{"of the log": ours, "of the folder": theirs} {
			e, err := r.Next()
			if err != nil || string(e.Data) != want || e.Seq != uint64(i+1) {
				t.Fatalf("%s: got %d %q, %v", name, e.Seq, e.Data, err)
			}
		}
	}
	seg, off := ours.Position()
	equal(t, "position", []any{seg, off}, []any{7, recordSize(12)})
	mustClose(t, l)
	if _, err := ours.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after Close of the log: %v", err)
	}
	ours.Close()
	if _, err := ours.Next(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestReaderCrossesArchive(t *testing.T) {
	dir, _ := threeAFile(t)
	r := must.Value(NewReader(dir, 2))(t)
	defer r.Close()
	next := func() string {
		e := must.Value(r.Next())(t)
		return string(e.Data)
	}
	equal(t, "before the move", next(), "entry-000002")
	moveToArchive(t, dir, 1, 4) // the segment it reads, and the next
	for _, want := range numbered(10)[2:] {
		equal(t, "after the move", next(), want)
	}
	equal(t, "from the beginning", all(t, dir, 0), numbered(10))
	segments := mustSegments(t, dir)
	equal(t, "archived", []bool{segments[0].Archived, segments[1].Archived, segments[2].Archived}, "[true true false]")
}

func TestReaderReturnsErrGone(t *testing.T) {
	dir, _ := threeAFile(t)
	r := must.Value(NewReader(dir, 1))(t)
	defer r.Close()
	must.Value(r.Next())(t)
	os.Remove(livePath(dir, 1))
	os.Remove(livePath(dir, 4))
	for range 2 { // the reader reads its open segment to the end
		must.Value(r.Next())(t)
	}
	_, err := r.Next()
	wantError(t, err, ErrGone)
	_, err = NewReader(dir, 3)
	wantError(t, err, ErrGone)
	equal(t, "the oldest there is", all(t, dir, 0), numbered(10)[6:])
	_, err = NewReader(t.TempDir(), 0)
	wantError(t, err, os.ErrNotExist)
}

func TestReaderStopsBeforeTornEnd(t *testing.T) {
	dir := t.TempDir()
	written(t, dir, 3, Options{})
	whole := mustRead(t, lastPath(t, dir))
	at := records(t, lastPath(t, dir))
	for cut := at[2]; cut < at[3]; cut++ {
		mustWrite(t, lastPath(t, dir), whole[:cut])
		equal(t, "entries", all(t, dir, 0), numbered(2))
	}
	mustWrite(t, lastPath(t, dir), append(whole[:at[2]:at[2]], make([]byte, 500)...))
	equal(t, "entries before zeros", all(t, dir, 0), numbered(2))
}

func TestReaderSurvivesWriterRestart(t *testing.T) {
	dir := t.TempDir()
	written(t, dir, 3, Options{})
	edit(t, lastPath(t, dir), func(b []byte) []byte { return append(b, 44, 0xFF, 'W') })
	r := must.Value(NewReader(dir, 0))(t)
	defer r.Close()
	var got []string
	read := func() {
		for {
			e, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(e.Data))
		}
	}
	read()
	for round := range 3 { // each restart replaces the last segment's file
		l := mustOpen(t, dir, Options{SegmentSize: 4 * recordSize(12)})
		put(t, l, numbered(3 + 2*round + 2)[3+2*round:]...)
		if round != 1 {
			read()
		}
		mustClose(t, l)
		read()
	}
	equal(t, "entries", got, numbered(9))
}

func TestLiveReaderReportsDamage(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir, Options{})
	put(t, l, numbered(3)...)
	edit(t, lastPath(t, dir), func(b []byte) []byte { b[len(b)-1] ^= 1; return b })
	got, err := drain(l.NewReader(0))
	wantError(t, err, ErrDamaged)
	equal(t, "entries before the damage", got, numbered(2))
}
