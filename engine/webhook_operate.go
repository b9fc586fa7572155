package engine

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/engine/webhook"
)

var errWebhooksOff = fmt.Errorf("%w: the webhooks of this supplier are off; switch them on first", ErrConflict)

// ResendDeadLetter queues a dead letter (a webhook that is not attempted any more) again, with all
// attempts of the schedule. ErrNotFound: no such webhook is queued. ErrConflict: attempts are
// still scheduled, or the supplier's webhooks are switched off.
func (e OperatorActions) ResendDeadLetter(lead market.LeadID, kind market.WebhookType) error {
	e.webhooks.switching.Lock()
	defer e.webhooks.switching.Unlock()
	w, err := e.findDeadLetter(lead, kind)
	if err != nil {
		return err
	}
	if e.state.OutboxStatus(w.Supplier).Off {
		return errWebhooksOff
	}
	return e.commit(e.newDeadLetterEvent(&w, event.WebhookResent), nil)
}

// DropDeadLetter removes a dead letter (a webhook that is not attempted any more) without sending
// it. ErrNotFound: no such webhook is queued. ErrConflict: attempts are still scheduled.
func (e OperatorActions) DropDeadLetter(lead market.LeadID, kind market.WebhookType) error {
	e.webhooks.switching.Lock()
	defer e.webhooks.switching.Unlock()
	w, err := e.findDeadLetter(lead, kind)
	if err != nil {
		return err
	}
	return e.commit(e.newDeadLetterEvent(&w, event.WebhookDropped), nil)
}

func (e *Engine) findDeadLetter(lead market.LeadID, kind market.WebhookType) (state.OutboxWebhook, error) {
	w, ok := e.state.FindWebhook(lead, kind)
	switch {
	case !ok:
		return w, fmt.Errorf("%w: cannot resend or drop webhook %s of lead %s, because it is not in the outbox: it was delivered or dropped, or never queued", ErrNotFound, kind, lead)
	case !w.Dead:
		return w, fmt.Errorf("%w: webhook %s of lead %s is not a dead letter; attempts are still scheduled", ErrConflict, kind, lead)
	}
	return w, nil
}

// newDeadLetterEvent returns the event by which the operator resends or drops the dead letter w,
// according to outcome.
func (e OperatorActions) newDeadLetterEvent(w *state.OutboxWebhook, outcome event.WebhookOutcomeOrDecision) *event.WebhookAttemptedOrDecided {
	return &event.WebhookAttemptedOrDecided{
		Lead: w.Lead, Type: w.Type, Supplier: w.Supplier, Attempt: w.Attempts, Outcome: outcome, At: e.opt.Clock.Now(), By: e.by,
	}
}

// SwitchOffAndDeadLetterWebhooks switches a supplier's webhooks off and makes all its queued
// webhooks dead letters. It commits no event if they are off already. ErrNotFound: no such supplier
// was ever configured.
func (e OperatorActions) SwitchOffAndDeadLetterWebhooks(supplier market.SupplierID) error {
	return e.switchWebhooks(supplier, true)
}

// SwitchOnWebhooks switches a supplier's webhooks on again. Dead letters stay dead until an operator
// resends them. It commits no event if the webhooks are on already. ErrNotFound: no such supplier
// was ever configured.
func (e OperatorActions) SwitchOnWebhooks(supplier market.SupplierID) error {
	return e.switchWebhooks(supplier, false)
}

func (e OperatorActions) switchWebhooks(supplier market.SupplierID, off bool) error {
	ref, err := e.findSupplierRef(supplier)
	if err != nil {
		return err
	}
	e.webhooks.switching.Lock()
	defer e.webhooks.switching.Unlock()
	if e.state.OutboxStatus(ref).Off == off {
		return nil
	}
	return e.commit(&event.SupplierWebhooksTurnedOnOrOff{Supplier: ref, Off: off, At: e.opt.Clock.Now(), By: e.by}, nil)
}

// ListDeadLetters returns a page of a supplier's dead letters (webhooks that are not attempted any
// more), oldest first. It skips the first `skip` of them and returns at most limit. ErrNotFound:
// no such supplier was ever configured.
func (e *Engine) ListDeadLetters(supplier market.SupplierID, skip, limit int) ([]state.OutboxWebhook, error) {
	ref, err := e.findSupplierRef(supplier)
	if err != nil {
		return nil, err
	}
	return e.state.ListDeadLetters(ref, skip, limit), nil
}

// FindDeadLetterByID returns a supplier's dead letter (a webhook that is not attempted any more) by its
// webhook id. ErrNotFound: the supplier or its dead letter does not exist.
func (e *Engine) FindDeadLetterByID(supplier market.SupplierID, id market.WebhookID) (state.OutboxWebhook, error) {
	ref, err := e.findSupplierRef(supplier)
	if err != nil {
		return state.OutboxWebhook{}, err
	}
	w, ok := webhook.FindWebhookByID(e.state.ListDeadLetters(ref, 0, math.MaxInt), id)
	if !ok {
		return w, fmt.Errorf("%w: supplier %q has no dead letter %s", ErrNotFound, supplier, id)
	}
	return w, nil
}

// resendBatch is the number of leads whose dead letters ResendDeadLetters queues concurrently, so
// that their events share the log's fsyncs.
const resendBatch = 256

// ResendDeadLetters queues all present dead letters of a supplier again, and returns their
// number. The webhooks of one lead keep the order of their events. After an error, resent of them
// are queued and the rest are still dead.
func (e OperatorActions) ResendDeadLetters(supplier market.SupplierID) (resent int, err error) {
	ref, err := e.findSupplierRef(supplier)
	if err != nil {
		return 0, err
	}
	for leads := range slices.Chunk(webhook.GroupWebhooksByLead(e.state.ListDeadLetters(ref, 0, math.MaxInt)), resendBatch) {
		n, err := e.resendDeadLettersOfLeads(ref, leads)
		if resent += n; err != nil {
			return resent, err
		}
	}
	return resent, nil
}

// resendDeadLettersOfLeads queues the dead letters of several leads again. It works on the leads
// concurrently, so that their events share the log's fsyncs. For one lead it commits one event
// after another, so that its webhooks are sent in their order.
func (e OperatorActions) resendDeadLettersOfLeads(supplier market.PermanentNumber, deadLettersByLead [][]state.OutboxWebhook) (resent int, err error) {
	e.webhooks.switching.Lock()
	defer e.webhooks.switching.Unlock()
	if e.state.OutboxStatus(supplier).Off {
		return 0, errWebhooksOff
	}
	done, failed := make([]int, len(deadLettersByLead)), make([]error, len(deadLettersByLead))
	var all sync.WaitGroup
	for i, lead := range deadLettersByLead {
		all.Go(func() {
			for done[i] < len(lead) && failed[i] == nil {
				if failed[i] = e.commitRetryingFullQueue(e.newDeadLetterEvent(&lead[done[i]], event.WebhookResent), nil); failed[i] == nil {
					done[i]++
				}
			}
		})
	}
	all.Wait()
	for i, n := range done {
		resent, err = resent+n, cmp.Or(err, failed[i])
	}
	return resent, err
}

func (e *Engine) findSupplierRef(supplier market.SupplierID) (market.PermanentNumber, error) {
	ref := e.state.RefOf(event.ObjectSupplier, string(supplier))
	if ref == 0 {
		return 0, fmt.Errorf("%w: supplier %q was never configured", ErrNotFound, supplier)
	}
	return ref, nil
}
