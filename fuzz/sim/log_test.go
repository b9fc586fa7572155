package sim

import (
	"bytes"
	"errors"
	"sync"
	"time"

	"pingpost/engine"
	"pingpost/engine/state"
)

// disk outlives the processes: the durable log entries and the newest snapshot.
type disk struct {
	mu       sync.Mutex
	entries  []entry
	snapshot []byte
	oldest   uint64 // the log is needed from the next entry on
	cold     []state.ColdFile
}

type entry struct {
	at   int64
	data []byte
}

var errDead = errors.New("the process is dead")

// log is the log of one process. A goroutine makes queued events durable in batches and reports
// them. A dead log rejects new events and loses the queued ones.
//
// If die is set, the process dies by an action of the log: left more events become durable.
// With unheard, the last of these is not reported.
type log struct {
	disk *disk
	die  func()
	wake chan struct{}
	over chan struct{}

	mu      sync.Mutex
	slow    time.Duration // duration of a batch
	queue   []queued
	dead    bool
	closed  bool
	sure    bool
	left    int
	unheard bool
}

type queued struct {
	data   []byte
	waiter engine.CommitWaiter
}

func openLog(d *disk, die func()) *log {
	l := &log{disk: d, die: die, wake: make(chan struct{}, 1), over: make(chan struct{})}
	go l.run()
	return l
}

func (l *log) Append(data []byte, w engine.CommitWaiter) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead || l.closed {
		return errDead
	}
	l.queue = append(l.queue, queued{data, w})
	l.nudge()
	return nil
}

func (l *log) nudge() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *log) run() {
	defer close(l.over)
	for range l.wake {
		for l.batch() {
		}
		l.mu.Lock()
		over := (l.closed || l.dead) && len(l.queue) == 0
		l.mu.Unlock()
		if over {
			return
		}
	}
}

// batch makes the queued events durable.
func (l *log) batch() (more bool) {
	l.mu.Lock()
	all := l.queue
	l.queue = nil
	slow, dead := l.slow, l.dead
	l.mu.Unlock()
	if len(all) == 0 {
		return false
	}
	if slow > 0 && !dead {
		time.Sleep(slow)
	}
	for i, q := range all {
		seq, at, told := l.store(q.data)
		if !told {
			l.fail(all[i:])
			return true
		}
		q.waiter.(interface{ Prepare() }).Prepare()
		q.waiter.Committed(seq, at)
	}
	return true
}

// store makes an event durable unless the process dies first. told is false if the process dies
// before it can report the event.
func (l *log) store(data []byte) (seq uint64, at int64, told bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead || l.sure && l.left == 0 {
		return 0, 0, false
	}
	at = time.Now().UnixNano()
	l.disk.mu.Lock()
	l.disk.entries = append(l.disk.entries, entry{at, bytes.Clone(data)})
	seq = uint64(len(l.disk.entries))
	l.disk.mu.Unlock()
	if l.sure {
		l.left--
		return seq, at, l.left > 0 || !l.unheard
	}
	return seq, at, true
}

func (l *log) fail(rest []queued) {
	l.kill()
	l.die()
	for _, q := range rest {
		q.waiter.Failed(errDead)
	}
}

// kill discards the queue.
func (l *log) kill() {
	l.mu.Lock()
	l.dead = true
	l.nudge()
	l.mu.Unlock()
}

// arm makes the process die after so many durable events; negative: never.
func (l *log) arm(left int, unheard bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sure, l.left, l.unheard = left >= 0, left, unheard
}

// close makes the queue durable and ends the goroutine.
func (l *log) close() {
	l.mu.Lock()
	l.closed = true
	l.nudge()
	l.mu.Unlock()
	<-l.over
}

// At returns an entry of the history.
func (l *log) At(seq uint64) ([]byte, error) {
	l.disk.mu.Lock()
	defer l.disk.mu.Unlock()
	if seq == 0 || seq > uint64(len(l.disk.entries)) {
		return nil, errors.New("no such entry")
	}
	return bytes.Clone(l.disk.entries[seq-1].data), nil
}

func (d *disk) all() []entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.entries[:len(d.entries):len(d.entries)]
}
