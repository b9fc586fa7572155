package wal

import (
	"runtime"
	"sync"
	"time"
)

// A queue holds entries between Append and the committer: first come, first served,
// in a ring that is made once, so that Append allocates nothing.
//
// mu guards all fields but wake. The committer alone calls take and landed; when it
// finds nothing it sets idle and sleeps on wake, and the first to bring something
// clears idle and wakes it. So there is at most one token in wake, and no Append
// pays for a channel while the committer is busy.
//
// Rejected: a channel of entries (a lock and a wake-up for each receive), and two
// slices that are swapped (a swap of 300 leaves a batch of 44 behind one of 256,
// while what came meanwhile has to wait for a third).
type queue struct {
	maxBytes int
	start    time.Time // origin of item.since

	mu       sync.Mutex
	ring     []item
	head, n  int
	bytes    int
	calls    []call
	inFlight time.Duration // since of the oldest entry taken; valid while flying
	flying   bool
	idle     bool
	end      error // why nothing more is taken; nil while open
	wake     chan struct{}
}

// An item is an entry on its way. Whoever appended it must leave data alone until
// waiter has been told.
type item struct {
	data   []byte
	waiter Waiter
	since  time.Duration
}

// A call is a function to run between batches.
type call struct {
	f    func(seq uint64, at int64)
	done chan error
}

func newQueue(entries, bytes int) *queue {
	return &queue{
		maxBytes: bytes,
		start:    time.Now(),
		ring:     make([]item, entries),
		wake:     make(chan struct{}, 1),
	}
}

// put appends an entry: ErrBusy when the queue is full, or why it takes no more.
func (q *queue) put(data []byte, w Waiter) error {
	since := time.Since(q.start)
	q.mu.Lock()
	if q.end != nil {
		err := q.end
		q.mu.Unlock()
		return err
	}
	if q.n == len(q.ring) || (q.n > 0 && q.bytes+len(data) > q.maxBytes) {
		q.mu.Unlock()
		return ErrBusy
	}
	q.ring[q.slotLocked(q.n)] = item{data: data, waiter: w, since: since}
	q.n++
	q.bytes += len(data)
	q.unlockAndWake()
	return nil
}

// call queues a function; done gets one value, when it has run or never will.
func (q *queue) call(f func(seq uint64, at int64)) (done chan error, err error) {
	q.mu.Lock()
	if q.end != nil {
		err = q.end
		q.mu.Unlock()
		return nil, err
	}
	done = make(chan error, 1)
	q.calls = append(q.calls, call{f: f, done: done})
	q.unlockAndWake()
	return done, nil
}

// close takes nothing more; what is queued stays for take.
func (q *queue) close() {
	q.mu.Lock()
	if q.end == nil {
		q.end = ErrClosed
	}
	q.unlockAndWake()
}

// fail takes nothing more, for the reason given, and hands back all that waits.
func (q *queue) fail(err error) (items []item, calls []call) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.end = err
	q.flying = false
	for ; q.n > 0; q.n-- {
		items = append(items, q.popLocked())
	}
	calls, q.calls = q.calls, nil
	q.bytes = 0
	return items, calls
}

func (q *queue) unlockAndWake() {
	wake := q.idle
	q.idle = false
	q.mu.Unlock()
	if wake {
		q.wake <- struct{}{}
	}
}

// take waits for work and appends to dst what belongs into one batch: at most
// maxItems, and no more records after the first than make maxBytes, ending with
// the one that fills room. Both results are empty once the queue is closed and drained.
func (q *queue) take(dst []item, maxItems, maxBytes, room int) ([]item, []call) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.n == 0 && len(q.calls) == 0 && q.end == nil {
		q.idle = true
		q.mu.Unlock()
		<-q.wake
		// The first to bring something wakes this goroutine ahead of those that are
		// about to: let them in, or on one processor each fsync covers one entry.
		runtime.Gosched()
		q.mu.Lock()
	}
	calls := q.calls
	q.calls = nil
	if q.n > 0 {
		q.inFlight, q.flying = q.ring[q.head].since, true
	}
	for size := 0; q.n > 0 && len(dst) < maxItems && size < room; q.n-- {
		next := recordSize(len(q.ring[q.head].data))
		if len(dst) > 0 && size+next > maxBytes {
			break
		}
		size += next
		dst = append(dst, q.popLocked())
	}
	return dst, calls
}

// landed says that what take gave is durable and told.
func (q *queue) landed() {
	q.mu.Lock()
	q.flying = false
	q.mu.Unlock()
}

// load is how many entries and bytes wait, and for how long the oldest entry that
// is not durable yet has waited.
func (q *queue) load() (entries, bytes int, delay time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.flying:
		delay = time.Since(q.start) - q.inFlight
	case q.n > 0:
		delay = time.Since(q.start) - q.ring[q.head].since
	}
	return q.n, q.bytes, delay
}

// popLocked clears the first slot, so that the ring keeps no entry alive. The
// caller lowers n.
func (q *queue) popLocked() item {
	it := q.ring[q.head]
	q.ring[q.head] = item{}
	q.bytes -= len(it.data)
	q.head = q.slotLocked(1)
	return it
}

func (q *queue) slotLocked(i int) int {
	i += q.head
	if i >= len(q.ring) {
		i -= len(q.ring)
	}
	return i
}
