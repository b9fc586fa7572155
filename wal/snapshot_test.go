package wal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"pingpost/internal/must"
)

// sections reads a whole snapshot.
func sections(t testing.TB, s *SnapshotReader) []string {
	t.Helper()
	var got []string
	for {
		r, err := s.Next()
		if errors.Is(err, io.EOF) {
			return got
		}
		if err != nil {
			t.Fatal(err)
		}
		b := must.Value(io.ReadAll(r))(t)
		got = append(got, string(b))
	}
}

func mustSnapshot(t testing.TB, dir string) *SnapshotReader {
	t.Helper()
	s := must.Value(OpenNewestValidSnapshot(dir))(t)
	t.Cleanup(func() { s.Close() })
	return s
}

func TestSnapshotRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		var want []string
		w := must.Value(BeginSnapshot(dir, SnapshotRateOptions{BytesPerSecond: -1}))(rt)
		for range rapid.IntRange(0, 4).Draw(rt, "sections") {
			size := rapid.SampledFrom([]int{0, 1, 100, blockFill - 1, blockFill, blockFill + 1, 2 * blockFill, blockData}).Draw(rt, "size")
			data := bytes.Repeat([]byte{rapid.Byte().Draw(rt, "byte")}, size)
			for rest := data; len(rest) > 0; {
				n := min(len(rest), rapid.IntRange(1, 1<<20).Draw(rt, "write"))
				must.Value(w.Write(rest[:n]))(rt)
				rest = rest[n:]
			}
			must.Succeed(rt, w.EndSection())
			want = append(want, string(data))
		}
		meta := rapid.SliceOf(rapid.Byte()).Draw(rt, "meta")
		info := must.Value(w.Commit(3, 9, meta))(rt)
		s := must.Value(OpenNewestValidSnapshot(dir))(rt)
		defer s.Close()
		got := sections(t, s)
		if len(got) != len(want) {
			rt.Fatalf("%d sections came back of %d", len(got), len(want))
		}
		for i := range want {
			if got[i] != want[i] {
				rt.Fatalf("section %d differs", i)
			}
		}
		if !bytes.Equal(s.Meta, meta) || s.LastInAllSections != 3 || s.Newest != 9 || s.Sections != uint64(len(want)) || s.Path != info.Path {
			rt.Fatalf("got %+v, want %+v", s.SnapshotInfo, info)
		}
	})
}

func TestNextSkipsSection(t *testing.T) {
	dir := t.TempDir()
	w := must.Value(BeginSnapshot(dir, SnapshotRateOptions{BytesPerSecond: -1}))(t)
	w.Write(make([]byte, 3<<20))
	w.EndSection()
	w.Write([]byte("second"))
	w.EndSection()
	w.Write([]byte("third, ended by Commit"))
	must.Value(w.Commit(1, 1, nil))(t)
	s := mustSnapshot(t, dir)
	r := must.Value(s.Next())(t)
	io.CopyN(io.Discard, r, 10)
	equal(t, "the rest", fmt.Sprintf("%q", sections(t, s)), `["second" "third, ended by Commit"]`)
}

func TestSnapshotDetectsFlippedBit(t *testing.T) {
	dir := t.TempDir()
	takeSnapshot(t, dir, 1, 5)
	info := takeSnapshot(t, dir, 6, 9)
	whole := mustRead(t, info.Path)
	for at := range whole {
		bad := bytes.Clone(whole)
		bad[at] ^= 1 << (at % 8)
		mustWrite(t, info.Path, bad)
		s := mustSnapshot(t, dir)
		if s.Newest != 5 || len(s.Bad) != 1 || s.Bad[0].Path != info.Path {
			t.Fatalf("byte %d: opened %d, bad: %v", at, s.Newest, s.Bad)
		}
		s.Close()
	}
}

func TestSnapshotDetectsTruncation(t *testing.T) {
	dir := t.TempDir()
	info := takeSnapshot(t, dir, 6, 9)
	whole := mustRead(t, info.Path)
	for n := range whole {
		mustWrite(t, info.Path, whole[:n])
		_, err := OpenNewestValidSnapshot(dir)
		wantError(t, err, ErrNoSnapshot)
		if !strings.Contains(err.Error(), info.Path) {
			t.Fatalf("the error does not name the file: %v", err)
		}
	}
	mustWrite(t, info.Path, append(bytes.Clone(whole), 0))
	_, err := OpenNewestValidSnapshot(dir)
	wantError(t, err, ErrNoSnapshot)
	mustWrite(t, snapshotPath(dir, 10), whole)
	os.Remove(info.Path)
	_, err = OpenNewestValidSnapshot(dir)
	wantError(t, err, ErrNoSnapshot)
}

