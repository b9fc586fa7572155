package wal

import (
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"pingpost/internal/must"
)

// since reads the entries that NewReaderFromSegmentBefore returns for a time or later, and counts the
// entries before it.
func since(t testing.TB, l *Log, at int64) (entries []string, older int) {
	t.Helper()
	read, err := drainEntries(l.NewReaderFromSegmentBefore(at))
	if err != nil {
		t.Fatalf("since %d: %v", at, err)
	}
	for _, e := range read {
		if e.At < at {
			older++
			continue
		}
		entries = append(entries, string(e.Data))
	}
	return entries, older
}

// The reader searches the archive like the log, and tolerates deleted segments.
func TestReaderSinceReadsArchive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, at := t.TempDir(), int64(0)
		opt := Options{SegmentSize: 3 * recordSize(12), Now: func() int64 { at += 100; return at }}
		l := mustOpen(t, dir, opt)
		put(t, l, numbered(12)...)
		l.RaiseArchiveAndDeletionLimits(100, 0)
		time.Sleep(time.Minute)
		archived, _ := segmentNames(t, dir)
		equal(t, "archived", archived, "[1 4 7]")
		for n := range int64(12) {
			got, _ := since(t, l, (n+1)*100)
			equal(t, "with an archive", got, numbered(12)[n:])
		}
		mustClose(t, l)
		l = mustOpen(t, dir, opt)
		got, _ := since(t, l, 200)
		equal(t, "after a restart", got, numbered(12)[1:])
		l.RaiseArchiveAndDeletionLimits(100, 401)
		time.Sleep(time.Minute)
		got, _ = since(t, l, 200)
		equal(t, "what is kept", got, numbered(12)[3:])
		mustClose(t, l)
	})
}

// Segments are deleted during the search, from the oldest on.
func TestReaderSinceDuringArchiving(t *testing.T) {
	at := int64(0)
	dir := t.TempDir()
	l := mustOpen(t, dir, Options{SegmentSize: 3 * recordSize(12), Now: func() int64 { at += 100; return at }})
	put(t, l, numbered(12)...)
	os.Remove(livePath(dir, 1))
	os.Remove(livePath(dir, 4))
	for _, from := range []int64{0, 100, 400, 700} {
		got, _ := since(t, l, from)
		equal(t, "what is left", got, numbered(12)[6:])
	}
	got, _ := since(t, l, 1000)
	equal(t, "beyond it", got, numbered(12)[9:])
}

func TestReaderSinceReturnsDiskError(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir, Options{SegmentSize: 3 * recordSize(12)})
	put(t, l, numbered(12)...)
	for _, first := range []uint64{1, 4, 7, 10} {
		os.Remove(livePath(dir, first))
		must.Succeed(t, os.Mkdir(livePath(dir, first), 0o700))
	}
	if _, err := l.NewReaderFromSegmentBefore(0); err == nil {
		t.Error("folders were read as segments")
	}
}

// For batches of any length at any times, in segments of any size, the reader returns the
// same entries as a filtered read of the whole log, and at most one segment of earlier ones.
func TestReaderSinceAgreesWithFullRead(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var clock atomic.Int64
		size := rapid.IntRange(1, 6).Draw(rt, "a segment's entries")
		l, err := Open(t.TempDir(), Options{
			SegmentSize: size * recordSize(12),
			Now:         clock.Load,
		})
		if err != nil {
			rt.Fatal(err)
		}
		defer l.Close()
		var times []int64
		for _, n := range rapid.SliceOfN(rapid.IntRange(1, 5), 0, 8).Draw(rt, "batches") {
			now := clock.Add(rapid.Int64Range(0, 3).Draw(rt, "later"))
			putBatch(t, l, numbered(n)...)
			for range n {
				times = append(times, now)
			}
		}
		for at := int64(-1); at <= clock.Load()+1; at++ {
			want := len(times) - len(slices.DeleteFunc(slices.Clone(times), func(of int64) bool { return of >= at }))
			if got, older := since(t, l, at); len(got) != want || older > size {
				rt.Fatalf("since %d: %d entries of %v and %d older ones, want %d", at, len(got), times, older, want)
			}
		}
	})
}
