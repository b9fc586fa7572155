package engine

import (
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/state"
)

// recallTale is what an event says, by what is kept of it or by the log. Where
// the log's history is too short for its facts it says what memory has of the
// lead. The error is ErrGone where that is nothing, or as readBack's.
func (e *Engine) recallTale(h *state.QueuedWebhook) (tale, error) {
	if t, ok := e.hooks.fresh.find(h.Lead, h.Type); ok {
		return t, nil
	}
	select {
	case e.hooks.reading <- struct{}{}:
		defer func() { <-e.hooks.reading }()
	case <-e.stop:
		return tale{}, ErrUnavailable
	}
	until := e.opt.Clock.Now() + int64(e.opt.Ceiling)
	cause, err := e.readIfKept(h.Cause, until)
	if err != nil {
		return tale{}, err
	}
	if decided, ok := cause.(*event.LeadDecided); ok {
		return taleOf(decided), nil
	}
	var t tale
	lead, known := e.state.Lead(h.Lead)
	if known {
		decided, err := e.broughtBy(&lead, until)
		if err != nil {
			return tale{}, err
		}
		if decided != nil {
			t = taleOf(decided)
		}
		t.row(&lead)
	}
	switch cause := cause.(type) {
	case *event.PostSettled:
		t.settle(cause)
	case *event.StatusChanged:
		t.change(cause.Buyer, changeOwing(cause, h))
	default:
		if !known {
			return tale{}, ErrGone
		}
	}
	return t, nil
}

// changeOwing is the change, of those in a report, that owes the event.
func changeOwing(fact *event.StatusChanged, h *state.QueuedWebhook) *event.Change {
	for i := range fact.Changes {
		if c := &fact.Changes[i]; c.Lead == h.Lead && c.Webhook == h.Type {
			return c
		}
	}
	panic(fmt.Sprintf("BUG: fact %d does not owe %s of lead %s", h.Cause, h.Type, h.Lead))
}
