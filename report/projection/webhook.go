package projection

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// hook is a row: what a supplier is to be told of a lead.
type Webhook struct {
	WebhookKey
	Supplier market.Ref
	CausedAt int64                // zero: before the file begins
	Outcome  event.WebhookOutcome // of the last attempt; zero: there was none
	Attempts uint32
	At       int64 // of the last attempt
	Status   uint32
	Fault    market.Fault
}

type WebhookKey struct {
	Lead market.LeadID
	Type market.WebhookType
}

// owe is that the supplier is to hear of it.
func (b *Batch) addWebhook(id market.LeadID, supplier market.Ref, of market.WebhookType) {
	if of != market.WebhookNone {
		key := WebhookKey{id, of}
		b.Webhooks[key] = &Webhook{WebhookKey: key, Supplier: supplier, CausedAt: b.At}
	}
}

// told is what an attempt came to.
func (b *Batch) applyWebhookTried(fact *event.WebhookTried) error {
	key := WebhookKey{fact.Lead, fact.Type}
	found := b.Webhooks[key]
	if found == nil {
		var err error
		if found, err = b.stored.Webhook(b.ctx, key); err != nil {
			return err
		}
	}
	if found == nil {
		found = &Webhook{WebhookKey: key, Supplier: fact.Supplier}
	}
	b.Webhooks[key] = found
	found.Outcome, found.Attempts, found.At = fact.Outcome, fact.Attempt, fact.At
	found.Status, found.Fault = fact.Status, fact.Fault
	return nil
}
