// Package commitqueue has the queue of log entries that wait for the committer: of a log, or of a
// cluster.
package commitqueue

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// ErrBusy rejects an entry because the queue is full. The entry was not queued.
var ErrBusy = errors.New("log: the queue is full; try again shortly")

// ErrClosed means that Close was called.
var ErrClosed = errors.New("log: the log is closed")

// Waiter receives the result of an entry. package wal describes its methods.
type Waiter = interface {
	Committed(seq uint64, at int64)
	Failed(err error)
}

// Queue holds entries between Append and the committer, first in first out. Its ring is
// preallocated, so that Enqueue allocates no memory.
//
// mu guards all fields but wake and counted. Each change under mu is copied to counted, so that requests
// can look at the queue without a wait for mu. Only the committer calls DequeueBatch and MarkBatchCommitted. If the
// queue is empty, DequeueBatch sets idle and sleeps on wake. The next Enqueue, EnqueueCall or Close
// clears idle and wakes it. So wake holds at most one token, and no Enqueue uses the channel while the
// committer is busy.
//
// Rejected: a channel of entries, which needs a lock and a wake-up for each receive.
//
// Rejected: two swapped slices. A swap of 300 entries leaves a batch of 44 after one of 256,
// and later entries wait for a third batch.
type Queue struct {
	maxBytes   int
	recordSize func(dataLen int) int
	start      time.Time // origin of Entry.since

	mu       sync.Mutex
	ring     []Entry
	head, n  int
	bytes    int
	calls    []Call
	inFlight time.Duration // Entry.since of the oldest entry in the current batch; valid if flying
	flying   bool          // the committer has taken a batch that is not durable yet
	idle     bool
	end      error // reason for rejecting new entries; nil while open
	wake     chan struct{}
	counted  queueCounts
}

// queueCounts has copies of a Queue's figures. Each is exact, but they may have been stored at different moments.
type queueCounts struct {
	entries, bytes atomic.Int64
	oldest         atomic.Int64 // Entry.since of the oldest entry that is not durable yet, or allDurable
}

const allDurable = -1

// Entry is an entry that waits for the committer, since the given time. The caller of
// Enqueue must not change data until Waiter has been notified.
type Entry struct {
	Data   []byte
	Waiter Waiter
	since  time.Duration
}

// Call is a function that the committer runs between two batches.
type Call struct {
	Run  func(seq uint64, at int64)
	Done chan error
}

// New returns a queue for that many entries and bytes. recordSize returns the size of the record that
// stores an entry of dataLen bytes.
func New(entries, bytes int, recordSize func(dataLen int) int) *Queue {
	q := &Queue{
		maxBytes: bytes, recordSize: recordSize,
		start: time.Now(),
		ring:  make([]Entry, entries),
		wake:  make(chan struct{}, 1),
	}
	q.counted.oldest.Store(allDurable)
	return q
}

// Enqueue adds an entry to the queue. The error is ErrBusy if the queue is full, and the
// reason if the queue is closed.
func (q *Queue) Enqueue(data []byte, w Waiter) error {
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
	q.ring[q.ringIndexLocked(q.n)] = Entry{Data: data, Waiter: w, since: since}
	q.n++
	q.bytes += len(data)
	q.countLocked()
	q.unlockAndWakeIfIdle()
	return nil
}

// EnqueueCall queues a function for the committer. The channel done receives one value: nil
// after the function has run, or the reason why it never will.
func (q *Queue) EnqueueCall(f func(seq uint64, at int64)) (done chan error, err error) {
	q.mu.Lock()
	if q.end != nil {
		err = q.end
		q.mu.Unlock()
		return nil, err
	}
	done = make(chan error, 1)
	q.calls = append(q.calls, Call{Run: f, Done: done})
	q.unlockAndWakeIfIdle()
	return done, nil
}

// Close makes the queue reject new entries. DequeueBatch still returns the queued ones.
func (q *Queue) Close() {
	q.mu.Lock()
	if q.end == nil {
		q.end = ErrClosed
	}
	q.unlockAndWakeIfIdle()
}

