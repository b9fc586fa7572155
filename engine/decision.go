package engine

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// A Decision is a lead that was decided: its answer, and as much of its fact as
// the committer still applies. It may be on its way through the log; only Wait
// tells.
//
// It is all that stays of a lead while an fsync runs. The request and the
// workspace, ten times as large, are free by then and serve the next lead. With
// hundreds of leads in the log's queue what each of them kept would fill the
// processor's cache, and the next lead would find nothing of its own there.
type Decision struct {
	way      pending // its fact and its hold are those below
	fact     event.LeadDecided
	hold     state.Reservation
	answer   Answer
	campaign *market.Campaign
	supplier *market.Supplier
	queued   bool // the log has it, and the committer ends the hold
}

// Queued tells whether Wait has the log to wait for.
func (d *Decision) Queued() bool { return d.queued }

// Wait returns the answer, once it may be told: the decision is durable and
// applied. An error means that it never will be. Called once; the Decision is
// the engine's again from then on.
func (d *Decision) Wait() (Answer, error) {
	err := d.landed()
	answer := d.answer
	d.way.engine.decisions.Put(d)
	if err != nil {
		return Answer{}, err
	}
	return answer, nil
}

// landed returns once what was queued is durable, and then notes the decision.
func (d *Decision) landed() error {
	if d.queued {
		if err := <-d.way.done; err != nil {
			return err
		}
	}
	if !d.answer.Replayed {
		d.way.engine.opt.Note.Decided(d.campaign, d.supplier, &d.answer)
	}
	return nil
}

// queue hands the fact to the log, and every reservation with it, without
// waiting. What is not applied is encoded and stays with the workspace. After an
// error the reservations are still the lead's.
func (in *ingest) queue() error {
	d := in.Decision
	in.selectWebhook()
	d.way.encode(&d.fact, &d.hold)
	in.takeLists()
	err := d.way.send()
	d.queued = err == nil
	return err
}

// lendLists gives the fact the workspace's memory for its lists.
func (in *ingest) lendLists() {
	in.fact.Fields, in.fact.Trail, in.fact.Sealed = in.fields[:0], in.steps[:0], in.sealed[:0]
	in.fact.Auction.Bids = in.bids[:0]
}

// takeLists takes it back, and lets go of what it referred to.
func (in *ingest) takeLists() {
	in.fields, in.steps, in.sealed = in.fact.Fields, in.fact.Trail, in.fact.Sealed
	in.bids = in.fact.Auction.Bids
	in.fact.Fields, in.fact.Trail, in.fact.Sealed, in.fact.Auction.Bids = nil, nil, nil, nil
	clear(in.fields)
	clear(in.bids)
}
