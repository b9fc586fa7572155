package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"pingpost/internal/must"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("WAL_TEST_CHILD"); dir != "" {
		os.Exit(child(dir))
	}
	goleak.VerifyTestMain(m)
}

// result is a Waiter that records its notification.
type result struct {
	seq  uint64
	at   int64
	err  error
	done chan struct{}
}

func newResult() *result { return &result{done: make(chan struct{})} }

func (w *result) Committed(seq uint64, at int64) { w.seq, w.at = seq, at; close(w.done) }
func (w *result) Failed(err error)               { w.err = err; close(w.done) }

// wait returns the result of the entry.
func (w *result) wait() (uint64, error) {
	<-w.done
	return w.seq, w.err
}

// mustOpen opens a log and closes it at the end of the test.
func mustOpen(t testing.TB, dir string, opt Options) *Log {
	t.Helper()
	l, err := Open(dir, opt)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// put appends the entries in one batch each, and fails the test unless all are durable.
func put(t testing.TB, l *Log, entries ...string) {
	t.Helper()
	for _, e := range entries {
		w := newResult()
		if err := l.Append([]byte(e), w); err != nil {
			t.Fatalf("Append: %v", err)
		}
		if _, err := w.wait(); err != nil {
			t.Fatalf("entry %q: %v", e, err)
		}
	}
}

// putBatch appends the entries in one batch: they queue while Do blocks the committer.
func putBatch(t testing.TB, l *Log, entries ...string) {
	t.Helper()
	waiters := make([]*result, len(entries))
	err := l.RunBetweenBatches(func(uint64, int64) {
		for i, e := range entries {
			waiters[i] = newResult()
			if err := l.Append([]byte(e), waiters[i]); err != nil {
				t.Errorf("Append: %v", err)
			}
		}
	})
	if err != nil {
		t.Fatalf("Do: %v", err)
	}
	for _, w := range waiters {
		if _, err := w.wait(); err != nil {
			t.Fatalf("batch: %v", err)
		}
	}
}

func mustClose(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

// numbered returns n distinct entries of 12 bytes each.
func numbered(n int) []string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = fmt.Sprintf("entry-%06d", i+1)
	}
	return entries
}

// written creates and closes a log with n entries, one in each batch, in small segments.
func written(t testing.TB, dir string, n int, opt Options) {
	t.Helper()
	l := mustOpen(t, dir, opt)
	put(t, l, numbered(n)...)
	mustClose(t, l)
}

// all reads a folder from entry `from` to its end.
func all(t testing.TB, dir string, from uint64) []string {
	t.Helper()
	entries, err := drain(NewReader(dir, from))
	if err != nil {
		t.Fatalf("reading: %v", err)
	}
	return entries
}

func drain(r *Reader, err error) (data []string, _ error) {
	entries, err := drainEntries(r, err)
	for _, e := range entries {
		data = append(data, string(e.Data))
	}
	return data, err
}

// drainEntries reads to the log's current end, or to an error, and closes the reader.
func drainEntries(r *Reader, err error) (entries []Entry, _ error) {
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return entries, nil
		}
		if err != nil {
			return entries, err
		}
		e.Data = bytes.Clone(e.Data)
		entries = append(entries, e)
	}
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// wantError fails unless err is want, or an error of the type that want points to.
func wantError(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want one that is %v", err, want)
	}
}

func mustSegments(t testing.TB, dir string) []Segment {
	t.Helper()
	return must.Value(Segments(dir))(t)
}

// records returns where each record of a segment file begins, and its end.
func records(t testing.TB, path string) []int {
	t.Helper()
	b := mustRead(t, path)
	at := []int{0}
	for off := 0; off < len(b); {
		size, w := binary.Uvarint(b[off:])
		off += w + int(size)
		at = append(at, off)
	}
	return at
}

func mustRead(t testing.TB, path string) []byte {
	t.Helper()
	return must.Value(os.ReadFile(path))(t)
}

func mustWrite(t testing.TB, path string, b []byte) {
	t.Helper()
	must.Succeed(t, os.MkdirAll(filepath.Dir(path), dirPerm))
	must.Succeed(t, os.WriteFile(path, b, filePerm))
}

// edit changes a file in place.
func edit(t testing.TB, path string, change func([]byte) []byte) {
	t.Helper()
	mustWrite(t, path, change(mustRead(t, path)))
}

// tree returns the contents of all files of a folder except LOCK.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "LOCK" {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		files[rel] = string(mustRead(t, path))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// clone copies a folder, as found after a machine crash in which every earlier write
// reached the disk.
func clone(t testing.TB, dir string) string {
	t.Helper()
	to := t.TempDir()
	must.Succeed(t, os.CopyFS(to, os.DirFS(dir)))
	return to
}

// journal is a logger with searchable text.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *journal) contains(text string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return bytes.Contains(j.buf.Bytes(), []byte(text))
}

func (j *journal) logger() *slog.Logger { return slog.New(slog.NewTextHandler(j, nil)) }

// takeSnapshot writes a small snapshot without a rate limit.
func takeSnapshot(t testing.TB, dir string, oldest, newest uint64) SnapshotInfo {
	t.Helper()
	w := must.Value(BeginSnapshot(dir, SnapshotRateOptions{BytesPerSecond: -1}))(t)
	fmt.Fprintf(w, "state at %d", newest)
	return must.Value(w.Commit(oldest, newest, nil))(t)
}