func TestSnapshotDetectsMisplacedBlocks(t *testing.T) {
	data := snapshotBlock{kind: kindData, ends: true, payload: []byte("data")}
	at := func(b snapshotBlock, index uint32) []byte { b.index = index; return appendBlock(nil, b) }
	trailer := func(sections, bytes uint64, index uint32) []byte {
		return at(snapshotBlock{kind: kindTrailer, payload: appendTrailer(nil, SnapshotInfo{Newest: 7, Sections: sections, Bytes: bytes})}, index)
	}
	later := at(data, 0)
	later[3] = 2
	for name, c := range map[string]struct {
		file []byte
		good bool
	}{
		"as written":               {append(at(data, 0), trailer(1, 4, 1)...), true},
		"a block is missing":       {append(at(data, 1), trailer(1, 4, 2)...), false},
		"a block is present twice": {append(append(at(data, 0), at(data, 0)...), trailer(2, 8, 2)...), false},
		"a section is missing":     {append(at(data, 0), trailer(2, 4, 1)...), false},
		"bytes are missing":        {append(at(data, 0), trailer(1, 5, 1)...), false},
		"no trailer":               {at(data, 0), false},
		"a short trailer":          {at(snapshotBlock{kind: kindTrailer, payload: []byte("x")}, 0), false},
		"an unknown kind":          {append(at(snapshotBlock{kind: 9}, 0), trailer(0, 0, 1)...), false},
		"a later version":          {append(later, trailer(1, 4, 1)...), false},
		"nothing":                  {nil, false},
	} {
		dir := t.TempDir()
		mustWrite(t, snapshotPath(dir, 7), c.file)
		s, err := OpenNewestValidSnapshot(dir)
		if (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			s.Close()
		}
	}
}

func TestAbortedSnapshotLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	takeSnapshot(t, dir, 1, 5)
	before := tree(t, dir)
	w := must.Value(BeginSnapshot(dir, SnapshotRateOptions{}))(t)
	w.Write([]byte("half"))
	equal(t, "while it is written", sections(t, mustSnapshot(t, dir)), "[state at 5]")
	w.Abort()
	w.Abort()
	equal(t, "files after Abort", tree(t, dir), before)
	if _, err := w.Write([]byte("more")); err == nil {
		t.Error("it takes more after Abort")
	}
	for _, c := range []struct{ oldest, newest uint64 }{{0, 0}, {7, 6}} {
		w := must.Value(BeginSnapshot(dir, SnapshotRateOptions{}))(t)
		if _, err := w.Commit(c.oldest, c.newest, nil); err == nil {
			t.Errorf("stamps %d to %d were taken", c.oldest, c.newest)
		}
	}
	equal(t, "files after refusals", tree(t, dir), before)
	// A crash leaves the temporary file; the next snapshot replaces it.
	mustWrite(t, filepath.Join(snapshotDir(dir), "next.tmp"), make([]byte, 1000))
	takeSnapshot(t, dir, 8, 8)
	equal(t, "after a crash", sections(t, mustSnapshot(t, dir)), "[state at 8]")
}

func TestUnreadableSnapshotGetsNoName(t *testing.T) {
	dir := t.TempDir()
	takeSnapshot(t, dir, 1, 4)
	takeSnapshot(t, dir, 1, 5)
	before := tree(t, dir)
	w := must.Value(BeginSnapshot(dir, SnapshotRateOptions{BytesPerSecond: -1}))(t)
	w.Write([]byte("state at 9"))
	w.EndSection()
	edit(t, w.tmp, func(b []byte) []byte { b[len(b)-6] ^= 1; return b })
	if _, err := w.Commit(9, 9, nil); err == nil {
		t.Fatal("a damaged snapshot was committed")
	}
	equal(t, "files", tree(t, dir), before)
}

func TestSnapshotIsThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := mustOpen(t, t.TempDir(), Options{})
		put(t, l, numbered(5)...)
		start := time.Now()
		w := must.Value(l.BeginSnapshot(SnapshotRateOptions{BytesPerSecond: 1 << 20}))(t)
		w.Write(make([]byte, 8<<20))
		must.Value(w.Commit(5, 5, nil))(t)
		// Eight seconds to write, eight to read back, and a little for headers.
		if took := time.Since(start); took < 16*time.Second || took > 16*time.Second+100*time.Millisecond {
			t.Errorf("8 MiB written and read back at 1 MiB/s took %v", took)
		}
		mustClose(t, l)
	})
}
