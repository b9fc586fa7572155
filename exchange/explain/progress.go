package explain

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// leadReadProgress tells the reader of the log when it can stop. It compares the events read so
// far, after a lead's sale, with the lead's state in memory. If they agree, no later event of
// the lead exists that memory knows of.
//
// Memory has no record of reports that changed nothing. The reader finds them only if they
// precede the last event that memory knows.
type leadReadProgress struct {
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

// newLeadReadProgress returns the progress right after the lead's decision, before any later event was
// read.
func (e *Explainer) newLeadReadProgress(decision *logEntry) *leadReadProgress {
	s := &leadReadProgress{lead: decision.mustBeLeadDecided().Lead, state: e.state, sold: decision.mustBeLeadDecided().Sale.Buyer != 0}
	s.row, s.known = e.state.Lead(s.lead)
	s.addWebhookIfAny(decision.mustBeLeadDecided().Webhook)
	return s
}

// addWebhookIfAny records that an event caused a webhook of this kind. WebhookNone means that it
// caused none.
func (s *leadReadProgress) addWebhookIfAny(kind market.WebhookType) {
	if kind != market.WebhookNone {
		s.webhooks = append(s.webhooks, webhookProgress{kind: kind})
	}
}

// addEvent updates the lead's status, return state and webhooks by the next event that was
// read.
func (s *leadReadProgress) addEvent(ev event.Event) {
	switch ev := ev.(type) {
	case *event.PostSettled:
		s.addWebhookIfAny(ev.Webhook)
	case *event.LeadStatusesChanged:
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
		s.addWebhookIfAny(change.Webhook)
	case *event.WebhookAttempted:
		for i := range s.webhooks {
			if s.webhooks[i].kind == ev.Type {
				s.webhooks[i].last = *ev
			}
		}
	}
}

// matchesStateInMemory reports whether the events read so far lead to exactly the status, the return
// state and the webhooks that memory has for the lead. The reader can then stop.
func (s *leadReadProgress) matchesStateInMemory() bool {
	if s.sold && (!s.known || s.row.Status.IsReportedByBuyer() && s.row.Status != s.status || s.row.ReturnState() != s.returned) {
		return false
	}
	for i := range s.webhooks {
		if !s.webhookMatchesMemory(&s.webhooks[i]) {
			return false
		}
	}
	return true
}

// webhookMatchesMemory reports whether the webhook's last recorded attempt leads to the webhook's
// current state in the outbox.
func (s *leadReadProgress) webhookMatchesMemory(webhook *webhookProgress) bool {
	now, queued := s.state.FindWebhook(s.lead, webhook.kind)
	switch {
	case !queued:
		return webhook.last.Outcome == event.WebhookDelivered || webhook.last.Outcome == event.WebhookDropped
	case now.Attempts == 0 && now.Dead: // the supplier's webhooks were switched off
		return webhook.last.Outcome == 0 || webhook.last.Outcome == event.WebhookResent
	case now.Attempts == 0 && now.Due == now.Created:
		return webhook.last.Outcome == 0
	case now.Attempts == 0:
		return webhook.last.Outcome == event.WebhookResent
	}
	return webhook.last.Attempt == now.Attempts && now.Dead == (webhook.last.Outcome == event.WebhookDead)
}
