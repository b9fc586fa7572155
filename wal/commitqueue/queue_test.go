package commitqueue

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
		q := New(8, 1<<20, recordSize)
		for range c.queued {
			must.Succeed(t, q.Enqueue(make([]byte, 10), nil))
		}
		got, _ := q.DequeueBatch(nil, c.maxItems, c.maxBytes, c.bytesLeft)
		if len(got) != c.want {
			t.Errorf("%s: took %d of %d, want %d", name, len(got), c.queued, c.want)
		}
		if n, bytes, _ := q.CountQueued(); n != c.queued-c.want || bytes != 10*n {
			t.Errorf("%s: %d entries and %d bytes are left", name, n, bytes)
		}
	}
}

func TestPutRejectsOverflow(t *testing.T) {
	q := New(3, 100, recordSize)
	for i, c := range []struct {
		bytes int
		want  error
	}{
		{300, nil}, // an entry over the limit is accepted if the queue is empty
		{1, ErrBusy},
	} {
		if err := q.Enqueue(make([]byte, c.bytes), nil); !errors.Is(err, c.want) {
			t.Errorf("entry %d: got %v, want %v", i, err, c.want)
		}
	}
	q.DequeueBatch(nil, 10, 1000, 1000)
	for i, want := range []error{nil, nil, nil, ErrBusy} {
		if err := q.Enqueue([]byte("x"), nil); !errors.Is(err, want) {
			t.Errorf("entry %d of the second round: got %v, want %v", i, err, want)
		}
	}
}

// The entries of one batch keep their order around the end of the ring.
func TestQueueKeepsOrder(t *testing.T) {
	q := New(3, 100, recordSize)
	for _, round := range []string{"a", "b", "cde", "fgh"} {
		for i := range round {
			must.Succeed(t, q.Enqueue([]byte(round[i:i+1]), nil))
		}
		items, _ := q.DequeueBatch(nil, 3, 1000, 1000)
		var got string
		for _, item := range items {
			got += string(item.Data)
		}
		equal(t, "entries", got, round)
	}
}

func TestQueueReleasesEntries(t *testing.T) {
	q := New(4, 1000, recordSize)
	for range 4 {
		q.Enqueue([]byte("x"), ignoring{})
	}
	q.DequeueBatch(nil, 4, 1000, 1000)
	for i, it := range q.ring {
		if it.Data != nil || it.Waiter != nil {
			t.Errorf("slot %d still holds an entry", i)
		}
	}
}

func TestQueueCloses(t *testing.T) {
	q := New(4, 1000, recordSize)
	q.Enqueue([]byte("before"), nil)
	q.Close()
	wantError(t, q.Enqueue([]byte("after"), nil), ErrClosed)
	_, err := q.EnqueueCall(nil)
	wantError(t, err, ErrClosed)
	got, _ := q.DequeueBatch(nil, 10, 1000, 1000)
	equal(t, "entries taken after close", len(got), 1)
	got, calls := q.DequeueBatch(nil, 10, 1000, 1000)
	equal(t, "entries and calls after the last", len(got)+len(calls), 0)
}

func TestQueueFailReturnsQueued(t *testing.T) {
	q := New(4, 1000, recordSize)
	q.Enqueue([]byte("a"), nil)
	q.Enqueue([]byte("b"), nil)
	must.Value(q.EnqueueCall(func(uint64, int64) {}))(t)
	cause := errors.New("disk on fire")
	items, calls := q.CloseAndTakeAll(cause)
	equal(t, "entries and calls handed back", []int{len(items), len(calls)}, []int{2, 1})
	wantError(t, q.Enqueue([]byte("c"), nil), cause)
	n, bytes, delay := q.CountQueued()
	equal(t, "load", []any{n, bytes, delay}, []any{0, 0, time.Duration(0)})
}

func TestQueueDelayOfOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(8, 1000, recordSize)
		delay := func() time.Duration { _, _, d := q.CountQueued(); return d }
		equal(t, "idle", delay(), time.Duration(0))
		q.Enqueue([]byte("a"), nil)
		time.Sleep(3 * time.Millisecond)
		q.Enqueue([]byte("b"), nil)
		equal(t, "queued", delay(), 3*time.Millisecond)
		q.DequeueBatch(nil, 1, 1000, 1000)
		time.Sleep(2 * time.Millisecond)
		equal(t, "being written", delay(), 5*time.Millisecond)
		q.MarkBatchCommitted()
		equal(t, "the next one", delay(), 2*time.Millisecond)
	})
}

func TestPutWakesCommitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(8, 1000, recordSize)
		for round := range 3 {
			got := make(chan int)
			go func() {
				items, calls := q.DequeueBatch(nil, 10, 1000, 1000)
				got <- len(items) + 10*len(calls)
			}()
			synctest.Wait() // it sleeps
			want := 1
			if round == 1 {
				want = 10
				q.EnqueueCall(func(uint64, int64) {})
			} else {
				q.Enqueue([]byte("x"), nil)
			}
			equal(t, fmt.Sprintf("round %d", round), <-got, want)
		}
	})
}

func TestAppendAllocatesNoMemory(t *testing.T) {
	q := New(4096, 1<<20, recordSize)
	data := []byte("entry")
	var w Waiter = ignoring{}
	batch := make([]Entry, 0, 256)
	got := testing.AllocsPerRun(1000, func() {
		q.Enqueue(data, w)
		batch, _ = q.DequeueBatch(batch[:0], 256, 1<<20, 1<<20)
	})
	equal(t, "allocations", got, 0)
}

// recordSize is the size of a record in these tests.
func recordSize(dataLen int) int { return dataLen + 42 }

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

func wantError(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want one that is %v", err, want)
	}
}

// ignoring is a Waiter that ignores its notification.
type ignoring struct{}

func (ignoring) Committed(uint64, int64) {}
func (ignoring) Failed(error)            {}
