package engine

import (
	"errors"
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/state"
)

// recallTale is what an event says, by what is kept of it or by the log. Where
// the log's history is too short for its facts it says what memory has of the
// lead. The error is ErrGone where that is nothing, or as readBack's.
func (e *Engine) recallTale(h *state.Hook) (tale, error) {
	if t, ok := e.hooks.fresh.find(h.Lead, h.Type); ok {
		return t, nil
	}
	select {
	case e.hooks.reading <- struct{}{}:
		defer func() { <-e.hooks.reading }()
	case <-e.stop:
		return tale{}, ErrUnavailable
	}
	cause, err := e.reread(h.Cause)
	if err != nil && !errors.Is(err, ErrGone) {
		return tale{}, err
	}
	if decided, ok := cause.(*event.LeadDecided); ok {
		return taleOf(decided), nil
	}
	t, err := e.originOf(h, err)
	if err != nil {
		return tale{}, err
	}
	switch cause := cause.(type) {
	case *event.PostSettled:
		t.settle(cause)
	case *event.StatusChanged:
		for i := range cause.Changes {
			if c := &cause.Changes[i]; c.Lead == h.Lead && c.Hook == h.Type {
				t.change(c)
				return t, nil
			}
		}
		panic(fmt.Sprintf("BUG: fact %d does not change lead %s", h.Cause, h.Lead))
	}
	return t, nil
}

// originOf is what a lead's own fact says of it, and where memory has it now.
// gone is whether the cause that comes after it is past the log's history.
func (e *Engine) originOf(h *state.Hook, gone error) (tale, error) {
	lead, known := e.state.Lead(h.Lead)
	if !known && gone != nil {
		return tale{}, gone
	}
	var t tale
	if known {
		fact, err := e.reread(lead.Seq)
		switch {
		case errors.Is(err, ErrGone):
		case err != nil:
			return tale{}, err
		default:
			decided, ok := fact.(*event.LeadDecided)
			if !ok || decided.Lead != h.Lead {
				panic(fmt.Sprintf("BUG: fact %d is not that of lead %s", lead.Seq, h.Lead))
			}
			t = taleOf(decided)
		}
		t.row(&lead)
	}
	return t, nil
}

// reread reads a fact that is to be told. The error is ErrGone, or as readBack's.
func (e *Engine) reread(seq uint64) (event.Event, error) {
	if !e.takeReading(e.opt.Clock.Now() + int64(e.opt.Ceiling)) {
		return nil, ErrUnavailable
	}
	data, err := e.opt.History.At(seq)
	<-e.reading
	switch {
	case errors.Is(err, ErrGone):
		return nil, ErrGone
	case err != nil:
		return nil, e.unread(seq, err)
	}
	return e.decode(seq, data)
}
