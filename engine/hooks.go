package engine

import (
	"errors"
	"fmt"
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// hooks is what the engine keeps beside the outbox.
//
// The outbox (state.TakeWebhook and the like) says what is due, facts say what was
// tried, and whoever sends goes round between the two:
//
//	h := state.TakeWebhook(supplier, now)      it is out: nobody else takes it
//	m := engine.HookMessage(&h)             what to send, and where
//	engine.HookTried(h, result)                what follows is a fact; it is not out any more
//
// Where HookMessage or HookTried gives an error there is nothing more to do with
// h but state.ReturnWebhook, which leaves alone what is not out any more; and to wait
// a moment before the next, since the reason is the disk, the log, or the end.
type hooks struct {
	fresh   fresh
	reading chan struct{} // a place for each fact that is read back to be told
	note    HookNote

	// switching lets one at a time change what stands: an operator, or whoever
	// gives an endpoint up. An attempt that ends meanwhile and comes too late to
	// count is for the outbox to tell.
	switching sync.Mutex
}

// maxTelling is how many facts are read back at once for those who are told
// later; sales, which read as well, are never kept waiting by more.
const maxTelling = 2

// HookNote is where webhooks are noted. A Note that is one as well is told.
type HookNote interface {
	// HookTried is an attempt and what follows it: delivered, failed or dead.
	HookTried(supplier string, outcome event.WebhookOutcome, result *market.WebhookResult)
	// HooksOff is a supplier whose endpoint has failed for days: it is told
	// nothing more until an operator switches its webhooks on.
	HooksOff(supplier string)
}

type silentHooks struct{}

func (silentHooks) HookTried(string, event.WebhookOutcome, *market.WebhookResult) {}
func (silentHooks) HooksOff(string)                                               {}

// HookMessage is an event as it is sent.
type HookMessage struct {
	ID       string // evt_…, the same at every attempt, as the body is
	Body     []byte // read only
	Supplier market.Ref
	Endpoint market.Endpoint // by the catalog in force; without a URL where there is none
}

// HookMessage makes the message of an event that was taken from the outbox, from
// facts alone. Where these are past the log's history it says what memory has; an
// event of which nothing is known any more becomes a dead letter, and the error is
// ErrGone. Any other is ErrUnavailable, or the log's failure.
func (e *Engine) HookMessage(h *state.QueuedWebhook) (HookMessage, error) {
	t, err := e.recallTale(h)
	if errors.Is(err, ErrGone) {
		e.opt.Note.Fault("an event's fact is past the log's history, and so is its lead; it is a dead letter",
			fmt.Errorf("entry %d, %s of lead %s: %w", h.Cause, h.Type, h.Lead, err))
		if failed := e.hookCameTo(h, event.WebhookDead, &market.WebhookResult{}); failed != nil {
			return HookMessage{}, failed
		}
	}
	if err != nil {
		return HookMessage{}, err
	}
	m := HookMessage{
		ID: market.WebhookIDOf(h.Lead, h.Type, h.Created).String(), Supplier: h.Supplier,
		Body: e.appendHook(make([]byte, 0, 512), h, &t),
	}
	if to := e.hookOf(h.Supplier); to != nil {
		m.Endpoint = *to
	}
	return m, nil
}

// HookTried logs what an attempt came to, and what follows: nothing where it was
// delivered; the next attempt by the schedule; after the last one, a dead letter.
// An endpoint that has failed for days is switched off. The error is the log's.
func (e *Engine) HookTried(h state.QueuedWebhook, result market.WebhookResult) error {
	outcome := event.WebhookDelivered
	if !result.Delivered {
		outcome = event.WebhookFailed
	}
	if err := e.hookCameTo(&h, outcome, &result); err != nil {
		return err
	}
	if result.Delivered {
		return nil
	}
	return e.giveUpOn(h.Supplier)
}

// hookCameTo logs an attempt. One that failed and is the last leaves a dead
// letter.
func (e *Engine) hookCameTo(h *state.QueuedWebhook, outcome event.WebhookOutcome, result *market.WebhookResult) error {
	now := e.opt.Clock.Now()
	fact := &event.WebhookTried{
		Lead: h.Lead, Type: h.Type, Supplier: h.Supplier, Attempt: h.Attempts + 1, Outcome: outcome,
		At: now, Status: uint32(max(0, result.Status)), Fault: result.Fault,
	}
	if outcome == event.WebhookFailed {
		var more bool
		if fact.Due, more = e.nextTry(fact.Attempt, now); !more {
			fact.Outcome = event.WebhookDead
		}
	}
	if err := e.conclude(fact, nil); err != nil {
		return err
	}
	e.hooks.note.HookTried(e.state.NameOf(event.NameSupplier, h.Supplier), fact.Outcome, result)
	return nil
}

// giveUpOn switches a supplier's webhooks off once its endpoint has failed for
// too long.
func (e *Engine) giveUpOn(supplier market.Ref) error {
	if !e.fails(supplier) {
		return nil
	}
	e.hooks.switching.Lock()
	defer e.hooks.switching.Unlock()
	if !e.fails(supplier) {
		return nil
	}
	err := e.conclude(&event.WebhooksSwitched{Supplier: supplier, Off: true, At: e.opt.Clock.Now()}, nil)
	if err == nil {
		e.hooks.note.HooksOff(e.state.NameOf(event.NameSupplier, supplier))
	}
	return err
}

func (e *Engine) fails(supplier market.Ref) bool {
	standing := e.state.OutboxStatus(supplier)
	return !standing.Off && standing.FailingSince != 0 && e.opt.Clock.Now()-standing.FailingSince >= int64(hookPatience)
}
