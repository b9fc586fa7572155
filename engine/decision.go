package engine

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

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
	err := d.waitDurable()
	answer := d.answer
	d.pending.engine.decisions.Put(d)
	if err != nil {
		return Answer{}, err
	}
	return answer, nil
}

// waitDurable waits for a queued event, and then reports the decision to Note.
func (d *Decision) waitDurable() error {
	if d.queued {
		if err := d.pending.wait(); err != nil {
			return err
		}
	}
	if !d.answer.Replayed {
		d.pending.engine.opt.Note.LeadDecided(d.campaign, d.supplier, &d.answer)
	}
	return nil
}

// startCommit queues the event and its reservations in the log, and does not wait. The
// lists, which Apply does not need, return to the workspace after the encoding. After an
// error the reservations still belong to the lead.
func (in *ingest) startCommit() error {
	d := in.Decision
	in.selectWebhook()
	d.pending.encode(&d.record, &d.reserved)
	in.takeBackLists()
	err := d.pending.send()
	d.queued = err == nil
	return err
}

// lendLists gives the event the workspace's memory for its lists.
func (in *ingest) lendLists() {
	in.record.Fields, in.record.Trail, in.record.Sealed = in.fields[:0], in.steps[:0], in.sealed[:0]
	in.record.Auction.Bids = in.bids[:0]
}

// takeBackLists ends lendLists and clears the references in the lists.
func (in *ingest) takeBackLists() {
	in.fields, in.steps, in.sealed = in.record.Fields, in.record.Trail, in.record.Sealed
	in.bids = in.record.Auction.Bids
	in.record.Fields, in.record.Trail, in.record.Sealed, in.record.Auction.Bids = nil, nil, nil, nil
	clear(in.fields)
	clear(in.bids)
}
