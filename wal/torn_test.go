package wal

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pingpost/internal/must"
)

// lastPath returns the file of the last segment.
func lastPath(t testing.TB, dir string) string {
	t.Helper()
	segments := mustSegments(t, dir)
	return segments[len(segments)-1].Path
}

// wantCut opens a log with a torn end, and checks that n entries remain, that damage/ has a
// copy of the original segment, and that the log works.
func wantCut(t *testing.T, dir string, n int) {
	t.Helper()
	torn := lastPath(t, dir)
	was := mustRead(t, torn)
	j := new(journal)
	l, err := Open(dir, Options{Logger: j.logger()})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	seq, _ := l.LastEntry()
	equal(t, "entries that are left", seq, n)
	put(t, l, "next")
	mustClose(t, l)
	equal(t, "entries", all(t, dir, 0), append(numbered(n), "next"))
	kept, err := filepath.Glob(filepath.Join(dir, "damage", "*.torn"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept copies: %v, %v", kept, err)
	}
	if !bytes.Equal(mustRead(t, kept[0]), was) {
		t.Error("the copy is not what was there")
	}
	if !j.contains("crash left incomplete") || !j.contains(torn) {
		t.Error("the cut was not logged")
	}
}

func TestOpenCutsTornRecord(t *testing.T) {
	origin := t.TempDir()
	written(t, origin, 6, Options{SegmentSize: 4 * recordSize(12)})
	at := records(t, lastPath(t, origin))
	if len(at) != 3 {
		t.Fatalf("the last segment has %d records", len(at)-1)
	}
	for cut := at[1] + 1; cut < at[2]; cut++ {
		dir := clone(t, origin)
		edit(t, lastPath(t, dir), func(b []byte) []byte { return b[:cut] })
		wantCut(t, dir, 5)
	}
}

func TestTornFirstRecordLeavesEmptySegment(t *testing.T) {
	dir := t.TempDir()
	written(t, dir, 5, Options{SegmentSize: 4 * recordSize(12)})
	edit(t, lastPath(t, dir), func(b []byte) []byte { return b[:len(b)-1] })
	last := lastPath(t, dir)
	l := mustOpen(t, dir, Options{SegmentSize: 4 * recordSize(12)})
	equal(t, "bytes left in the segment", len(mustRead(t, last)), 0)
	put(t, l, "next")
	mustClose(t, l)
	equal(t, "entries", all(t, dir, 0), append(numbered(4), "next"))
}

func TestOpenCutsCrashRemains(t *testing.T) {
	for name, tail := range map[string]func(h frameHeader) []byte{
		"one zero":           func(frameHeader) []byte { return []byte{0} },
		"a page of zeros":    func(frameHeader) []byte { return make([]byte, 4096) },
		"megabytes of zeros": func(frameHeader) []byte { return make([]byte, 3<<20) },
		"noise":              func(frameHeader) []byte { return bytes.Repeat([]byte("noise"), 100) },
		"half a length":      func(frameHeader) []byte { return []byte{0xFF} },
		"a batch of which the first page is missing": func(h frameHeader) []byte {
			h.seq++
			return append(make([]byte, 57), appendRecord(nil, h, []byte("the second of the batch"))...)
		},
		"a batch with a hole": func(h frameHeader) []byte {
			batch := appendRecord(nil, h, bytes.Repeat([]byte("x"), 9000))
			clear(batch[4096:8192])
			h.seq++
			return appendRecord(batch, h, []byte("the second"))
		},
		"frames inside what a stranger sent": func(h frameHeader) []byte {
			far := frameHeader{seq: 1 << 40, batch: 1 << 40}
			return append([]byte{0}, appendRecord(nil, far, []byte("forged"))...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			written(t, dir, 3, Options{})
			edit(t, lastPath(t, dir), func(b []byte) []byte {
				return append(b, tail(frameHeader{seq: 4, batch: 4, at: 1 << 62, epoch: 1})...)
			})
			wantCut(t, dir, 3)
		})
	}
}

func TestOpenKeepsPrefixOfTornBatch(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir, Options{})
	put(t, l, numbered(1)...)
	putBatch(t, l, numbered(4)[1:]...)
	mustClose(t, l)
	at := records(t, lastPath(t, dir))
	edit(t, lastPath(t, dir), func(b []byte) []byte {
		clear(b[at[2]:at[3]]) // the third record; the fourth is intact and of the same batch
		return b
	})
	wantCut(t, dir, 2)
}

func TestDamageBeforeLaterBatchIsNotTorn(t *testing.T) {
	for name, damage := range map[string]func(b []byte, at []int) []byte{
		"zeros in the first of two batches": func(b []byte, at []int) []byte { clear(b[at[1]:at[2]]); return b },
		"a length that swallows the rest":   func(b []byte, at []int) []byte { b[at[1]] = 200; b[at[1]+1] |= 0x80; return b },
		"a whole record cut out":            func(b []byte, at []int) []byte { return append(b[:at[1]], b[at[2]:]...) },
		"a record written twice":            func(b []byte, at []int) []byte { return append(b[:at[2]:at[2]], b[at[1]:]...) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			written(t, dir, 4, Options{})
			path := lastPath(t, dir)
			edit(t, path, func(b []byte) []byte { return damage(b, records(t, path)) })
			wantRefusal(t, dir, Options{}, 1)
			got, err := drain(NewReader(dir, 0))
			wantError(t, err, ErrDamaged)
			equal(t, "what a reader gets before it", len(got) < 4, true)
		})
	}
}

func TestFindLaterBatchAcrossWindows(t *testing.T) {
	// The search reads windows of 1 MiB; the frame's magic spans two of them.
	for _, before := range []int{1<<20 - 3, 1<<20 - 2, 1<<20 - 1, 1 << 20, 2<<20 - 3} {
		rec := appendFrame(nil, frameHeader{seq: 9, batch: 9}, []byte("later"))
		path := filepath.Join(t.TempDir(), "segment")
		mustWrite(t, path, append(make([]byte, before), rec...))
		f := must.Value(os.Open(path))(t)
		t.Cleanup(func() { f.Close() })
		for due, found := range map[uint64]bool{8: true, 9: false} {
			_, at, err := findLaterBatch(f, 0, int64(before+len(rec)), due)
			if err != nil || (at == int64(before)) != found {
				t.Errorf("%d bytes before, entry %d due: found at %d, %v", before, due, at, err)
			}
		}
	}
}

func TestOpenRewritesLastSegment(t *testing.T) {
	dir := t.TempDir()
	written(t, dir, 3, Options{})
	before := must.Value(os.Stat(lastPath(t, dir)))(t)
	mustOpen(t, dir, Options{})
	after := must.Value(os.Stat(lastPath(t, dir)))(t)
	if os.SameFile(before, after) {
		t.Error("the file whose pages may be clean and unwritten is still in use")
	}
	equal(t, "entries", all(t, dir, 0), fmt.Sprint(numbered(3)))
}
