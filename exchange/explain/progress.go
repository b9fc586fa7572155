package explain

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// progress compares the events that were read after a lead's sale with the lead's row in
// memory. When they agree, the reading can end before the end of the log.
//
// Memory has no record of reports that changed nothing. The reader finds them only if they
// precede the last event that memory knows.
type progress struct {
	lead  market.LeadID
	state *state.State
	row   state.Lead
	known bool // memory has the lead
	sold  bool // a buyer could report on the lead

	status   market.Status
	returned market.ReturnState
	webhooks []webhookProgress // in the order of the events that caused them
}

// webhookProgress is a webhook to the supplier, with its last recorded attempt.
type webhookProgress struct {
	kind market.WebhookType
	last event.WebhookAttempted // zero before the first attempt
}

// newProgress returns the progress as of the lead's decision.
func (e *Explainer) newProgress(found *entry) *progress {
	s := &progress{lead: found.lead().Lead, state: e.state, sold: found.lead().Sale.Buyer != 0}
	s.row, s.known = e.state.Lead(s.lead)
	s.addWebhook(found.lead().Webhook)
	return s
}

// addWebhook adds the webhook that an event causes, if any.
func (s *progress) addWebhook(kind market.WebhookType) {
	if kind != market.WebhookNone {
		s.webhooks = append(s.webhooks, webhookProgress{kind: kind})
	}
}

// add applies the next event of the lead.
func (s *progress) add(ev event.Event) {
	switch ev := ev.(type) {
	case *event.PostSettled:
		s.addWebhook(ev.Webhook)
	case *event.StatusChanged:
		change := changeOf(ev, s.lead)
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

// isComplete reports whether the events so far explain everything in memory.
func (s *progress) isComplete() bool {
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

// matchesMemory reports whether the events of a webhook lead to its state in memory.
func (s *progress) matchesMemory(h *webhookProgress) bool {
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
