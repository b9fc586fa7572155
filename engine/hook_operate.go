package engine

import (
	"fmt"
	"math"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// ResendHook makes a dead letter an event again, with all its attempts before it.
// ErrConflict: it is none, or its supplier's webhooks are off.
func (e Operator) ResendHook(lead market.LeadID, what market.WebhookType) error {
	e.hooks.switching.Lock()
	defer e.hooks.switching.Unlock()
	h, err := e.deadLetter(lead, what)
	if err != nil {
		return err
	}
	if e.state.OutboxStatus(h.Supplier).Off {
		return errHooksOff
	}
	return e.commit(e.decreed(&h, event.WebhookResent), nil)
}

var errHooksOff = fmt.Errorf("%w: the webhooks of this supplier are off; switch them on first", ErrConflict)

// DropHook lets go of a dead letter: its supplier is never told.
func (e Operator) DropHook(lead market.LeadID, what market.WebhookType) error {
	e.hooks.switching.Lock()
	defer e.hooks.switching.Unlock()
	h, err := e.deadLetter(lead, what)
	if err != nil {
		return err
	}
	return e.commit(e.decreed(&h, event.WebhookDropped), nil)
}

func (e *Engine) deadLetter(lead market.LeadID, what market.WebhookType) (state.QueuedWebhook, error) {
	h, ok := e.state.Webhook(lead, what)
	switch {
	case !ok:
		return h, fmt.Errorf("%w: no event %s of lead %s waits", ErrNotFound, what, lead)
	case !h.Dead:
		return h, fmt.Errorf("%w: the event %s of lead %s is still being tried", ErrConflict, what, lead)
	}
	return h, nil
}

// decreed is an operator's word on an event.
func (e Operator) decreed(h *state.QueuedWebhook, outcome event.WebhookOutcome) *event.WebhookTried {
	return &event.WebhookTried{
		Lead: h.Lead, Type: h.Type, Supplier: h.Supplier, Attempt: h.Attempts, Outcome: outcome, At: e.opt.Clock.Now(), By: e.by,
	}
}

// SwitchHooks stops telling a supplier, which makes dead letters of all that
// waits, or goes on. What is dead stays so until it is resent. It is no error to
// say what is so already.
func (e Operator) SwitchHooks(supplier market.SupplierID, off bool) error {
	ref, err := e.supplierRef(supplier)
	if err != nil {
		return err
	}
	e.hooks.switching.Lock()
	defer e.hooks.switching.Unlock()
	if e.state.OutboxStatus(ref).Off == off {
		return nil
	}
	return e.commit(&event.WebhooksSwitched{Supplier: ref, Off: off, At: e.opt.Clock.Now(), By: e.by}, nil)
}

// DeadHooks lists a supplier's dead letters, oldest first: at most limit of them,
// after the first so many.
func (e *Engine) DeadHooks(supplier market.SupplierID, after, limit int) ([]state.QueuedWebhook, error) {
	ref, err := e.supplierRef(supplier)
	if err != nil {
		return nil, err
	}
	return e.state.DeadLetters(ref, after, limit), nil
}

// DeadHook is a supplier's dead letter by the identifier of its event.
func (e *Engine) DeadHook(supplier market.SupplierID, id market.WebhookID) (state.QueuedWebhook, error) {
	ref, err := e.supplierRef(supplier)
	if err != nil {
		return state.QueuedWebhook{}, err
	}
	for _, h := range e.state.DeadLetters(ref, 0, math.MaxInt) {
		if market.WebhookIDOf(h.Lead, h.Type, h.Created) == id {
			return h, nil
		}
	}
	return state.QueuedWebhook{}, fmt.Errorf("%w: supplier %q has no dead letter %s", ErrNotFound, supplier, id)
}

func (e *Engine) supplierRef(supplier market.SupplierID) (market.Ref, error) {
	ref := e.state.RefOf(event.NameSupplier, string(supplier))
	if ref == 0 {
		return 0, fmt.Errorf("%w: no supplier %q was ever configured", ErrNotFound, supplier)
	}
	return ref, nil
}
