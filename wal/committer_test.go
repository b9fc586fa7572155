package wal

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pingpost/internal/must"
)

// gate holds a call until the test releases it or ends.
type gate struct {
	reached, through chan struct{}
	over             <-chan struct{}
}

func newGate(t *testing.T) *gate {
	return &gate{make(chan struct{}), make(chan struct{}), t.Context().Done()}
}

func (g *gate) hold() error {
	select {
	case g.reached <- struct{}{}:
	case <-g.over:
		return nil
	}
	select {
	case <-g.through:
	case <-g.over:
	}
	return nil
}

// seen records the order in which entries are notified.
type seen struct {
	mu    sync.Mutex
	seqs  []uint64
	times []int64
	errs  int
}

func (s *seen) Committed(seq uint64, at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seqs, s.times = append(s.seqs, seq), append(s.times, at)
}

func (s *seen) Failed(error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs++
}

func TestEntriesQueuedDuringFsyncFormOneBatch(t *testing.T) {
	g := newGate(t)
	var batches []int
	l := mustOpen(t, t.TempDir(), Options{
		MaxBatch: 5,
		Faults:   Faults{Sync: g.hold},
		Observe:  func(b BatchStats) { batches = append(batches, b.Entries) },
	})
	var s seen
	for i := range 13 {
		must.Succeed(t, l.Append(fmt.Append(nil, i), &s))
		if i == 0 {
			<-g.reached // the first is alone in its fsync
			seq, _ := l.LastEntry()
			equal(t, "durable before the fsync has returned", []any{seq, len(s.seqs)}, []any{0, 0})
			r := must.Value(l.NewReader(1))(t)
			entries, err := drain(r, nil)
			equal(t, "what a reader sees before the fsync has returned", []any{len(entries), err}, []any{0, nil})
		}
	}
	queued, _, _ := l.Queued()
	equal(t, "queued", queued, 12)
	g.through <- struct{}{}
	for range 3 {
		<-g.reached
		g.through <- struct{}{}
	}
	mustClose(t, l)
	equal(t, "batches", batches, []int{1, 5, 5, 2})
	equal(t, "order", s.seqs, "[1 2 3 4 5 6 7 8 9 10 11 12 13]")
	st := l.Stats()
	queued, _, age := l.Queued()
	equal(t, "stats", []any{st.Batches, st.Entries, queued, age}, []any{4, 13, 0, time.Duration(0)})
}

func TestBatchTimeNeverGoesBack(t *testing.T) {
	clock := []int64{100, 90, 110, 50, 200}
	dir := t.TempDir()
	now := func() int64 {
		at := clock[0]
		clock = clock[1:]
		return at
	}
	l := mustOpen(t, dir, Options{Now: now})
	putBatch(t, l, "a", "b")
	put(t, l, "c", "d")
	mustClose(t, l)
	l = mustOpen(t, dir, Options{Now: now})
	put(t, l, "e", "f")
	var got []string
	for _, e := range entriesOf(t, dir, 0) {
		got = append(got, fmt.Sprintf("%s: entry %d of batch %d at %d", e.Data, e.Seq, e.Batch, e.At))
	}
	equal(t, "entries", fmt.Sprintf("%q", got), `["a: entry 1 of batch 1 at 100" "b: entry 2 of batch 1 at 100" `+
		`"c: entry 3 of batch 3 at 100" "d: entry 4 of batch 4 at 110" "e: entry 5 of batch 5 at 110" "f: entry 6 of batch 6 at 200"]`)
}

// Observe gets the fsync's duration for every batch, also for one that ends its segment.
func TestObserveMeasuresRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var took []time.Duration
		l := mustOpen(t, t.TempDir(), Options{
			SegmentSize: 2 * recordSize(12),
			Faults:      Faults{Sync: func() error { time.Sleep(time.Second); return nil }},
			Observe:     func(b BatchStats) { took = append(took, b.Sync, b.Write) },
		})
		put(t, l, numbered(3)...) // the second ends a segment
		mustClose(t, l)
		equal(t, "fsync and write", took, "[1s 0s 1s 0s 1s 0s]")
	})
}

func TestBatchEndsWithSegment(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir, Options{SegmentSize: 3 * recordSize(12)})
	putBatch(t, l, numbered(8)...)
	mustClose(t, l)
	var batches []uint64
	for _, e := range entriesOf(t, dir, 0) {
		batches = append(batches, e.Batch)
	}
	equal(t, "batches", batches, "[1 1 1 4 4 4 7 7]")
	equal(t, "segments", len(mustSegments(t, dir)), 3)
}

func TestLibraryIsReopenedAfterRotations(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir, Options{SegmentSize: 1, reopenAfter: 3})
	since := func() (segments int) {
		must.Succeed(t, l.RunBetweenBatches(func(uint64, int64) { segments = l.writer.rotations }))
		return segments
	}
	for i, e := range numbered(10) {
		put(t, l, e)
		equal(t, "segments since it was opened", since(), (i+1)%3)
	}
	mustClose(t, l)
	equal(t, "entries", all(t, dir, 0), numbered(10))
}

