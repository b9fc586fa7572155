package explain

import (
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// eventsAfterDecision holds the log's events on one lead after its decision: attempts to post,
// settlements, the buyer's reports and the supplier's webhooks.
type eventsAfterDecision struct {
	records   []*logEntry // in order, without a gap
	end       *logEntry   // if records is incomplete: the entry that ended the last post, read separately
	truncated bool        // there may be more events
}

// readEventsAfterDecision reads the log's events on a lead after its decision. It stops early, once the
// events explain the lead's state in memory, including the entry that ended the last post. If
// memory no longer has the lead, it reads as far as searchLimits allow.
//
// For a lead without an open post, memory knows the entry that ended the delivery. For a lead
// with an open post, memory only knows the end of the previous post. So this function asks for
// the open post first. A lead that has no open post never gets another.
func (e *Explainer) readEventsAfterDecision(decision *logEntry) (after eventsAfterDecision, err error) {
	lead := decision.mustBeLeadDecided().Lead
	// last is the entry that ended the delivery; 0 if it is unknown.
	last, delivered := uint64(0), decision.mustBeLeadDecided().Post.URL == ""
	if e.state.UnfinishedPost(lead) == nil {
		row, _ := e.state.Lead(lead)
		last = row.Settled
	}
	progress := e.newLeadReadProgress(decision)
	if delivered && progress.matchesStateInMemory() {
		return after, nil
	}
	reader, err := e.log.NewReader(decision.seq + 1)
	if err != nil {
		return after, fmt.Errorf("explain: cannot search the log: %w", err)
	}
	defer reader.Close()
	until := func() int64 {
		if progress.known && !progress.matchesStateInMemory() {
			return noTimeLimit
		}
		return decision.at + int64(e.limits.delivery)
	}
	complete := false
	ended, err := e.scanReaderForPatterns(reader, twoBytePatterns{lead[:]}, 0, until, func(next *logEntry) bool {
		if concernsLead(next.event, lead) {
			after.records = append(after.records, next)
			progress.addEvent(next.event)
			delivered = delivered || next.seq == last
		}
		complete = delivered && progress.matchesStateInMemory()
		return !complete && len(after.records) < e.limits.events
	})
	if err != nil || complete || ended == endOfLog {
		return after, err
	}
	after.truncated = true
	if last != 0 && !delivered {
		after.end, err = e.readEntry(last)
	}
	return after, err
}

// concernsLead reports whether an event is an attempt to post, a settlement, a buyer's report
// or a webhook attempt of the lead.
func concernsLead(ev event.Event, lead market.LeadID) bool {
	switch ev := ev.(type) {
	case *event.PostAttemptFailed:
		return ev.Lead == lead
	case *event.PostSettled:
		return ev.Lead == lead
	case *event.LeadStatusesChanged:
		return changeOfLead(ev, lead) != nil
	case *event.WebhookAttempted:
		return ev.Lead == lead
	}
	return false
}

// changeOfLead returns the part of a status report that concerns the lead, or nil. One report
// may cover several leads.
func changeOfLead(ev *event.LeadStatusesChanged, lead market.LeadID) *event.LeadStatusChange {
	for i := range ev.Changes {
		if ev.Changes[i].Lead == lead {
			return &ev.Changes[i]
		}
	}
	return nil
}
