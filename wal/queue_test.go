package wal

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/internal/must"
)

func TestTakeReturnsOneBatch(t *testing.T) {
	one := recordSize(10)
	for name, c := range map[string]struct {
		queued, maxItems, maxBytes, bytesLeft, want int
	}{
		"all queued entries":                 {queued: 5, maxItems: 256, maxBytes: 1 << 20, bytesLeft: 1 << 20, want: 5},
		"up to maxItems":                     {queued: 5, maxItems: 3, maxBytes: 1 << 20, bytesLeft: 1 << 20, want: 3},
		"up to maxBytes":                     {queued: 5, maxItems: 256, maxBytes: 2*one + 1, bytesLeft: 1 << 20, want: 2},
		"exactly maxBytes":                   {queued: 5, maxItems: 256, maxBytes: 2 * one, bytesLeft: 1 << 20, want: 2},
		"a first record over maxBytes":       {queued: 5, maxItems: 256, maxBytes: 1, bytesLeft: 1 << 20, want: 1},
		"up to the one that fills a segment": {queued: 5, maxItems: 256, maxBytes: 1 << 20, bytesLeft: one + 1, want: 2},
		"the one that just fills a segment":  {queued: 5, maxItems: 256, maxBytes: 1 << 20, bytesLeft: one, want: 1},
	} {
		q := newCommitQueue(8, 1<<20)
		for range c.queued {
			must.Succeed(t, q.enqueue(make([]byte, 10), nil))
		}
		got, _ := q.dequeueBatch(nil, c.maxItems, c.maxBytes, c.bytesLeft)
		if len(got) != c.want {
			t.Errorf("%s: took %d of %d, want %d", name, len(got), c.queued, c.want)
		}
		if n, bytes, _ := q.countQueued(); n != c.queued-c.want || bytes != 10*n {
			t.Errorf("%s: %d entries and %d bytes are left", name, n, bytes)
		}
	}
}

func TestPutRejectsOverflow(t *testing.T) {
	q := newCommitQueue(3, 100)
	for i, c := range []struct {
		bytes int
		want  error
	}{
		{300, nil}, // an entry over the limit is accepted if the queue is empty
		{1, ErrBusy},
	} {
		if err := q.enqueue(make([]byte, c.bytes), nil); !errors.Is(err, c.want) {
			t.Errorf("entry %d: got %v, want %v", i, err, c.want)
		}
	}
	q.dequeueBatch(nil, 10, 1000, 1000)
	for i, want := range []error{nil, nil, nil, ErrBusy} {
		if err := q.enqueue([]byte("x"), nil); !errors.Is(err, want) {
			t.Errorf("entry %d of the second round: got %v, want %v", i, err, want)
		}
	}
}

// The entries of one batch keep their order around the end of the ring.
func TestQueueKeepsOrder(t *testing.T) {
	q := newCommitQueue(3, 100)
	for _, round := range []string{"a", "b", "cde", "fgh"} {
		for i := range round {
			must.Succeed(t, q.enqueue([]byte(round[i:i+1]), nil))
		}
		items, _ := q.dequeueBatch(nil, 3, 1000, 1000)
		var got string
		for _, item := range items {
			got += string(item.data)
		}
		equal(t, "entries", got, round)
	}
}

func TestQueueReleasesEntries(t *testing.T) {
	q := newCommitQueue(4, 1000)
	for range 4 {
		q.enqueue([]byte("x"), newResult())
	}
	q.dequeueBatch(nil, 4, 1000, 1000)
	for i, it := range q.ring {
		if it.data != nil || it.waiter != nil {
			t.Errorf("slot %d still holds an entry", i)
		}
	}
}

func TestQueueCloses(t *testing.T) {
	q := newCommitQueue(4, 1000)
	q.enqueue([]byte("before"), nil)
	q.close()
	wantError(t, q.enqueue([]byte("after"), nil), ErrClosed)
	_, err := q.enqueueCall(nil)
	wantError(t, err, ErrClosed)
	got, _ := q.dequeueBatch(nil, 10, 1000, 1000)
	equal(t, "entries taken after close", len(got), 1)
	got, calls := q.dequeueBatch(nil, 10, 1000, 1000)
	equal(t, "entries and calls after the last", len(got)+len(calls), 0)
}

func TestQueueFailReturnsQueued(t *testing.T) {
	q := newCommitQueue(4, 1000)
	q.enqueue([]byte("a"), nil)
	q.enqueue([]byte("b"), nil)
	must.Value(q.enqueueCall(func(uint64, int64) {}))(t)
	cause := errors.New("disk on fire")
	items, calls := q.closeAndTakeAll(cause)
	equal(t, "entries and calls handed back", []int{len(items), len(calls)}, []int{2, 1})
	wantError(t, q.enqueue([]byte("c"), nil), cause)
	n, bytes, delay := q.countQueued()
	equal(t, "load", []any{n, bytes, delay}, []any{0, 0, time.Duration(0)})
}

func TestQueueDelayOfOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newCommitQueue(8, 1000)
		delay := func() time.Duration { _, _, d := q.countQueued(); return d }
		equal(t, "idle", delay(), time.Duration(0))
		q.enqueue([]byte("a"), nil)
		time.Sleep(3 * time.Millisecond)
		q.enqueue([]byte("b"), nil)
		equal(t, "queued", delay(), 3*time.Millisecond)
		q.dequeueBatch(nil, 1, 1000, 1000)
		time.Sleep(2 * time.Millisecond)
		equal(t, "being written", delay(), 5*time.Millisecond)
		q.markBatchCommitted()
		equal(t, "the next one", delay(), 2*time.Millisecond)
	})
}

func TestPutWakesCommitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newCommitQueue(8, 1000)
		for round := range 3 {
			got := make(chan int)
			go func() {
				items, calls := q.dequeueBatch(nil, 10, 1000, 1000)
				got <- len(items) + 10*len(calls)
			}()
			synctest.Wait() // it sleeps
			want := 1
			if round == 1 {
				want = 10
				q.enqueueCall(func(uint64, int64) {})
			} else {
				q.enqueue([]byte("x"), nil)
			}
			equal(t, fmt.Sprintf("round %d", round), <-got, want)
		}
	})
}

func TestAppendAllocatesNoMemory(t *testing.T) {
	q := newCommitQueue(4096, 1<<20)
	data := []byte("entry")
	var w Waiter = newResult()
	batch := make([]queuedEntry, 0, 256)
	got := testing.AllocsPerRun(1000, func() {
		q.enqueue(data, w)
		batch, _ = q.dequeueBatch(batch[:0], 256, 1<<20, 1<<20)
	})
	equal(t, "allocations", got, 0)
}
