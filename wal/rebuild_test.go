package wal

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// entriesOf reads a folder's entries and copies their data.
func entriesOf(t testing.TB, dir string, from uint64) []Entry {
	t.Helper()
	return must.Value(drainEntries(NewReader(dir, from)))(t)
}

// rebuilt writes entries to a new folder.
func rebuilt(t testing.TB, entries []Entry, epoch uint32) (dir string) {
	t.Helper()
	dir = t.TempDir()
	b := must.Value(NewRebuilder(dir, entries[0].Seq))(t)
	b.size = 200
	for i := range entries {
		must.Succeed(t, b.Append(&entries[i]))
	}
	must.Succeed(t, b.Close(epoch))
	return dir
}

// The test cuts a log after every entry: the rebuilt rest equals the original byte for
// byte, opens, and continues in another epoch.
func TestRebuiltLogEqualsPrefix(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir, Options{SegmentSize: 300})
	put(t, l, numbered(5)...)
	putBatch(t, l, numbered(7)...)
	put(t, l, numbered(9)...)
	mustClose(t, l)
	entries := entriesOf(t, dir, 0)
	for last := 1; last <= len(entries); last++ {
		again := rebuilt(t, entries[:last], 7)
		equal(t, "the entries", entriesOf(t, again, 0), entries[:last])
		report, err := Verify(again, nil)
		if err != nil || !report.OK() || report.Torn != nil || report.Last != uint64(last) {
			t.Fatalf("of %d entries: %+v, %v", last, report, err)
		}
		l := mustOpen(t, again, Options{SegmentSize: 300})
		equal(t, "the epoch", l.Epoch(), uint32(7))
		put(t, l, "and on")
		mustClose(t, l)
		on := entriesOf(t, again, 0)
		equal(t, "what follows", [2]any{on[last].Seq, on[last].Epoch}, [2]any{last + 1, 7})
	}
}

func TestRebuildBeginsAfterHistory(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir, Options{SegmentSize: 200})
	put(t, l, numbered(20)...)
	mustClose(t, l)
	first := mustSegments(t, dir)[2].First
	entries := entriesOf(t, dir, first)
	again := rebuilt(t, entries, 2)
	equal(t, "the first segment", mustSegments(t, again)[0].First, first)
	equal(t, "the entries", entriesOf(t, again, 0), entries)
}

func TestRebuildRejects(t *testing.T) {
	good := func() []Entry {
		return []Entry{
			{Seq: 4, Batch: 4, At: 10, Epoch: 2, Data: []byte("a")},
			{Seq: 5, Batch: 4, At: 10, Epoch: 2, Data: []byte("b")},
			{Seq: 6, Batch: 6, At: 11, Epoch: 2, Data: []byte("c")},
		}
	}
	for what, change := range map[string]func(e []Entry){
		"a gap":                        func(e []Entry) { e[2].Seq, e[2].Batch = 7, 7 },
		"an entry twice":               func(e []Entry) { e[2] = e[1] },
		"another beginning":            func(e []Entry) { e[0].Seq, e[0].Batch = 5, 5 },
		"a beginning inside of batch":  func(e []Entry) { e[0].Batch = 3 },
		"a time that goes back":        func(e []Entry) { e[2].At = 9 },
		"an epoch that goes back":      func(e []Entry) { e[2].Epoch = 1 },
		"a batch that nobody has seen": func(e []Entry) { e[2].Batch = 5 },
	} {
		entries := good()
		change(entries)
		b, err := NewRebuilder(t.TempDir(), 4)
		for i := range entries {
			if err == nil {
				err = b.Append(&entries[i])
			}
		}
		var bad invalidFrameError
		if !errors.As(err, &bad) {
			t.Errorf("%s: %v", what, err)
		}
		b.Abort()
	}
	dir := t.TempDir()
	written(t, dir, 1, Options{})
	if _, err := NewRebuilder(dir, 1); err == nil || !strings.Contains(err.Error(), "folder without a log") {
		t.Errorf("beside a log: %v", err)
	}
}

func TestRecords(t *testing.T) {
	dir := t.TempDir()
	written(t, dir, 5, Options{})
	var records []byte
	for _, e := range entriesOf(t, dir, 0) {
		records = AppendRecord(records, &e)
	}
	if file := mustRead(t, mustSegments(t, dir)[0].Path); !bytes.Equal(file, records) {
		t.Fatal("the records are not those of the segment")
	}
	first, n, err := ParseRecord(records)
	equal(t, "the first", []any{first.Seq, string(first.Data), err}, []any{1, "entry-000001", nil})
	for i := range n {
		damaged := bytes.Clone(records[:n])
		damaged[i] ^= 0x10
		if _, _, err := ParseRecord(damaged); err == nil {
			t.Errorf("byte %d is flipped, and it was taken", i)
		}
		_, _, err := ParseRecord(records[:i])
		wantError(t, err, ErrDamaged)
	}
}

func TestPutSnapshotIsAtomic(t *testing.T) {
	from := t.TempDir()
	content := mustRead(t, takeSnapshot(t, from, 3, 9).Path)
	dir := t.TempDir()
	info, err := PutSnapshot(dir, bytes.NewReader(content))
	equal(t, "what it is", []any{info.LastInAllSections, info.Newest, err}, []any{3, 9, nil})
	s := must.Value(OpenNewestValidSnapshot(dir))(t)
	defer s.Close()
	equal(t, "its file", tree(t, dir), tree(t, from))
	for cut := range content {
		bad := t.TempDir()
		flipped := bytes.Clone(content)
		flipped[cut] ^= 1
		for what, content := range map[string][]byte{"cut": content[:cut], "flipped": flipped} {
			if _, err := PutSnapshot(bad, bytes.NewReader(content)); err == nil && !(what == "flipped" && cut >= 5 && cut < 8) {
				t.Fatalf("%s at %d: it was taken", what, cut)
			}
		}
		if left, err := os.ReadDir(snapshotDir(bad)); err != nil || len(left) > 0 && (cut < 5 || cut > 7) {
			t.Fatalf("at %d it leaves %v, %v", cut, left, err)
		}
	}
}

// A read error does not mean that the snapshot is damaged.
func TestCheckSnapshotDistinguishesReadErrors(t *testing.T) {
	content := mustRead(t, takeSnapshot(t, t.TempDir(), 3, 9).Path)
	broken := errors.New("the network is down")
	for _, size := range []int{0, blockHeader, len(content) / 2, len(content)} {
		_, err := CheckSnapshot(io.MultiReader(bytes.NewReader(content[:size]), errReader{broken}))
		wantError(t, err, broken)
		if errors.Is(err, ErrDamaged) || strings.Contains(err.Error(), "damaged") {
			t.Errorf("a read error after %d bytes is reported as damage: %v", size, err)
		}
		if size < len(content) {
			_, err = CheckSnapshot(bytes.NewReader(content[:size]))
			wantError(t, err, ErrDamaged)
		}
	}
}

// If the folder cannot be listed, the error does not claim that it contains a log.
func TestRebuilderNamesCause(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, archiveDir(dir), []byte("a file where a folder is due"))
	if _, err := NewRebuilder(dir, 1); err == nil || strings.Contains(err.Error(), "without a log") {
		t.Errorf("an unreadable folder: %v", err)
	}
}
