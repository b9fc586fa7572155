package datacopy

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pingpost/internal/must"
	"pingpost/wal"
)

func put(t *testing.T, l *wal.Log, from, to int) {
	t.Helper()
	done := make(chan error, to-from)
	for n := from; n < to; n++ {
		must.Succeed(t, l.Append(fmt.Appendf(nil, "lead %d", n), waiter{done}))
	}
	for range to - from {
		must.Succeed(t, <-done)
	}
}

type waiter struct{ done chan error }

func (w waiter) Committed(uint64, int64) { w.done <- nil }
func (w waiter) Failed(err error)        { w.done <- err }

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	must.Succeed(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
	must.Succeed(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
}

// newSource returns the data directory of a running node: archived and live segments, a snapshot, and
// files.
func newSource(t *testing.T) (string, *wal.Log) {
	t.Helper()
	dir := t.TempDir()
	l := must.Value(wal.Open(dir, wal.Options{SegmentSize: 2 << 10}))(t)
	t.Cleanup(func() { l.Close() })
	put(t, l, 0, 300)
	w := must.Value(l.BeginSnapshot(wal.SnapshotRateOptions{BytesPerSecond: -1}))(t)
	fmt.Fprint(w, "state")
	must.Value(w.Commit(200, 200, nil))(t)
	l.RaiseArchiveAndDeletionLimits(150, 0)
	write(t, dir, "keys/leads/00000000000000000001", "keys")
	write(t, dir, "keys/exchange.key", "secret")
	write(t, dir, "CLUSTER", "id")
	write(t, dir, "catalogs/aa.json", "{}")
	write(t, dir, "catalogs/bb.json.tmp", "unfinished")
	write(t, dir, "lists/cc", "list")
	write(t, dir, "report.db", "built from the log")
	return dir, l
}

func entries(t *testing.T, dir string) (list []string) {
	t.Helper()
	reader := must.Value(wal.NewReader(dir, 1))(t)
	defer reader.Close()
	for {
		e, err := reader.Next()
		if err != nil {
			return list
		}
		list = append(list, string(e.Data))
	}
}

// TestCopyOfRunningNode: the log grows and its archiver moves segments during the copy. The copy has the
// entries up to the beginning of the copy, the snapshot and the files, and opens as a log.
func TestCopyOfRunningNode(t *testing.T) {
	for round := range 4 {
		dir, l := newSource(t)
		grow := make(chan struct{})
		go func() {
			defer close(grow)
			for n := 300; n < 500; n++ { // as in an exchange, the file exists before its entry
				write(t, dir, fmt.Sprintf("lists/of lead %d", n), "list")
				put(t, l, n, n+1)
			}
		}()
		time.Sleep(time.Duration(round) * 10 * time.Millisecond)
		var archive bytes.Buffer
		must.Succeed(t, Send(&archive, dir, l, 0, nil))
		<-grow
		to := filepath.Join(t.TempDir(), "data")
		must.Succeed(t, Receive(&archive, to))
		got := entries(t, to)
		if all := entries(t, dir); len(got) < 300 || !slices.Equal(got, all[:len(got)]) {
			t.Fatalf("the copy has %d entries, or other ones", len(got))
		}
		for name, want := range map[string]string{"keys/leads/00000000000000000001": "keys", "catalogs/aa.json": "{}", "lists/cc": "list", "CLUSTER": "id"} {
			if content := must.Value(os.ReadFile(filepath.Join(to, name)))(t); string(content) != want {
				t.Errorf("%s is %q, want %q", name, content, want)
			}
		}
		for _, lead := range got[300:] {
			if _, err := os.Stat(filepath.Join(to, "lists", "of "+lead)); err != nil {
				t.Fatalf("the copy has the entry %s without its file", lead)
			}
		}
		for _, name := range []string{"keys/exchange.key", "report.db", "catalogs/bb.json.tmp", unfinishedName} {
			if _, err := os.Stat(filepath.Join(to, name)); err == nil {
				t.Errorf("the copy has %s", name)
			}
		}
		snapshot := must.Value(wal.OpenNewestValidSnapshot(to))(t)
		if snapshot.Newest != 200 {
			t.Errorf("the snapshot has entry %d, want 200", snapshot.Newest)
		}
		snapshot.Close()
		must.Succeed(t, must.Value(wal.OpenReplica(to, wal.Options{From: 201, AtLeast: 200}))(t).Close())
	}
}

// TestInterruptedCopyIsRepeated: a copy that ends early stays marked, and the next one replaces it.
func TestInterruptedCopyIsRepeated(t *testing.T) {
	dir, l := newSource(t)
	var archive bytes.Buffer
	must.Succeed(t, Send(&archive, dir, l, 0, nil))
	to := t.TempDir()
	for cut := 0; cut < archive.Len()-1024; cut += 1 + archive.Len()/50 {
		if err := Receive(bytes.NewReader(archive.Bytes()[:cut]), to); err == nil {
			t.Fatalf("a copy of %d from %d bytes is complete", cut, archive.Len())
		}
		if !must.Value(IsUnfinished(to))(t) {
			t.Fatalf("a copy of %d bytes is not marked", cut)
		}
	}
	must.Succeed(t, Receive(bytes.NewReader(archive.Bytes()), to))
	if got := entries(t, to); len(got) != 300 || must.Value(IsUnfinished(to))(t) {
		t.Errorf("the copy has %d entries, want 300", len(got))
	}
	if err := Receive(bytes.NewReader(archive.Bytes()), to); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("a copy over a node's data: %v, want %v", err, ErrNotEmpty)
	}
}

// TestCopyWritesOnlyItsFiles: the other node cannot write outside the data directory, or a key.
func TestCopyWritesOnlyItsFiles(t *testing.T) {
	for _, h := range []tar.Header{
		{Name: "../x"},
		{Name: "/x"},
		{Name: "keys/exchange.key"},
		{Name: "log/../../x"},
		{Name: "log/a/b"},
		{Name: "report.db"},
		{Name: "log/x", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "log", Typeflag: tar.TypeDir},
		{Name: "COPYING"},
		{Name: "log"},
	} {
		var archive bytes.Buffer
		w := tar.NewWriter(&archive)
		must.Succeed(t, w.WriteHeader(&h))
		must.Succeed(t, w.WriteHeader(&tar.Header{Name: endName}))
		must.Succeed(t, w.Close())
		if err := Receive(&archive, t.TempDir()); err == nil {
			t.Errorf("%s is accepted", h.Name)
		}
	}
}
