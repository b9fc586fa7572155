package explain

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// sequel is what a lead came to after its sale, as far as the facts of it are read,
// beside what memory has of it: so a reading can end when all has been seen, and need
// not go to the log's end for a lead of which there is nothing more.
//
// Reports that changed nothing are in no row of memory's. They are seen where they
// lie among the others.
type progress struct {
	lead  market.LeadID
	state *state.State
	row   state.Lead
	known bool // memory has the lead
	sold  bool // to somebody who could report of it

	status   market.Status
	returned market.ReturnState
	hooks    []webhookProgress // in the order of their causes
}

// owedHook is what a supplier was to be told, and the last word on that.
type webhookProgress struct {
	kind market.WebhookType
	last event.WebhookTried // none: the zero one
}

func (e *Explainer) newProgress(found *entry) *progress {
	s := &progress{lead: found.lead().Lead, state: e.state, sold: found.lead().Sale.Buyer != 0}
	s.row, s.known = e.state.Lead(s.lead)
	s.expectWebhook(found.lead().Webhook)
	return s
}

func (s *progress) expectWebhook(kind market.WebhookType) {
	if kind != market.WebhookNone {
		s.hooks = append(s.hooks, webhookProgress{kind: kind})
	}
}

// see takes the next fact of the lead.
func (s *progress) add(ev event.Event) {
	switch ev := ev.(type) {
	case *event.PostSettled:
		s.expectWebhook(ev.Webhook)
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
		s.expectWebhook(change.Webhook)
	case *event.WebhookTried:
		for i := range s.hooks {
			if s.hooks[i].kind == ev.Type {
				s.hooks[i].last = *ev
			}
		}
	}
}

// complete tells whether there is nothing in memory that the facts so far do not
// explain.
func (s *progress) isComplete() bool {
	if s.sold && (!s.known || s.row.Status.IsReported() && s.row.Status != s.status || s.row.Return() != s.returned) {
		return false
	}
	for i := range s.hooks {
		if !s.matchesMemory(&s.hooks[i]) {
			return false
		}
	}
	return true
}

// told tells whether what was seen of a hook is where memory has it.
func (s *progress) matchesMemory(h *webhookProgress) bool {
	now, owed := s.state.Webhook(s.lead, h.kind)
	switch {
	case !owed:
		return h.last.Outcome == event.WebhookDelivered || h.last.Outcome == event.WebhookDropped
	case now.Attempts == 0 && now.Dead: // it was switched off
		return h.last.Outcome == 0 || h.last.Outcome == event.WebhookResent
	case now.Attempts == 0 && now.Due == now.Created:
		return h.last.Outcome == 0
	case now.Attempts == 0:
		return h.last.Outcome == event.WebhookResent
	}
	return h.last.Attempt == now.Attempts && now.Dead == (h.last.Outcome == event.WebhookDead)
}
