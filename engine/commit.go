package engine

import (
	"errors"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// pendingLogEvent is an event on its way into the log, with the reservations of the decision that
// made it. encodeAndQueue starts every commit, and waitUntilApplied ends it.
//
// When encodeAndQueue has returned nil, only the log's committer ends the reservations. It
// applies the event first and releases them afterwards. So capacity always counts as reserved or
// as used.
//
// The caller of encodeAndQueue owns the pendingLogEvent and may use it again after
// waitUntilApplied.
type pendingLogEvent struct {
	engine   *Engine
	record   event.Event
	reserved *state.RequestReservations // nil: none
	encoded  []byte                     // memory for the encoding
	done     chan error
}

// encodeAndQueue encodes the event and adds it to the log's queue. After an error the
// reservations still belong to the caller, which must not call waitUntilApplied.
func (p *pendingLogEvent) encodeAndQueue(record event.Event, reserved *state.RequestReservations) error {
	p.encode(record, reserved)
	return p.queueEncoded()
}

func (p *pendingLogEvent) encode(record event.Event, reserved *state.RequestReservations) {
	p.record, p.reserved = record, reserved
	p.encoded = event.AppendRecord(p.encoded[:0], record)
}

func (p *pendingLogEvent) queueEncoded() error { return p.engine.opt.Log.Append(p.encoded, p) }

// waitUntilApplied blocks until the event is durable and applied to the state, or until the log
// has failed. The reservations are released in both cases.
func (p *pendingLogEvent) waitUntilApplied() error { return <-p.done }

// Prepare loads the memory that the event will change into the processor's cache. The log calls
// it shortly before Committed, so that the committer waits less for memory.
func (p *pendingLogEvent) Prepare() { p.engine.state.PrefetchIntoCPUCache(p.record) }

// Committed applies the durable event to the state, releases its reservations and wakes the waiting
// caller. The log calls it with the event's log position and the time of its batch.
func (p *pendingLogEvent) Committed(logPosition uint64, batchTimeNanos int64) {
	p.engine.state.Apply(logPosition, batchTimeNanos, p.record)
	if p.reserved != nil {
		p.engine.state.ReleaseAllAfterApply(p.reserved)
	}
	p.done <- nil
}

// Failed releases the reservations and passes err to the waiting caller. The log calls it if this
// process will not commit the event.
func (p *pendingLogEvent) Failed(err error) {
	p.releaseReservations()
	p.done <- err
}

func (p *pendingLogEvent) releaseReservations() {
	if p.reserved != nil {
		p.engine.state.ReleaseAll(p.reserved)
	}
}

// commit makes an event durable and applies it to the state. If the log's queue is full, it returns
// ErrBusy at once. After an error the event is not applied. It never becomes durable after ErrBusy and
// ErrNotLeader; other errors leave that open. commit always releases the reservations, which may be nil.
func (e *Engine) commit(record event.Event, reserved *state.RequestReservations) error {
	err := e.commitUnlessQueueFull(record, reserved)
	if errors.Is(err, ErrBusy) && reserved != nil {
		e.state.ReleaseAll(reserved)
	}
	return err
}

// busyPause is the pause of commitRetryingFullQueue before it tries again to add an event to the
// log's full queue.
const busyPause = 5 * time.Millisecond

// commitRetryingFullQueue commits an event like commit. While the log's queue is full, it tries
// again until the log accepts the event or has failed. It is for events that must not be dropped,
// such as the result of a post: the buyer may have the lead by now.
func (e *Engine) commitRetryingFullQueue(record event.Event, reserved *state.RequestReservations) error {
	for {
		err := e.commitUnlessQueueFull(record, reserved)
		if !errors.Is(err, ErrBusy) {
			return err
		}
		fired, stop := e.opt.Clock.Timer(busyPause)
		<-fired
		stop()
	}
}

// commitUnlessQueueFull makes an event durable and applies it. If the log's queue is full, it
// returns ErrBusy and keeps the reservations, so that the caller can try again. Otherwise it
// releases them.
func (e *Engine) commitUnlessQueueFull(record event.Event, reserved *state.RequestReservations) error {
	p := e.pendingCommits.Get().(*pendingLogEvent)
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

// PendingLeadDecision is a decided lead: its answer, and its event with the reservations until the committer
// applies the event. Wait blocks until then.
//
// A PendingLeadDecision is all that a lead occupies during the log's fsync. The request and the workspace
// are ten times as large and already serve the next lead. With hundreds of leads in the log's
// queue, larger objects would fill the processor's cache.
type PendingLeadDecision struct {
	pending  pendingLogEvent // of record and reserved
	record   event.LeadDecided
	reserved state.RequestReservations
	answer   IngestAnswer
	campaign *market.Campaign
	supplier *market.Supplier
	queued   bool // the log has the event, and the committer ends the reservations
}

// IsQueued reports whether the lead's event is in the log's queue, so that Wait may block.
func (d *PendingLeadDecision) IsQueued() bool { return d.queued }

// WaitUntilCommitted returns the answer as soon as the lead's event is durable and applied. The errors are
// those of the log; after ErrNotLeader the event never becomes durable. The caller calls Wait once and must not use the PendingLeadDecision
// afterwards, because another lead may reuse it.
func (d *PendingLeadDecision) WaitUntilCommitted() (IngestAnswer, error) {
	err := d.waitAndNotifyObserver()
	answer := d.answer
	d.pending.engine.decisions.Put(d)
	if err != nil {
		return IngestAnswer{}, err
	}
	return answer, nil
}

// waitAndNotifyObserver waits until the lead's event, if it is queued, is durable and applied. Then it
// reports the decision to the observer, except for the answer to a repeated request.
func (d *PendingLeadDecision) waitAndNotifyObserver() error {
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

// queueDecision adds the lead's event with its reservations to the log's queue, and does
// not wait. It encodes the event and then returns the event's lists to the workspace, because
// applying the event does not need them. After an error the reservations still belong to the
// lead.
func (in *leadSaleWorkspace) queueDecision() error {
	d := in.PendingLeadDecision
	in.setDecisionWebhookAndCachePayload()
	d.pending.encode(&d.record, &d.reserved)
	in.takeBackMemoryFromEvent()
	err := d.pending.queueEncoded()
	d.queued = err == nil
	return err
}

// lendMemoryToEvent gives the lead's event the workspace's memory for its lists, so that writing
// the event allocates no memory. takeBackMemoryFromEvent returns the memory.
func (in *leadSaleWorkspace) lendMemoryToEvent() {
	in.record.Fields, in.record.Trail, in.record.Sealed = in.fields[:0], in.steps[:0], in.sealed[:0]
	in.record.Auction.Bids = in.bids[:0]
}

// takeBackMemoryFromEvent returns the memory that lendMemoryToEvent gave to the lead's event. It
// clears the pointers in it, so that the garbage collector can free the lead's texts.
func (in *leadSaleWorkspace) takeBackMemoryFromEvent() {
	in.fields, in.steps, in.sealed = in.record.Fields, in.record.Trail, in.record.Sealed
	in.bids = in.record.Auction.Bids
	in.record.Fields, in.record.Trail, in.record.Sealed, in.record.Auction.Bids = nil, nil, nil, nil
	clear(in.fields)
	clear(in.bids)
}
