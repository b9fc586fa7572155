package explain

import (
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// aftermath is what followed a lead's decision: its tries, what its posts came to,
// what its buyer reported of it, and how its supplier was told of that.
type followUp struct {
	records   []*entry // in order, without a gap
	end       *entry   // where they end too early: the one in which the last post ended, read by itself
	truncated bool     // there may be more than these
}

// afterwards reads on from a lead's decision, until all is seen that memory says
// there is: the entry in which its last post ended, and what sequel looks for. What
// memory has nothing of is looked for as far as a search goes.
//
// Memory knows the end of a delivery of a lead without an open post; of one with,
// it knows the end of the post before. So it is asked for the open post first: a
// lead that has none gets none any more.
func (e *Explainer) readFollowUp(decided *entry) (after followUp, err error) {
	lead := decided.lead().Lead
	last, delivered := uint64(0), decided.lead().Post.URL == "" // zero: not known
	if e.state.OpenPost(lead) == nil {
		row, _ := e.state.Lead(lead)
		last = row.Settled
	}
	progress := e.newProgress(decided)
	if delivered && progress.isComplete() {
		return after, nil
	}
	reader, err := e.log.NewReader(decided.seq + 1)
	if err != nil {
		return after, fmt.Errorf("cannot search the log: %w", err)
	}
	defer reader.Close()
	until := func() int64 {
		if progress.known && !progress.isComplete() {
			return noTimeLimit
		}
		return decided.at + int64(e.limits.delivery)
	}
	all := false
	ended, err := e.scanFrom(reader, patterns{lead[:]}, 0, until, func(next *entry) bool {
		if concernsLead(next.event, lead) {
			after.records = append(after.records, next)
			progress.add(next.event)
			delivered = delivered || next.seq == last
		}
		all = delivered && progress.isComplete()
		return !all && len(after.records) < e.limits.events
	})
	if err != nil || all || ended == endOfLog {
		return after, err
	}
	after.truncated = true
	if last != 0 && !delivered {
		after.end, err = e.readEntry(last)
	}
	return after, err
}

// isOf tells whether a fact is of what followed a lead's decision.
func concernsLead(ev event.Event, lead market.LeadID) bool {
	switch ev := ev.(type) {
	case *event.PostTried:
		return ev.Lead == lead
	case *event.PostSettled:
		return ev.Lead == lead
	case *event.StatusChanged:
		return changeOf(ev, lead) != nil
	case *event.WebhookTried:
		return ev.Lead == lead
	}
	return false
}

// changeOf is what a report says of a lead, or nil.
func changeOf(ev *event.StatusChanged, lead market.LeadID) *event.Change {
	for i := range ev.Changes {
		if ev.Changes[i].Lead == lead {
			return &ev.Changes[i]
		}
	}
	return nil
}