// CloseAndTakeAll makes the queue reject new entries with err. It removes and returns all queued
// entries and calls, so that the caller can report the failure to them.
func (q *Queue) CloseAndTakeAll(err error) (items []Entry, calls []Call) {
	q.mu.Lock()
	defer q.unlockAndWakeIfIdle()
	q.end = err
	q.flying = false
	for ; q.n > 0; q.n-- {
		items = append(items, q.popOldestLocked())
	}
	calls, q.calls = q.calls, nil
	q.countLocked()
	return items, calls
}

func (q *Queue) unlockAndWakeIfIdle() {
	wake := q.idle
	q.idle = false
	q.mu.Unlock()
	if wake {
		q.wake <- struct{}{}
	}
}

// DequeueBatch waits for work, then removes the next batch from the queue and appends it to
// dst. A batch has at most maxItems entries and, unless its first record alone is larger, at
// most maxBytes of records. It also ends with the record that fills bytesLeft, the rest of
// the segment. Both results are empty after the queue is closed and drained.
func (q *Queue) DequeueBatch(dst []Entry, maxItems, maxBytes, bytesLeft int) ([]Entry, []Call) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.n == 0 && len(q.calls) == 0 && q.end == nil {
		q.idle = true
		q.mu.Unlock()
		<-q.wake
		// The first Enqueue wakes this goroutine before other goroutines that are about to call
		// Enqueue. Yield to them; otherwise, on one processor, each fsync covers one entry.
		runtime.Gosched()
		q.mu.Lock()
	}
	calls := q.calls
	q.calls = nil
	if q.n > 0 {
		q.inFlight, q.flying = q.ring[q.head].since, true
	}
	for size := 0; q.n > 0 && len(dst) < maxItems && size < bytesLeft; q.n-- {
		next := q.recordSize(len(q.ring[q.head].Data))
		if len(dst) > 0 && size+next > maxBytes {
			break
		}
		size += next
		dst = append(dst, q.popOldestLocked())
	}
	q.countLocked()
	return dst, calls
}

// MarkBatchCommitted records that the last batch is durable and its waiters were notified, so
// that CountQueued no longer counts its age.
func (q *Queue) MarkBatchCommitted() {
	q.mu.Lock()
	q.flying = false
	q.countLocked()
	q.mu.Unlock()
}

// countLocked copies the queue's figures for CountQueued. The caller holds mu.
func (q *Queue) countLocked() {
	oldest := time.Duration(allDurable)
	switch {
	case q.flying:
		oldest = q.inFlight
	case q.n > 0:
		oldest = q.ring[q.head].since
	}
	q.counted.entries.Store(int64(q.n))
	q.counted.bytes.Store(int64(q.bytes))
	if q.counted.oldest.Load() != int64(oldest) {
		q.counted.oldest.Store(int64(oldest))
	}
}

// CountQueued returns the number and the bytes of the queued entries. ageOfOldestUndurable is
// the age of the oldest entry that is not durable yet; 0 if all are. It takes no lock, so that each
// request can call it.
func (q *Queue) CountQueued() (entries, bytes int, ageOfOldestUndurable time.Duration) {
	if oldest := q.counted.oldest.Load(); oldest != allDurable {
		ageOfOldestUndurable = time.Since(q.start) - time.Duration(oldest)
	}
	return int(q.counted.entries.Load()), int(q.counted.bytes.Load()), ageOfOldestUndurable
}

// popOldestLocked removes and returns the oldest entry. It clears the entry's slot, so that
// the ring does not keep the data in memory. The caller holds mu and decrements n.
func (q *Queue) popOldestLocked() Entry {
	it := q.ring[q.head]
	q.ring[q.head] = Entry{}
	q.bytes -= len(it.Data)
	q.head = q.ringIndexLocked(1)
	return it
}

func (q *Queue) ringIndexLocked(i int) int {
	i += q.head
	if i >= len(q.ring) {
		i -= len(q.ring)
	}
	return i
}
