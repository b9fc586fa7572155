package engine

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// The outbox (state.TakeHook and the like) says what is due, facts say what was
// tried, and whoever sends goes round between the two:
//
//	h := state.TakeHook(supplier, now)      it is out: nobody else takes it
//	m := engine.HookMessage(&h)             what to send, and where
//	engine.HookTried(h, result)             what follows is a fact; it is not out any more
//
// Where HookMessage or HookTried gives an error there is nothing more to do with
// h but state.ReturnHook, which leaves alone what is not out any more; and to wait
// a moment before the next, since the reason is the disk, the log, or the end.

// HookNote is where webhooks are noted. A Note that is one as well is told.
type HookNote interface {
	// HookTried is an attempt and what follows it: delivered, failed or dead.
	HookTried(supplier string, outcome event.HookOutcome, result *market.HookResult)
	// HooksOff is a supplier whose endpoint has failed for days: it is told
	// nothing more until an operator switches its webhooks on.
	HooksOff(supplier string)
}

// HookMessage is an event as it is sent.
type HookMessage struct {
	ID       string // evt_…, the same at every attempt, as the body is
	Body     []byte // read only
	Supplier market.Ref
	Endpoint market.Endpoint // by the catalog in force; without a URL where there is none
}
