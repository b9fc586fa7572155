package engine

import (
	"errors"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/state"
)

// pending is a fact on its way through the log, with the reservations it was
// decided under. From the moment it is queued the committer alone ends those:
// it applies the fact and then releases them, so that at no instant is room
// counted neither as reserved nor as taken.
//
// It belongs to the verb that waits for it, and goes back to the pool when the
// verb has heard.
type pending struct {
	engine *Engine
	fact   event.Event
	hold   *state.Reservation
	buf    []byte
	done   chan error
}

// commit makes a fact durable and applies it, and returns when both are done.
// An error means that it is not, and never will be as far as anyone is told.
// The hold, which may be nil, is released either way.
func (e *Engine) commit(fact event.Event, hold *state.Reservation) error {
	err := e.offer(fact, hold)
	if errors.Is(err, ErrBusy) && hold != nil {
		e.state.Release(hold)
	}
	return err
}

// busyPause is between two offers of an outcome to a log whose queue is full.
const busyPause = 5 * time.Millisecond

// conclude commits what has become of an open intent. A buyer may have the lead
// by now, so a full queue is no reason to let go: the fact is offered until it
// is taken, or the log has failed.
func (e *Engine) conclude(fact event.Event, hold *state.Reservation) error {
	for {
		err := e.offer(fact, hold)
		if !errors.Is(err, ErrBusy) {
			return err
		}
		fired, stop := e.opt.Clock.Timer(busyPause)
		<-fired
		stop()
	}
}

// offer is commit, but where the log's queue is full the hold is kept.
func (e *Engine) offer(fact event.Event, hold *state.Reservation) error {
	p := e.waits.Get().(*pending)
	p.encode(fact, hold)
	err := p.send()
	switch {
	case err == nil:
		err = <-p.done
	case !errors.Is(err, ErrBusy):
		p.release()
	}
	p.fact, p.hold = nil, nil
	e.waits.Put(p)
	return err
}

// encode takes a fact and its hold, which may be nil.
func (p *pending) encode(fact event.Event, hold *state.Reservation) {
	p.fact, p.hold = fact, hold
	p.buf = event.Append(p.buf[:0], fact)
}

// send queues what was encoded. Without an error the outcome comes on done.
func (p *pending) send() error { return p.engine.opt.Log.Append(p.buf, p) }

// Prepare brings near what the fact will change; the log calls it.
func (p *pending) Prepare() { p.engine.state.Prefetch(p.fact) }

// Committed applies the fact; the log calls it.
func (p *pending) Committed(seq uint64, at int64) {
	p.engine.state.Apply(seq, at, p.fact)
	if p.hold != nil {
		p.engine.state.ReleaseApplied(p.hold)
	}
	p.done <- nil
}

// Failed is the log's word that the fact is not durable.
func (p *pending) Failed(err error) {
	p.release()
	p.done <- err
}

func (p *pending) release() {
	if p.hold != nil {
		p.engine.state.Release(p.hold)
	}
}
