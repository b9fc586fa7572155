package exchange

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
type sequel struct {
	lead  market.LeadID
	state *state.State
	row   state.Lead
	known bool // memory has the lead
	sold  bool // to somebody who could report of it

	status   market.Status
	returned market.ReturnState
	hooks    []owedHook // in the order of their causes
}

// owedHook is what a supplier was to be told, and the last word on that.
type owedHook struct {
	kind market.HookType
	last event.HookTried // none: the zero one
}

func (e *explainer) newSequel(found *entry) *sequel {
	s := &sequel{lead: found.lead().Lead, state: e.state, sold: found.lead().Sale.Buyer != 0}
	s.row, s.known = e.state.Lead(s.lead)
	s.owe(found.lead().Hook)
	return s
}

func (s *sequel) owe(kind market.HookType) {
	if kind != market.HookNone {
		s.hooks = append(s.hooks, owedHook{kind: kind})
	}
}

// see takes the next fact of the lead.
func (s *sequel) see(fact event.Event) {
	switch fact := fact.(type) {
	case *event.PostSettled:
		s.owe(fact.Hook)
	case *event.StatusChanged:
		change := changeOf(fact, s.lead)
		switch change.Result {
		case event.ChangeDone:
			if s.status = change.To; change.To == market.StatusReturned {
				s.returned = market.ReturnApproved
			}
		case event.ChangeWaits:
			s.returned = market.ReturnWaits
		case event.ChangeRefused:
			s.returned = market.ReturnRefused
		}
		s.owe(change.Hook)
	case *event.HookTried:
		for i := range s.hooks {
			if s.hooks[i].kind == fact.Type {
				s.hooks[i].last = *fact
			}
		}
	}
}

// complete tells whether there is nothing in memory that the facts so far do not
// explain.
func (s *sequel) complete() bool {
	if s.sold && (!s.known || s.row.Status.Reported() && s.row.Status != s.status || s.row.Return() != s.returned) {
		return false
	}
	for i := range s.hooks {
		if !s.told(&s.hooks[i]) {
			return false
		}
	}
	return true
}

// told tells whether what was seen of a hook is where memory has it.
func (s *sequel) told(h *owedHook) bool {
	now, owed := s.state.Hook(s.lead, h.kind)
	switch {
	case !owed:
		return h.last.Outcome == event.HookDelivered || h.last.Outcome == event.HookDropped
	case now.Attempts == 0 && now.Dead: // it was switched off
		return h.last.Outcome == 0 || h.last.Outcome == event.HookResent
	case now.Attempts == 0 && now.Due == now.Created:
		return h.last.Outcome == 0
	case now.Attempts == 0:
		return h.last.Outcome == event.HookResent
	}
	return h.last.Attempt == now.Attempts && now.Dead == (h.last.Outcome == event.HookDead)
}
