package engine

import (
	"errors"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
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

// encodeAndQueue encodes the event and queues it in the log. After an error the reservations
// still belong to the caller, and wait must not be called.
func (p *pendingCommit) encodeAndQueue(record event.Event, reserved *state.Reservation) error {
	p.encode(record, reserved)
	return p.queueEncoded()
}

func (p *pendingCommit) encode(record event.Event, reserved *state.Reservation) {
	p.record, p.reserved = record, reserved
	p.encoded = event.Append(p.encoded[:0], record)
}

func (p *pendingCommit) queueEncoded() error { return p.engine.opt.Log.Append(p.encoded, p) }

// waitUntilApplied blocks until the event is durable and applied, or the log has failed. The
// reservations are released either way.
func (p *pendingCommit) waitUntilApplied() error { return <-p.done }

// Prepare loads the memory that the event will change into the processor's cache. The
// log calls it.
func (p *pendingCommit) Prepare() { p.engine.state.PrefetchForApply(p.record) }

// Committed applies the event. The log calls it.
func (p *pendingCommit) Committed(seq uint64, at int64) {
	p.engine.state.Apply(seq, at, p.record)
	if p.reserved != nil {
		p.engine.state.ReleaseAfterApply(p.reserved)
	}
	p.done <- nil
}

// Failed reports that the event did not become durable. The log calls it.
func (p *pendingCommit) Failed(err error) {
	p.releaseReservations()
	p.done <- err
}

func (p *pendingCommit) releaseReservations() {
	if p.reserved != nil {
		p.engine.state.ReleaseAll(p.reserved)
	}
}

// commit makes an event durable and applies it. After an error the event is not durable
// and never will be. The reservations, which may be nil, are released either way.
func (e *Engine) commit(record event.Event, reserved *state.Reservation) error {
	err := e.tryCommit(record, reserved)
	if errors.Is(err, ErrBusy) && reserved != nil {
		e.state.ReleaseAll(reserved)
	}
	return err
}

// busyPause is the time between two attempts to queue an outcome in a full log queue.
const busyPause = 5 * time.Millisecond

// commitDespiteFullQueue commits the outcome of an open post. The buyer may have the lead
// by now, so a full queue is no reason to drop the outcome: commitDespiteFullQueue repeats
// until the log accepts the event or has failed.
func (e *Engine) commitDespiteFullQueue(record event.Event, reserved *state.Reservation) error {
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
	err := p.encodeAndQueue(record, reserved)
	switch {
	case err == nil:
		err = p.waitUntilApplied()
	case !errors.Is(err, ErrBusy):
		p.releaseReservations()
	}
	p.record, p.reserved = nil, nil
	e.pendingCommits.Put(p)
	return err
}

// A Decision is a decided lead: its answer, and the part of its event that the committer
// still has to apply. The event may be on its way through the log; Wait waits for it.
//
// A Decision is all that a lead occupies during an fsync. The request and the workspace
// are ten times as large, and already serve the next lead. With hundreds of leads in
// the log's queue, larger objects would fill the processor's cache.
type Decision struct {
	pending  pendingCommit // of record and reserved
	record   event.LeadDecided
	reserved state.Reservation
	answer   Answer
	campaign *market.Campaign
	supplier *market.Supplier
	queued   bool // the log has the event, and the committer ends the reservations
}

// IsQueued reports whether Wait has to wait for the log.
func (d *Decision) IsQueued() bool { return d.queued }

// Wait returns the answer as soon as the event is durable and applied. After an error
// the event never becomes durable. Wait is called once and ends the caller's ownership
// of the Decision.
func (d *Decision) Wait() (Answer, error) {
	err := d.waitUntilDurable()
	answer := d.answer
	d.pending.engine.decisions.Put(d)
	if err != nil {
		return Answer{}, err
	}
	return answer, nil
}

// waitUntilDurable waits for a queued event, and then reports the decision to the observer.
func (d *Decision) waitUntilDurable() error {
	if d.queued {
		if err := d.pending.waitUntilApplied(); err != nil {
			return err
		}
	}
	if !d.answer.Replayed {
		d.pending.engine.opt.Observer.LeadDecided(d.campaign, d.supplier, &d.answer)
	}
	return nil
}

// queueDecision queues the event and its reservations in the log, and does not wait. The
// lists, which Apply does not need, return to the workspace after the encoding. After an
// error the reservations still belong to the lead.
func (in *leadSale) queueDecision() error {
	d := in.Decision
	in.selectDecisionWebhook()
	d.pending.encode(&d.record, &d.reserved)
	in.takeListsFromRecord()
	err := d.pending.queueEncoded()
	d.queued = err == nil
	return err
}

// lendListsToRecord gives the event the workspace's memory for its lists.
func (in *leadSale) lendListsToRecord() {
	in.record.Fields, in.record.Trail, in.record.Sealed = in.fields[:0], in.steps[:0], in.sealed[:0]
	in.record.Auction.Bids = in.bids[:0]
}

// takeListsFromRecord ends lendListsToRecord and clears the references in the lists.
func (in *leadSale) takeListsFromRecord() {
	in.fields, in.steps, in.sealed = in.record.Fields, in.record.Trail, in.record.Sealed
	in.bids = in.record.Auction.Bids
	in.record.Fields, in.record.Trail, in.record.Sealed, in.record.Auction.Bids = nil, nil, nil, nil
	clear(in.fields)
	clear(in.bids)
}
