package engine

import (
	"errors"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/state"
)

// pendingCommit is an event on its way through the log, with the reservations that the
// decision made. Every event of the engine is committed by start and wait.
//
// Once start returns nil, only the log's committer ends the reservations: it applies the
// event and then releases them, so at no instant does capacity count neither as reserved
// nor as used.
//
// The caller of start owns the pendingCommit, and may use it again after wait.
type pendingCommit struct {
	engine   *Engine
	record   event.Event
	reserved *state.Reservation // nil: none
	encoded  []byte             // memory for the encoding
	done     chan error
}

// start encodes the event and queues it in the log. After an error the reservations
// still belong to the caller, and wait must not be called.
func (p *pendingCommit) start(record event.Event, reserved *state.Reservation) error {
	p.encode(record, reserved)
	return p.send()
}

func (p *pendingCommit) encode(record event.Event, reserved *state.Reservation) {
	p.record, p.reserved = record, reserved
	p.encoded = event.Append(p.encoded[:0], record)
}

func (p *pendingCommit) send() error { return p.engine.opt.Log.Append(p.encoded, p) }

// wait blocks until the event is durable and applied, or the log has failed. The
// reservations are released either way.
func (p *pendingCommit) wait() error { return <-p.done }

// Prepare loads the memory that the event will change into the processor's cache. The
// log calls it.
func (p *pendingCommit) Prepare() { p.engine.state.Prefetch(p.record) }

// Committed applies the event. The log calls it.
func (p *pendingCommit) Committed(seq uint64, at int64) {
	p.engine.state.Apply(seq, at, p.record)
	if p.reserved != nil {
		p.engine.state.ReleaseApplied(p.reserved)
	}
	p.done <- nil
}

// Failed reports that the event did not become durable. The log calls it.
func (p *pendingCommit) Failed(err error) {
	p.release()
	p.done <- err
}

func (p *pendingCommit) release() {
	if p.reserved != nil {
		p.engine.state.Release(p.reserved)
	}
}

// commit makes an event durable and applies it. After an error the event is not durable
// and never will be. The reservations, which may be nil, are released either way.
func (e *Engine) commit(record event.Event, reserved *state.Reservation) error {
	err := e.tryCommit(record, reserved)
	if errors.Is(err, ErrBusy) && reserved != nil {
		e.state.Release(reserved)
	}
	return err
}

// busyPause is the time between two attempts to queue an outcome in a full log queue.
const busyPause = 5 * time.Millisecond

// commitOutcome commits the outcome of an open post. The buyer may have the lead by now,
// so a full queue is no reason to drop the outcome: commitOutcome repeats until the log
// accepts the event or has failed.
func (e *Engine) commitOutcome(record event.Event, reserved *state.Reservation) error {
	for {
		err := e.tryCommit(record, reserved)
		if !errors.Is(err, ErrBusy) {
			return err
		}
		fired, stop := e.opt.Clock.Timer(busyPause)
		<-fired
		stop()
	}
}

// tryCommit is commit, but keeps the reservations if the log's queue is full (ErrBusy).
func (e *Engine) tryCommit(record event.Event, reserved *state.Reservation) error {
	p := e.pendingCommits.Get().(*pendingCommit)
	err := p.start(record, reserved)
	switch {
	case err == nil:
		err = p.wait()
	case !errors.Is(err, ErrBusy):
		p.release()
	}
	p.record, p.reserved = nil, nil
	e.pendingCommits.Put(p)
	return err
}
