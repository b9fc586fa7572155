package explain

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// webhookProgress is a webhook to the supplier, with its last recorded attempt or operator's decision.
type webhookProgress struct {
	kind market.WebhookType
	last event.WebhookAttemptedOrDecided // zero before the first attempt or decision
}

// matchesStateInMemory reports whether the events read so far lead to exactly the status, the return
// state and the webhooks that memory has for the lead. The reader can then stop, because no later
// event of the lead exists that memory knows of.
//
// Memory has no record of reports that changed nothing. The reader finds them only if they
// precede the last event that memory knows.
func (c *leadTimeline) matchesStateInMemory() bool {
	if c.sale.Buyer != 0 && (!c.known || c.row.Status.IsReportedByBuyer() && c.row.Status != c.reported || c.row.ReturnState() != c.returned) {
		return false
	}
	for i := range c.webhooks {
		if !c.lastEventMatchesOutbox(&c.webhooks[i]) {
			return false
		}
	}
	return true
}

// lastEventMatchesOutbox reports whether the webhook's last recorded attempt leads to the
// webhook's current state in the outbox.
func (c *leadTimeline) lastEventMatchesOutbox(webhook *webhookProgress) bool {
	now, queued := c.state.FindWebhook(c.lead, webhook.kind)
	switch {
	case !queued:
		return webhook.last.Outcome == event.WebhookDelivered || webhook.last.Outcome == event.WebhookDropped
	case now.Attempts == 0 && now.Dead: // the supplier's webhooks were switched off
		return webhook.last.Outcome == 0 || webhook.last.Outcome == event.WebhookResent
	case now.Attempts == 0 && now.Due == now.Created:
		return webhook.last.Outcome == 0
	case now.Attempts == 0:
		return webhook.last.Outcome == event.WebhookResent
	}
	return webhook.last.Attempt == now.Attempts && now.Dead == (webhook.last.Outcome == event.WebhookDead)
}
