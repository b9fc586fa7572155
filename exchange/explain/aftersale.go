package explain

import (
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// StatusReport is a buyer's report on a sold lead, or an operator's decision on a pending
// return.
type StatusReport struct {
	At        Instant `json:"at"`
	By        string  `json:"by"` // buyer or operator
	Buyer     string  `json:"buyer_id"`
	RequestID string  `json:"request_id"`
	Result    string  `json:"result"` // done, none (no change), waits (for the operator), refused, not_now, invalid
	From      string  `json:"from"`
	To        string  `json:"to"`
	Reason    string  `json:"reason,omitempty"`     // a reason from the campaign's list; others are withheld because free text may name a person
	Occurred  Instant `json:"occurred_at,omitzero"` // the time that the buyer reported
	Credit    *Amount `json:"credit,omitempty"`     // credited to the buyer by the return
	Reversed  *Amount `json:"reversed,omitempty"`   // taken back from the supplier's payout
	Caps      int     `json:"caps_back,omitempty"`  // number of caps that get the sale's share back
}

// Webhook is a webhook to the supplier of the lead, with its attempts.
type Webhook struct {
	Type     string           `json:"type"`
	Created  Instant          `json:"owed_at"` // when the event that caused it became durable
	State    string           `json:"state"`   // pending, delivered, dead, dropped; gone: neither in memory nor ended by an event that was read
	Attempts []WebhookAttempt `json:"attempts"`
}

// WebhookAttempt is one attempt to send a webhook, or an operator's action on it.
type WebhookAttempt struct {
	Attempt uint32  `json:"attempt,omitempty"`
	At      Instant `json:"at"`
	Outcome string  `json:"outcome"` // delivered, failed, dead, resent, dropped
	Status  uint32  `json:"status,omitempty"`
	Fault   Fault   `json:"fault,omitempty"`
	Next    Instant `json:"next_at,omitzero"`
}

// Authors of reports.
const (
	reportedByBuyer    = "buyer"
	reportedByOperator = "operator"
)

// States of a webhook in memory.
const (
	webhookPending   = "pending"
	webhookDead      = "dead"
	webhookForgotten = "gone"
)

// withheldReason replaces a reason that the campaign does not list.
const withheldReason = "(withheld: not one of the campaign's reasons)"

// addStatusReport adds a buyer's report on the lead, or an operator's decision on a return, to
// the explanation. If the report took effect, it also changes the lead's status.
func (c *timeline) addStatusReport(ev *event.StatusChanged, change *event.LeadChange) {
	r := StatusReport{
		At: Instant(ev.At), By: reportedByBuyer, Buyer: c.state.NameOf(event.ObjectBuyer, ev.Buyer), RequestID: ev.Request.String(),
		Result: change.Result.String(), From: change.From.String(), To: change.To.String(), Reason: change.Reason,
		Occurred: Instant(change.Occurred), Caps: len(change.Return.Charges),
	}
	if change.WasPending {
		r.By = reportedByOperator
	}
	if change.Result == event.ChangeDone {
		c.status = change.To
		if change.Return.Month != 0 {
			r.Credit, r.Reversed = newAmount(change.Return.Credit, change.Return.Currency), newAmount(change.Return.Reverse, change.Return.Currency)
		}
	}
	if change.Result != event.ChangeDone {
		r.Caps = 0
	}
	c.doc.Reports = append(c.doc.Reports, r)
}

// addWebhook adds a webhook of the given kind to the explanation. An event at the time at
// caused the webhook. WebhookNone means that the event caused none.
func (c *timeline) addWebhook(kind market.WebhookType, at int64) {
	if kind != market.WebhookNone {
		c.doc.Webhooks = append(c.doc.Webhooks, Webhook{Type: kind.String(), Created: Instant(at), Attempts: []WebhookAttempt{}})
	}
}

// addWebhookAttempt adds an attempt to send a webhook to the explained webhook of the same
// type.
func (c *timeline) addWebhookAttempt(ev *event.WebhookAttempted) {
	for i := range c.doc.Webhooks {
		if webhook := &c.doc.Webhooks[i]; webhook.Type == ev.Type.String() {
			webhook.Attempts = append(webhook.Attempts, WebhookAttempt{
				Attempt: ev.Attempt, At: Instant(ev.At), Outcome: ev.Outcome.String(),
				Status: ev.Status, Fault: faultName(ev.Fault), Next: Instant(ev.Due),
			})
		}
	}
}

// setWebhookStates fills in the state of each webhook in the explanation. A webhook whose last
// attempt delivered or dropped it has that outcome as its state. For the others the state comes
// from the outbox in memory.
func (e *Explainer) setWebhookStates(doc *Explanation, lead market.LeadID) {
	for i := range doc.Webhooks {
		webhook := &doc.Webhooks[i]
		if n := len(webhook.Attempts); n > 0 {
			webhook.State = webhook.Attempts[n-1].Outcome
		}
		switch webhook.State {
		case event.WebhookDelivered.String(), event.WebhookDropped.String():
			continue
		}
		webhook.State = webhookForgotten
		for kind := range market.WebhookType(market.WebhookTypeCount) {
			if kind.String() != webhook.Type {
				continue
			}
			if now, queued := e.state.FindWebhook(lead, kind); queued && now.Dead {
				webhook.State = webhookDead
			} else if queued {
				webhook.State = webhookPending
			}
		}
	}
}

// withholdUnlistedReasons replaces buyers' reasons in the reports of doc by a placeholder,
// unless the campaign lists the reason. Free text may name a person. Both lists count: then, of
// the configuration when the lead was decided, and the current one.
func (e *Explainer) withholdUnlistedReasons(doc *Explanation, then *campaignConfig) {
	var now *campaignConfig
	for i := range doc.Reports {
		reason := &doc.Reports[i].Reason
		if *reason == "" || then.reasons[*reason] {
			continue
		}
		if now == nil {
			found := e.readCampaignConfig(e.state.CurrentConfigVersion().Version, doc.Campaign, noTimeLimit)
			now = &found
		}
		if !now.reasons[*reason] {
			*reason = withheldReason
		}
	}
}

// describeLastReport returns a sentence on the last buyer's report or operator's decision after
// the sale, or "" without one.
func describeLastReport(doc *Explanation) (text string) {
	for i := range doc.Reports {
		r := &doc.Reports[i]
		switch {
		case r.Result == event.ChangeDone.String() && r.Credit != nil:
			text = fmt.Sprintf(" %s returned it: the buyer got %s back, and %s of the payout were reversed.", r.Buyer, r.Credit, r.Reversed)
		case r.Result == event.ChangeDone.String() && r.To == market.StatusReturned.String():
			text = fmt.Sprintf(" %s returned it.", r.Buyer)
		case r.Result == event.ChangeDone.String():
			text = fmt.Sprintf(" %s reported it as %s.", r.Buyer, r.To)
		case r.Result == event.ChangePending.String():
			text = fmt.Sprintf(" %s asked to return it; the return waits for an operator's approval.", r.Buyer)
		case r.Result == event.ChangeRefused.String():
			text = fmt.Sprintf(" %s asked to return it; an operator refused.", r.Buyer)
		}
	}
	return text
}