// TestSegmentsReuseMemory: the buffers of a full segment serve the next one.
func TestSegmentsReuseMemory(t *testing.T) {
	const size, entries = 64 << 10, 64
	l := mustOpen(t, t.TempDir(), Options{SegmentSize: 8 * size})
	entry := strings.Repeat("x", size)
	put(t, l, slices.Repeat([]string{entry}, 2*entries)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	put(t, l, slices.Repeat([]string{entry}, entries)...)
	runtime.ReadMemStats(&after)
	// put converts each entry to bytes, which is one times the size.
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 2*size*entries {
		t.Errorf("%d bytes allocated for %d bytes of entries", allocated, size*entries)
	}
}

func TestEntriesOfAnySize(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir, Options{})
	wantError(t, l.Append(nil, nil), ErrEmpty)
	wantError(t, l.Append(make([]byte, MaxEntry+1), nil), ErrTooLarge)
	sizes := []int{1, 87, 88, 127, 128, 16343, 16344, MaxEntry - 1, MaxEntry, 3}
	var s seen
	for _, n := range sizes {
		must.Succeed(t, l.Append(make([]byte, n), &s))
	}
	mustClose(t, l)
	mustClose(t, mustOpen(t, dir, Options{}))
	for i, e := range all(t, dir, 0) {
		equal(t, "size", len(e), sizes[i])
	}
	equal(t, "notified", len(s.seqs), len(sizes))
}

func TestDoRunsBetweenBatches(t *testing.T) {
	g := newGate(t)
	l := mustOpen(t, t.TempDir(), Options{Faults: Faults{Sync: g.hold}, Now: func() int64 { return 9 }})
	var s seen
	l.Append([]byte("a"), &s)
	<-g.reached
	var got []any
	done := must.Value(l.queue.EnqueueCall(func(seq uint64, at int64) { got = []any{seq, at, len(s.seqs)} }))(t)
	g.through <- struct{}{}
	must.Succeed(t, <-done)
	equal(t, "what the call saw", got, []any{1, 9, 1})
	go func() { <-g.reached; g.through <- struct{}{} }()
	l.Append([]byte("b"), nil)
	mustClose(t, l)
	wantError(t, l.RunBetweenBatches(func(uint64, int64) {}), ErrClosed)
}

func TestCloseCommitsQueuedEntries(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	dir := t.TempDir()
	l := mustOpen(t, dir, Options{})
	var s seen
	for _, e := range numbered(1000) {
		must.Succeed(t, l.Append([]byte(e), &s))
	}
	mustClose(t, l)
	mustClose(t, l)
	equal(t, "notified", len(s.seqs), 1000)
	wantError(t, l.Append([]byte("late"), &s), ErrClosed)
	equal(t, "entries", all(t, dir, 0), numbered(1000))
}

func TestConcurrentAppendersAndReaders(t *testing.T) {
	const appenders, each = 16, 60
	dir := t.TempDir()
	l := mustOpen(t, dir, Options{SegmentSize: 2 << 10, QueueLen: 8, reopenAfter: 5})
	var writing, reading sync.WaitGroup
	for i := range 3 {
		reading.Go(func() {
			r, err := l.NewReader(1)
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			last := map[int]int{}
			for seq := uint64(1); seq <= appenders*each; seq++ {
				e, err := r.Next()
				for ; errors.Is(err, io.EOF) && t.Context().Err() == nil; e, err = r.Next() {
					time.Sleep(time.Microsecond)
				}
				if err != nil || e.Seq != seq {
					t.Errorf("reader %d got entry %d where %d was due: %v", i, e.Seq, seq, err)
					return
				}
				var who, n int
				fmt.Sscanf(string(e.Data), "%d/%d", &who, &n)
				if n != last[who]+1 {
					t.Errorf("appender %d: %d follows %d", who, n, last[who])
				}
				last[who] = n
			}
		})
	}
	for who := range appenders {
		writing.Go(func() {
			for n := 1; n <= each; n++ {
				w := newResult()
				for {
					err := l.Append(fmt.Appendf(nil, "%d/%d", who, n), w)
					if err == nil {
						break
					}
					if !errors.Is(err, ErrBusy) {
						t.Error(err)
						return
					}
					time.Sleep(time.Microsecond)
				}
				seq, err := w.wait()
				if durable, _ := l.LastEntry(); err != nil || durable < seq {
					t.Errorf("entry %d was notified, %d is durable, %v", seq, durable, err)
				}
			}
		})
	}
	writing.Wait()
	reading.Wait()
	if l.Stats().Entries != appenders*each {
		t.Errorf("stats: %+v", l.Stats())
	}
	mustClose(t, l)
	mustClose(t, mustOpen(t, dir, Options{}))
}
