package report

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// hook is a row: what a supplier is to be told of a lead.
type hook struct {
	hookKey
	supplier market.Ref
	caused   int64                // zero: before the file begins
	outcome  event.WebhookOutcome // of the last attempt; zero: there was none
	attempts uint32
	at       int64 // of the last attempt
	status   uint32
	fault    market.Fault
}

type hookKey struct {
	lead market.LeadID
	of   market.WebhookType
}

// owe is that the supplier is to hear of it.
func (b *batch) owe(id market.LeadID, supplier market.Ref, of market.WebhookType) {
	if of != market.WebhookNone {
		key := hookKey{id, of}
		b.hooks[key] = &hook{hookKey: key, supplier: supplier, caused: b.at}
	}
}

// told is what an attempt came to.
func (b *batch) told(fact *event.WebhookTried) error {
	key := hookKey{fact.Lead, fact.Type}
	found := b.hooks[key]
	if found == nil {
		var err error
		if found, err = b.kept.hook(b.ctx, key); err != nil {
			return err
		}
	}
	if found == nil {
		found = &hook{hookKey: key, supplier: fact.Supplier}
	}
	b.hooks[key] = found
	found.outcome, found.attempts, found.at = fact.Outcome, fact.Attempt, fact.At
	found.status, found.fault = fact.Status, fact.Fault
	return nil
}
