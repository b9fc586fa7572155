package explain

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// readProgress tells the reader of the log when it can stop. It compares the events read so
// far, after a lead's sale, with the lead's state in memory. If they agree, no later event of
// the lead exists that memory knows of.
//
// Memory has no record of reports that changed nothing. The reader finds them only if they
// precede the last event that memory knows.
type readProgress struct {
	lead  market.LeadID
	state *state.State
	row   state.Lead
	known bool // memory has the lead
	sold  bool // a buyer could report on the lead

	status   market.LeadStatus
	returned market.ReturnState
	webhooks []webhookProgress // in the order of the events that caused them
}

// webhookProgress is a webhook to the supplier, with its last recorded attempt.
type webhookProgress struct {
	kind market.WebhookType
	last event.WebhookAttempted // zero before the first attempt
}

// newProgress returns the progress right after the lead's decision, before any later event was
// read.
func (e *Explainer) newProgress(found *logEntry) *readProgress {
	s := &readProgress{lead: found.leadDecided().Lead, state: e.state, sold: found.leadDecided().Sale.Buyer != 0}
	s.row, s.known = e.state.Lead(s.lead)
	s.addWebhook(found.leadDecided().Webhook)
	return s
}

// addWebhook records that an event caused a webhook of this kind. WebhookNone means that it
// caused none.
func (s *readProgress) addWebhook(kind market.WebhookType) {
	if kind != market.WebhookNone {
		s.webhooks = append(s.webhooks, webhookProgress{kind: kind})
	}
}

// addEvent updates the lead's status, return state and webhooks by the next event that was
// read.
func (s *readProgress) addEvent(ev event.Event) {
	switch ev := ev.(type) {
	case *event.PostSettled:
		s.addWebhook(ev.Webhook)
	case *event.StatusChanged:
		change := changeOfLead(ev, s.lead)
		switch change.Result {
		case event.ChangeDone:
			if s.status = change.To; change.To == market.StatusReturned {
				s.returned = market.ReturnApproved
			}
		case event.ChangePending:
			s.returned = market.ReturnPending
		case event.ChangeRefused:
			s.returned = market.ReturnRefused
		}
		s.addWebhook(change.Webhook)
	case *event.WebhookAttempted:
		for i := range s.webhooks {
			if s.webhooks[i].kind == ev.Type {
				s.webhooks[i].last = *ev
			}
		}
	}
}

// explainsMemory reports whether the events read so far lead to exactly the status, the return
// state and the webhooks that memory has for the lead. The reader can then stop.
func (s *readProgress) explainsMemory() bool {
	if s.sold && (!s.known || s.row.Status.IsReported() && s.row.Status != s.status || s.row.ReturnState() != s.returned) {
		return false
	}
	for i := range s.webhooks {
		if !s.matchesMemory(&s.webhooks[i]) {
			return false
		}
	}
	return true
}

// matchesMemory reports whether the webhook's last recorded attempt leads to the webhook's
// current state in the outbox.
func (s *readProgress) matchesMemory(h *webhookProgress) bool {
	now, queued := s.state.FindWebhook(s.lead, h.kind)
	switch {
	case !queued:
		return h.last.Outcome == event.WebhookDelivered || h.last.Outcome == event.WebhookDropped
	case now.Attempts == 0 && now.Dead: // the supplier's webhooks were switched off
		return h.last.Outcome == 0 || h.last.Outcome == event.WebhookResent
	case now.Attempts == 0 && now.Due == now.Created:
		return h.last.Outcome == 0
	case now.Attempts == 0:
		return h.last.Outcome == event.WebhookResent
	}
	return h.last.Attempt == now.Attempts && now.Dead == (h.last.Outcome == event.WebhookDead)
}
