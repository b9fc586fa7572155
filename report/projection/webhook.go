package projection

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Webhook is a row of the report's table of webhooks: the notification of a supplier about an
// event of a lead.
type Webhook struct {
	WebhookKey
	Supplier market.Ref
	CausedAt int64                // zero: before the beginning of the file
	Outcome  event.WebhookOutcome // of the last attempt; zero: no attempt yet
	Attempts uint32
	At       int64 // of the last attempt
	Status   uint32
	Fault    market.Fault
}

type WebhookKey struct {
	Lead market.LeadID
	Type market.WebhookType
}

// addWebhook adds the row of a webhook that is to be sent to the supplier. It ignores
// WebhookNone.
func (b *Batch) addWebhook(id market.LeadID, supplier market.Ref, of market.WebhookType) {
	if of != market.WebhookNone {
		key := WebhookKey{id, of}
		b.Webhooks[key] = &Webhook{WebhookKey: key, Supplier: supplier, CausedAt: b.At}
	}
}

// applyWebhookAttempt stores the result of an attempt to deliver a webhook in its row.
func (b *Batch) applyWebhookAttempt(fact *event.WebhookAttempted) error {
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
