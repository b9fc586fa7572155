package backup

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pingpost/wal"
	"pingpost/wal/backup/store"

	"pingpost/internal/must"
)

// TestMain puts the tests' files into memory if possible, because only the log's own tests
// need real fsyncs.
func TestMain(m *testing.M) {
	if probe, err := os.MkdirTemp("/dev/shm", ""); err == nil {
		_ = os.Remove(probe)
		_ = os.Setenv("TMPDIR", "/dev/shm")
	}
	goleak.VerifyTestMain(m)
}

// tester is the interface that tests and rapid properties share.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// site is an exchange's folder with a log. Its state is a hash of all entries, and a
// snapshot contains that hash.
type site struct {
	t       tester
	dir     string
	log     *wal.Log
	entries []wal.Entry // that are durable
	clock   int64
	small   int // size of a segment
}

func newSite(t tester, dir string) *site {
	t.Helper()
	s := &site{t: t, dir: dir, clock: 1_700_000_000_000_000_000, small: 600}
	s.must(os.MkdirAll(dir, 0o700))
	s.file("keys/"+exchangeKey, hex.EncodeToString(random(32))+"\n")
	s.open()
	s.closeAfterTest()
	return s
}

// copyAt opens the copy of the site in another folder, and closes it after the test.
func (s *site) copyAt(dir string) *site {
	s.t.Helper()
	c := &site{t: s.t, dir: dir, clock: s.clock, small: s.small}
	c.open()
	c.entries = read(s.t, dir, 1, nil)
	c.closeAfterTest()
	return c
}

func (s *site) closeAfterTest() {
	if t, ok := s.t.(testing.TB); ok {
		t.Cleanup(s.close)
	}
}

func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) open() {
	s.t.Helper()
	opt := wal.Options{SegmentSize: s.small, Now: func() int64 { s.clock += int64(time.Second); return s.clock }}
	if snapshot, err := wal.OpenNewestValidSnapshot(s.dir); err == nil {
		opt.From, opt.AtLeast = snapshot.LastInAllSections+1, snapshot.Newest
		snapshot.Close()
	}
	log := must.Value(wal.Open(s.dir, opt))(s.t)
	s.log = log
}

func (s *site) close() {
	s.t.Helper()
	s.must(s.log.Close())
}

func (s *site) file(name, content string) {
	s.t.Helper()
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	s.must(os.MkdirAll(filepath.Dir(path), 0o700))
	s.must(os.WriteFile(path, []byte(content), 0o600))
}

type waiter chan error

func (w waiter) Committed(uint64, int64) { w <- nil }

func (w waiter) Failed(err error) { w <- err }

// put logs the entries in one batch.
func (s *site) put(entries ...string) {
	s.t.Helper()
	waiting := make(waiter, len(entries))
	s.must(s.log.RunBetweenBatches(func(uint64, int64) {
		for _, e := range entries {
			s.must(s.log.Append([]byte(e), waiting))
		}
	}))
	for range entries {
		s.must(<-waiting)
	}
	s.entries = read(s.t, s.dir, 1, s.entries)
}

// many logs n entries in batches of at most three.
func (s *site) many(n int) {
	s.t.Helper()
	for n > 0 {
		var batch []string
		for range min(n, 1+len(s.entries)%3) {
			batch = append(batch, fmt.Sprintf("entry %d of %s", len(s.entries)+len(batch)+1, random(4)))
		}
		s.put(batch...)
		n -= len(batch)
	}
}

// snapshot writes a snapshot whose sections contain at least the entries up to oldest.
func (s *site) snapshot(oldest uint64) {
	s.t.Helper()
	w := must.Value(s.log.BeginSnapshot(wal.SnapshotRateOptions{BytesPerSecond: -1}))(s.t)
	newest := uint64(len(s.entries))
	must.Value(w.Write(binary.LittleEndian.AppendUint64(nil, hashOf(s.entries[:oldest]))))(s.t)
	must.Value(w.Commit(oldest, newest, nil))(s.t)
}

// archive releases the history before an entry.
func (s *site) archive(before uint64) {
	s.t.Helper()
	s.log.RaiseArchiveAndDeletionLimits(before, s.entries[before-1].At)
}

