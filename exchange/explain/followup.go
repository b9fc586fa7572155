package explain

import (
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// applyEventsAfterDecision applies the log's events on a lead after its decision to c: attempts to
// post, settlements, the buyer's reports and the supplier's webhooks. It stops early, once they
// explain the lead's state in memory, including the entry that ended the last post. If memory no
// longer has the lead, it reads as far as searchLimits allow. If a limit ends the search, it marks
// the explanation as truncated, and reads the entry that ended the last post separately.
//
// For a lead without an open post, memory knows the entry that ended the delivery. For a lead
// with an open post, memory only knows the end of the previous post. So this function asks for
// the open post first. A lead that has no open post never gets another.
func (e *Explainer) applyEventsAfterDecision(c *leadTimeline, decision *logEntry) error {
	// last is the entry that ended the delivery; 0 if it is unknown.
	last, delivered := uint64(0), decision.mustBeLeadDecided().Post.URL == ""
	unfinished := e.State.UnfinishedPost(c.lead)
	var err error
	if c.row, c.known, err = e.State.Lead(c.lead); err != nil {
		return err
	}
	if unfinished == nil {
		last = c.row.Settled
	}
	if delivered && c.matchesStateInMemory() {
		return nil
	}
	reader, err := e.Log.NewReader(decision.seq + 1)
	if err != nil {
		return fmt.Errorf("explain: cannot search the log: %w", err)
	}
	defer reader.Close()
	until := func() int64 {
		if c.known && !c.matchesStateInMemory() {
			return noTimeLimit
		}
		return decision.at + int64(e.limits.delivery)
	}
	events, complete := 0, false
	ended, err := e.scanReaderForPatterns(reader, entrySearchPatterns{c.lead[:]}, 0, until, func(next *logEntry) bool {
		if isFollowUpEventOfLead(next.event, c.lead) {
			c.applyEvent(next)
			c.setSupplierAnswerIfDecidedBy(next)
			events++
			delivered = delivered || next.seq == last
		}
		complete = delivered && c.matchesStateInMemory()
		return !complete && events < e.limits.events
	})
	if err != nil || complete || ended == endOfLog {
		return err
	}
	c.doc.Truncated = true
	if last == 0 || delivered {
		return nil
	}
	end, err := e.readEntry(last)
	if err == nil {
		c.applyEvent(end)
	}
	return err
}

// isFollowUpEventOfLead reports whether an event is an attempt to post, a settlement, a buyer's report
// or a webhook attempt of the lead.
func isFollowUpEventOfLead(ev event.Event, lead market.LeadID) bool {
	switch ev := ev.(type) {
	case *event.PostAttemptFailed:
		return ev.Lead == lead
	case *event.PostSettled:
		return ev.Lead == lead
	case *event.LeadStatusChangesDecided:
		return changeOfLead(ev, lead) != nil
	case *event.WebhookAttemptedOrDecided:
		return ev.Lead == lead
	}
	return false
}

// changeOfLead returns the part of a status report that concerns the lead, or nil. One report
// may cover several leads.
func changeOfLead(ev *event.LeadStatusChangesDecided, lead market.LeadID) *event.DecidedLeadStatusChange {
	for i := range ev.Changes {
		if ev.Changes[i].Lead == lead {
			return &ev.Changes[i]
		}
	}
	return nil
}
