package projection

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// WebhookRow is a row of the report's table of webhooks: the notification of a supplier about
// an event of a lead.
type WebhookRow struct {
	WebhookKey
	Supplier market.PermanentNumber
	CausedAt int64                          // zero: before the beginning of the file
	Outcome  event.WebhookOutcomeOrDecision // of the last attempt, or the operator's later decision; zero: neither yet
	Attempts uint32
	At       int64 // of the last attempt
	Status   uint32
	Fault    market.OutboundRequestFault
}

type WebhookKey struct {
	Lead market.LeadID
	Type market.WebhookType
}

// addWebhookUnlessNone adds the row of a webhook that is to be sent to the supplier. It ignores
// WebhookNone.
func (b *ChangeBatch) addWebhookUnlessNone(id market.LeadID, supplier market.PermanentNumber, kind market.WebhookType) {
	if kind != market.WebhookNone {
		key := WebhookKey{id, kind}
		b.Webhooks[key] = &WebhookRow{WebhookKey: key, Supplier: supplier, CausedAt: b.At}
	}
}

// applyWebhookAttemptOrDecision stores the result of an attempt to deliver a webhook, or an operator's
// decision to resend or drop it, in its row.
func (b *ChangeBatch) applyWebhookAttemptOrDecision(ev *event.WebhookAttemptedOrDecided) error {
	key := WebhookKey{ev.Lead, ev.Type}
	found := b.Webhooks[key]
	if found == nil {
		var err error
		if found, err = b.stored.LoadWebhookOrNil(b.ctx, key); err != nil {
			return err
		}
	}
	if found == nil {
		found = &WebhookRow{WebhookKey: key, Supplier: ev.Supplier}
	}
	b.Webhooks[key] = found
	found.Outcome, found.Attempts, found.At = ev.Outcome, ev.Attempt, ev.At
	found.Status, found.Fault = ev.Status, ev.Fault
	return nil
}
