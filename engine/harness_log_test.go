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

// memoryLog is a log as the real one is, without a disk: entries queue, a
// goroutine of its own commits what has queued as one batch, and tells the
// waiters in order. It outlives the exchanges that write to it, so that a crash
// is a matter of replaying it into a new state.
//
// dieAt makes it the last thing that a dying process did: that many entries
// become durable, and no more. A log that died, or failed, stays so.
type memoryLog struct {
	t     testing.TB
	wake  chan struct{}
	ended chan struct{}

	mu      sync.Mutex
	sync    time.Duration // that a batch takes to be durable
	queue   []appended
	entries []entry
	batches int
	dieAt   int  // 0: never
	unheard bool // nobody hears of the last batch, though it is durable
	failure error
	onDeath func()
	closed  bool
	at      int64
}

type appended struct {
	data   []byte
	copied []byte
	waiter engine.CommitWaiter
}

type entry struct {
	at   int64
	data []byte
}

var (
	errDead   = errors.New("the log has failed")
	errClosed = errors.New("the log is closed")
)

func newMemoryLog(t testing.TB) *memoryLog {
	l := &memoryLog{t: t}
	l.begin()
	return l
}

func (l *memoryLog) begin() {
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
	l.queue = append(l.queue, appended{data, bytes.Clone(data), w})
	l.nudge()
	return nil
}

func (l *memoryLog) nudge() {
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

// maxBatch is small, so that what waits in the queue is met by tests.
const maxBatch = 32

func (l *memoryLog) commitBatch() (more bool) {
	l.mu.Lock()
	if l.failure != nil || len(l.queue) == 0 {
		l.mu.Unlock()
		return false
	}
	batch := l.queue[:min(len(l.queue), maxBatch)]
	l.queue = l.queue[len(batch):]
	sync := l.sync
	l.mu.Unlock()
	if sync > 0 {
		time.Sleep(sync)
	}
	l.mu.Lock()
	first := len(l.entries) + 1
	l.at = max(l.at, time.Now().UnixNano())
	dead := false
	durable := batch
	if after := len(l.entries) + len(batch); l.dieAt > 0 && (after > l.dieAt || after == l.dieAt && l.unheard) {
		durable, dead = batch[:max(0, l.dieAt-len(l.entries))], true
	}
	for _, a := range durable {
		if !bytes.Equal(a.data, a.copied) {
			l.t.Error("an entry was changed between Append and its commit")
		}
		l.entries = append(l.entries, entry{l.at, a.copied})
	}
	l.batches++
	at := l.at
	l.mu.Unlock()
	if dead {
		l.fail(batch) // also those that became durable
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

// fail tells everyone who waits.
func (l *memoryLog) fail(batch []appended) {
	l.mu.Lock()
	l.failure = errDead
	rest := append(batch[:len(batch):len(batch)], l.queue...)
	l.queue = nil
	onDeath := l.onDeath
	l.mu.Unlock()
	if onDeath != nil {
		onDeath()
	}
	for _, a := range rest {
		a.waiter.Failed(errDead)
	}
}

// close commits what is queued and ends the goroutine.
func (l *memoryLog) close() {
	l.mu.Lock()
	l.closed = true
	l.nudge()
	l.mu.Unlock()
	<-l.ended
}

// reopen makes a log that died, or was closed, take entries again.
func (l *memoryLog) reopen() {
	l.mu.Lock()
	l.failure, l.closed, l.dieAt, l.unheard, l.onDeath = nil, false, 0, false, nil
	l.mu.Unlock()
	l.begin()
}

// slow makes each batch take so long from now on.
func (l *memoryLog) slow(sync time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sync = sync
}

// die lets the log become durable up to n entries and no further.
func (l *memoryLog) die(n int, onDeath func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dieAt, l.onDeath = n, onDeath
}

// died tells whether it did.
func (l *memoryLog) died() bool {
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
	fact, err := new(event.Decoder).Decode(data)
	if err == nil {
		err = l.reject(fact.Kind())
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

// historyThatFails returns the error instead of an event as long as there is one.
func historyThatFails(failure *error) func(*engine.Options) {
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

// replayed is the state that the first entries make.
func replayed(t testing.TB, entries []entry) *state.State {
	t.Helper()
	s := state.New()
	for i, fact := range decodeAll(t, entries) {
		s.Apply(uint64(i+1), entries[i].at, fact)
	}
	return s
}