// read appends the log's new entries to the known ones.
func read(t tester, dir string, from uint64, known []wal.Entry) []wal.Entry {
	t.Helper()
	r := must.Value(wal.NewReader(dir, max(from, uint64(len(known))+1)))(t)
	defer r.Close()
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return known
		}
		if err != nil {
			t.Fatal(err)
		}
		e.Data = bytes.Clone(e.Data)
		known = append(known, e)
	}
}

func hashOf(entries []wal.Entry) uint64 {
	h := fnv.New64a()
	for _, e := range entries {
		h.Write(wal.AppendRecord(nil, &e))
	}
	return h.Sum64()
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}

// small returns options with which few entries make many objects.
func small(to store.Store, key *Key) Options {
	return Options{To: to, Key: key, mergeAt: 700, maxSmallObjects: 4, Rate: 1 << 30, pollInterval: time.Millisecond, fenceInterval: time.Nanosecond}
}

// ship backs up a site once.
func ship(t tester, s *site, opt Options) *Shipper {
	t.Helper()
	shipper := shipping(t, s, opt)
	must.Succeed(t, shipper.ShipAll(context.Background()))
	return shipper
}

// shipping returns a shipper that the end of the test closes.
func shipping(t tester, s *site, opt Options) *Shipper {
	t.Helper()
	shipper := must.Value(NewShipper(SourceFromLog(s.log), opt))(t)
	if t, ok := t.(testing.TB); ok {
		t.Cleanup(shipper.Close)
	}
	return shipper
}

func newDir(t tester, dir string) store.Store {
	t.Helper()
	return must.Value(store.OpenDir(dir))(t)
}

// identity returns a key that decrypts, and a key with its recipient only.
func identity(t testing.TB) (full, recipient *Key) {
	t.Helper()
	file, public, err := GenerateAgeKeyFileText()
	if err != nil {
		t.Fatal(err)
	}
	keys := make([]*Key, 2)
	for i, text := range []string{string(file), public + "\n"} {
		path := filepath.Join(t.TempDir(), "key")
		must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
		if keys[i], err = ReadAgeKeyFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return keys[0], keys[1]
}

// restored restores the backup and compares the folder with the site at that entry.
func restored(t tester, from store.Store, key *Key, s *site, opt RestoreOptions) (string, RestoreResult) {
	t.Helper()
	done, err := NewRepository(from, key).Restore(context.Background(), opt)
	if err != nil {
		t.Fatalf("restore of %s: %v", opt.At, err)
	}
	sameLog(t, opt.Dir, s.entries, done)
	return opt.Dir, done
}

// sameLog checks that a restored log is a prefix of entries, byte for byte, and that its
// snapshot has the state at its oldest stamp.
func sameLog(t tester, dir string, entries []wal.Entry, done RestoreResult) {
	t.Helper()
	got := read(t, dir, done.First, make([]wal.Entry, done.First-1))[done.First-1:]
	want := entries[done.First-1 : done.Seq]
	if len(got) != len(want) || hashOf(got) != hashOf(want) {
		t.Fatalf("restored are %d entries from %d on that are not the %d there were", len(got), done.First, len(want))
	}
	epoch, err := wal.ReadEpoch(dir)
	if err != nil || epoch != done.Epoch {
		t.Fatalf("the folder is in life %d, %v, want %d", epoch, err, done.Epoch)
	}
	if done.Snapshot == 0 {
		if done.First != 1 {
			t.Fatalf("no snapshot, and the log begins with entry %d", done.First)
		}
		return
	}
	snapshot := must.Value(wal.OpenNewestValidSnapshot(dir))(t)
	defer snapshot.Close()
	section := must.Value(snapshot.Next())(t)
	state, err := io.ReadAll(section)
	if err != nil || snapshot.Newest > done.Seq || snapshot.LastInAllSections+1 < done.First ||
		binary.LittleEndian.Uint64(state) != hashOf(entries[:snapshot.LastInAllSections]) {
		t.Fatalf("the snapshot from %d to %d is not one for entries %d to %d: %v", snapshot.LastInAllSections, snapshot.Newest, done.First, done.Seq, err)
	}
}
