package wal

import (
	"runtime"
	"sync"
	"time"
)

// commitQueue holds entries between Append and the committer, first in first out. Its ring is
// preallocated, so that Append allocates no memory.
//
// mu guards all fields but wake. Only the committer calls dequeueBatch and markBatchCommitted. If the
// queue is empty, dequeueBatch sets idle and sleeps on wake. The next enqueue, enqueueCall or close
// clears idle and wakes it. So wake holds at most one token, and no Append uses the channel while the
// committer is busy.
//
// Rejected: a channel of entries, which needs a lock and a wake-up for each receive.
//
// Rejected: two swapped slices. A swap of 300 entries leaves a batch of 44 after one of 256,
// and later entries wait for a third batch.
type commitQueue struct {
	maxBytes int
	start    time.Time // origin of queuedEntry.since

	mu       sync.Mutex
	ring     []queuedEntry
	head, n  int
	bytes    int
	calls    []queuedCall
	inFlight time.Duration // queuedEntry.since of the oldest entry in the current batch; valid if flying
	flying   bool          // the committer has taken a batch that is not durable yet
	idle     bool
	end      error // reason for rejecting new entries; nil while open
	wake     chan struct{}
}

// queuedEntry is an entry that waits for the committer, since the given time. The caller of
// Append must not change data until waiter has been notified.
type queuedEntry struct {
	data   []byte
	waiter Waiter
	since  time.Duration
}

// queuedCall is a function that Log.RunBetweenBatches has queued. The committer runs it between two batches.
type queuedCall struct {
	f    func(seq uint64, at int64)
	done chan error
}

func newCommitQueue(entries, bytes int) *commitQueue {
	return &commitQueue{
		maxBytes: bytes,
		start:    time.Now(),
		ring:     make([]queuedEntry, entries),
		wake:     make(chan struct{}, 1),
	}
}

// enqueue adds an entry to the queue. The error is ErrBusy if the queue is full, and the
// reason if the queue is closed.
func (q *commitQueue) enqueue(data []byte, w Waiter) error {
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
	q.ring[q.ringIndexLocked(q.n)] = queuedEntry{data: data, waiter: w, since: since}
	q.n++
	q.bytes += len(data)
	q.unlockAndWakeIfIdle()
	return nil
}

// enqueueCall queues a function for the committer. The channel done receives one value: nil
// after the function has run, or the reason why it never will.
func (q *commitQueue) enqueueCall(f func(seq uint64, at int64)) (done chan error, err error) {
	q.mu.Lock()
	if q.end != nil {
		err = q.end
		q.mu.Unlock()
		return nil, err
	}
	done = make(chan error, 1)
	q.calls = append(q.calls, queuedCall{f: f, done: done})
	q.unlockAndWakeIfIdle()
	return done, nil
}

// close makes the queue reject new entries. dequeueBatch still returns the queued ones.
func (q *commitQueue) close() {
	q.mu.Lock()
	if q.end == nil {
		q.end = ErrClosed
	}
	q.unlockAndWakeIfIdle()
}

// closeAndTakeAll makes the queue reject new entries with err. It removes and returns all queued
// entries and calls, so that the caller can report the failure to them.
func (q *commitQueue) closeAndTakeAll(err error) (items []queuedEntry, calls []queuedCall) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.end = err
	q.flying = false
	for ; q.n > 0; q.n-- {
		items = append(items, q.popOldestLocked())
	}
	calls, q.calls = q.calls, nil
	q.bytes = 0
	return items, calls
}

func (q *commitQueue) unlockAndWakeIfIdle() {
	wake := q.idle
	q.idle = false
	q.mu.Unlock()
	if wake {
		q.wake <- struct{}{}
	}
}

// dequeueBatch waits for work, then removes the next batch from the queue and appends it to
// dst. A batch has at most maxItems entries and, unless its first record alone is larger, at
// most maxBytes of records. It also ends with the record that fills bytesLeft, the rest of
// the segment. Both results are empty after the queue is closed and drained.
func (q *commitQueue) dequeueBatch(dst []queuedEntry, maxItems, maxBytes, bytesLeft int) ([]queuedEntry, []queuedCall) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.n == 0 && len(q.calls) == 0 && q.end == nil {
		q.idle = true
		q.mu.Unlock()
		<-q.wake
		// The first enqueue wakes this goroutine before other goroutines that are about to call
		// enqueue. Yield to them; otherwise, on one processor, each fsync covers one entry.
		runtime.Gosched()
		q.mu.Lock()
	}
	calls := q.calls
	q.calls = nil
	if q.n > 0 {
		q.inFlight, q.flying = q.ring[q.head].since, true
	}
	for size := 0; q.n > 0 && len(dst) < maxItems && size < bytesLeft; q.n-- {
		next := recordSize(len(q.ring[q.head].data))
		if len(dst) > 0 && size+next > maxBytes {
			break
		}
		size += next
		dst = append(dst, q.popOldestLocked())
	}
	return dst, calls
}

// markBatchCommitted records that the last batch is durable and its waiters were notified, so
// that countQueued no longer counts its age.
func (q *commitQueue) markBatchCommitted() {
	q.mu.Lock()
	q.flying = false
	q.mu.Unlock()
}

// countQueued returns the number and the bytes of the queued entries. ageOfOldestUndurable is
// the age of the oldest entry that is not durable yet; 0 if all are.
func (q *commitQueue) countQueued() (entries, bytes int, ageOfOldestUndurable time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.flying:
		ageOfOldestUndurable = time.Since(q.start) - q.inFlight
	case q.n > 0:
		ageOfOldestUndurable = time.Since(q.start) - q.ring[q.head].since
	}
	return q.n, q.bytes, ageOfOldestUndurable
}

// popOldestLocked removes and returns the oldest entry. It clears the entry's slot, so that
// the ring does not keep the data in memory. The caller holds mu and decrements n.
func (q *commitQueue) popOldestLocked() queuedEntry {
	it := q.ring[q.head]
	q.ring[q.head] = queuedEntry{}
	q.bytes -= len(it.data)
	q.head = q.ringIndexLocked(1)
	return it
}

func (q *commitQueue) ringIndexLocked(i int) int {
	i += q.head
	if i >= len(q.ring) {
		i -= len(q.ring)
	}
	return i
}
