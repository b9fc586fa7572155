package engine_test

import (
	"bytes"
	"errors"
	"sync"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/state"
	"pingpost/internal/must"
)

// memoryLog is a log without a disk. Its goroutine commits queued entries in batches and notifies
// the waiters in order. It outlives a crashed process, so a test can replay it into a new state.
//
// failAfter simulates a power cut: only that many entries become durable. A failed log stays
// failed until reopen.
type memoryLog struct {
	t     testing.TB
	wake  chan struct{}
	ended chan struct{}

	mu             sync.Mutex
	syncTime       time.Duration // duration of a batch's fsync
	queue          []queuedEntry
	entries        []entry
	batches        int
	failAfter      int  // 0: never
	unacknowledged bool // the last batch is durable, but its waiters get an error
	failure        error
	onFailure      func()
	closed         bool
	at             int64
}

type queuedEntry struct {
	data   []byte
	copied []byte
	waiter engine.CommitWaiter
}

type entry struct {
	at   int64
	data []byte
}

var (
	errLogFailed = errors.New("the log has failed")
	errClosed    = errors.New("the log is closed")
)

func newMemoryLog(t testing.TB) *memoryLog {
	l := &memoryLog{t: t}
	l.startCommitter()
	return l
}

func (l *memoryLog) startCommitter() {
	l.wake, l.ended = make(chan struct{}, 1), make(chan struct{})
	go l.commitLoop()
}

func (l *memoryLog) Append(data []byte, w engine.CommitWaiter) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.failure != nil:
		return l.failure
	case l.closed:
		return errClosed
	case len(data) == 0:
		return errors.New("an entry of no bytes")
	}
	l.queue = append(l.queue, queuedEntry{data, bytes.Clone(data), w})
	l.wakeCommitter()
	return nil
}

func (l *memoryLog) wakeCommitter() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *memoryLog) commitLoop() {
	defer close(l.ended)
	for range l.wake {
		for l.commitBatch() {
		}
		l.mu.Lock()
		over := l.closed && len(l.queue) == 0
		l.mu.Unlock()
		if over {
			return
		}
	}
}

// maxBatch is small, so that tests leave entries in the queue.
const maxBatch = 32

func (l *memoryLog) commitBatch() (more bool) {
	l.mu.Lock()
	if l.failure != nil || len(l.queue) == 0 {
		l.mu.Unlock()
		return false
	}
	batch := l.queue[:min(len(l.queue), maxBatch)]
	l.queue = l.queue[len(batch):]
	sync := l.syncTime
	l.mu.Unlock()
	if sync > 0 {
		time.Sleep(sync)
	}
	l.mu.Lock()
	first := len(l.entries) + 1
	l.at = max(l.at, time.Now().UnixNano())
	dead := false
	durable := batch
	if after := len(l.entries) + len(batch); l.failAfter > 0 && (after > l.failAfter || after == l.failAfter && l.unacknowledged) {
		durable, dead = batch[:max(0, l.failAfter-len(l.entries))], true
	}
	for _, a := range durable {
		if !bytes.Equal(a.data, a.copied) {
			l.t.Error("entry changed between Append and its commit")
		}
		l.entries = append(l.entries, entry{l.at, a.copied})
	}
	l.batches++
	at := l.at
	l.mu.Unlock()
	if dead {
		l.failWaiters(batch) // also those that became durable
		return false
	}
	for _, a := range batch {
		a.waiter.(interface{ Prepare() }).Prepare()
	}
	for i, a := range batch {
		a.waiter.Committed(uint64(first+i), at)
	}
	return true
}

// failWaiters fails the log and notifies all waiters.
func (l *memoryLog) failWaiters(batch []queuedEntry) {
	l.mu.Lock()
	l.failure = errLogFailed
	rest := append(batch[:len(batch):len(batch)], l.queue...)
	l.queue = nil
	onFailure := l.onFailure
	l.mu.Unlock()
	if onFailure != nil {
		onFailure()
	}
	for _, a := range rest {
		a.waiter.Failed(errLogFailed)
	}
}

// close commits the queued entries and ends the goroutine.
func (l *memoryLog) close() {
	l.mu.Lock()
	l.closed = true
	l.wakeCommitter()
	l.mu.Unlock()
	<-l.ended
}

// reopen makes a failed or closed log accept entries again.
func (l *memoryLog) reopen() {
	l.mu.Lock()
	l.failure, l.closed, l.failAfter, l.unacknowledged, l.onFailure = nil, false, 0, false, nil
	l.mu.Unlock()
	l.startCommitter()
}

// setSyncTime sets the duration of the next batches.
func (l *memoryLog) setSyncTime(sync time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.syncTime = sync
}

// failAfterEntries makes the log fail after n entries.
func (l *memoryLog) failAfterEntries(n int, onFailure func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failAfter, l.onFailure = n, onFailure
}

// hasFailed reports whether the log has failed.
func (l *memoryLog) hasFailed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure != nil
}

func (l *memoryLog) durable() []entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.entries[:len(l.entries):len(l.entries)]
}

func (l *memoryLog) len() int { return len(l.durable()) }

// rejectingLog rejects events as a log with a full queue does.
type rejectingLog struct {
	engine.Log
	reject func(event.Kind) error
}

func (l *rejectingLog) Append(data []byte, w engine.CommitWaiter) error {
	record, err := new(event.Decoder).Decode(data)
	if err == nil {
		err = l.reject(record.Kind())
	}
	if err != nil {
		return err
	}
	return l.Log.Append(data, w)
}

func logThatRejects(reject func(event.Kind) error) func(*engine.Options) {
	return func(o *engine.Options) { o.Log = &rejectingLog{o.Log, reject} }
}

// historyFunc reads an event of the log by its position.
type historyFunc func(seq uint64) ([]byte, error)

func (f historyFunc) At(seq uint64) ([]byte, error) { return f(seq) }

// failingHistory makes reads of events fail while *failure is not nil.
func failingHistory(failure *error) func(*engine.Options) {
	return func(o *engine.Options) {
		history := o.History
		o.History = historyFunc(func(seq uint64) ([]byte, error) {
			if *failure != nil {
				return nil, *failure
			}
			return history.At(seq)
		})
	}
}

// decodeAll returns the events of the entries.
func decodeAll(t testing.TB, entries []entry) (all []event.Event) {
	t.Helper()
	for _, e := range entries {
		all = append(all, must.Value(new(event.Decoder).Decode(e.data))(t))
	}
	return all
}

// replayState returns the state after the entries.
func replayState(t testing.TB, entries []entry) *state.State {
	t.Helper()
	s := state.New()
	for i, record := range decodeAll(t, entries) {
		s.Apply(uint64(i+1), entries[i].at, record)
	}
	return s
}
