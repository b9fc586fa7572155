package explain

import (
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Report is what a buyer said of a lead after its sale, or an operator of a return
// that waited for it.
type Report struct {
	At        Instant `json:"at"`
	By        string  `json:"by"` // buyer or operator
	Buyer     string  `json:"buyer_id"`
	RequestID string  `json:"request_id"`
	Result    string  `json:"result"` // done, none (it was so before), waits (for the operator), refused, not_now, invalid
	From      string  `json:"from"`
	To        string  `json:"to"`
	Reason    string  `json:"reason,omitempty"`     // one of the campaign's; others are withheld, whoever writes them may name a person
	Occurred  Instant `json:"occurred_at,omitzero"` // by the reporter's word
	Credit    *Amount `json:"credit,omitempty"`     // that the return gives back to the buyer
	Reversed  *Amount `json:"reversed,omitempty"`   // of the supplier's payout
	Caps      int     `json:"caps_back,omitempty"`  // that get back what the sale took
}

// Webhook is what a supplier was to be told of its lead, and how that went.
type Webhook struct {
	Type     string           `json:"type"`
	Created  Instant          `json:"owed_at"` // when its cause was durable
	State    string           `json:"state"`   // pending, delivered, dead, dropped; gone: no longer in memory, and its end is not among what was read
	Attempts []WebhookAttempt `json:"attempts"`
}

// HookAttempt is one try to tell it, or an operator's word on it.
type WebhookAttempt struct {
	Attempt uint32  `json:"attempt,omitempty"`
	At      Instant `json:"at"`
	Outcome string  `json:"outcome"` // delivered, failed, dead, resent, dropped
	Status  uint32  `json:"status,omitempty"`
	Fault   Fault   `json:"fault,omitempty"`
	Next    Instant `json:"next_at,omitzero"`
}

// Who says what became of a lead.
const (
	reportedByBuyer    = "buyer"
	reportedByOperator = "operator"
)

// How a webhook stands.
const (
	webhookPending   = "pending"
	webhookDead      = "dead"
	webhookForgotten = "gone"
)

// unlisted stands for a reason that is none of the campaign's.
const withheldReason = "(withheld: none of the campaign's reasons)"

// report enters what a report says of the lead.
func (c *timeline) addReport(ev *event.StatusChanged, change *event.Change) {
	r := Report{
		At: Instant(ev.At), By: reportedByBuyer, Buyer: c.state.NameOf(event.NameBuyer, ev.Buyer), RequestID: ev.Request.String(),
		Result: change.Result.String(), From: change.From.String(), To: change.To.String(), Reason: change.Reason,
		Occurred: Instant(change.Occurred), Caps: len(change.Return.Charges),
	}
	if change.WasPending {
		r.By = reportedByOperator
	}
	if change.Result == event.ChangeDone {
		c.status = change.To
		if change.Return.Month != 0 {
			r.Credit, r.Reversed = amountOf(change.Return.Credit, change.Return.Currency), amountOf(change.Return.Reverse, change.Return.Currency)
		}
	}
	if change.Result != event.ChangeDone {
		r.Caps = 0
	}
	c.doc.Reports = append(c.doc.Reports, r)
}

// owe begins what the supplier is to be told.
func (c *timeline) addWebhook(kind market.WebhookType, at int64) {
	if kind != market.WebhookNone {
		c.doc.Webhooks = append(c.doc.Webhooks, Webhook{Type: kind.String(), Created: Instant(at), Attempts: []WebhookAttempt{}})
	}
}

func (c *timeline) addWebhookAttempt(ev *event.WebhookTried) {
	for i := range c.doc.Webhooks {
		if hook := &c.doc.Webhooks[i]; hook.Type == ev.Type.String() {
			hook.Attempts = append(hook.Attempts, WebhookAttempt{
				Attempt: ev.Attempt, At: Instant(ev.At), Outcome: ev.Outcome.String(),
				Status: ev.Status, Fault: faultOf(ev.Fault), Next: Instant(ev.Due),
			})
		}
	}
}

// stand says how each webhook stands: by its last attempt, and where that leaves it
// open by memory.
func (e *Explainer) setWebhookStates(doc *Explanation, lead market.LeadID) {
	for i := range doc.Webhooks {
		hook := &doc.Webhooks[i]
		if n := len(hook.Attempts); n > 0 {
			hook.State = hook.Attempts[n-1].Outcome
		}
		switch hook.State {
		case event.WebhookDelivered.String(), event.WebhookDropped.String():
			continue
		}
		hook.State = webhookForgotten
		for kind := range market.WebhookType(market.WebhookTypes) {
			if kind.String() != hook.Type {
				continue
			}
			if now, owed := e.state.Webhook(lead, kind); owed && now.Dead {
				hook.State = webhookDead
			} else if owed {
				hook.State = webhookPending
			}
		}
	}
}

// listed withholds the reasons that are not of the campaign's list, in the
// configuration that the lead was decided by or in that in force.
func (e *Explainer) withholdUnlistedReasons(doc *Explanation, then *campaignConfig) {
	var now *campaignConfig
	for i := range doc.Reports {
		reason := &doc.Reports[i].Reason
		if *reason == "" || then.reasons[*reason] {
			continue
		}
		if now == nil {
			found := e.campaignConfig(e.state.Catalog().Version, doc.Campaign, noTimeLimit)
			now = &found
		}
		if !now.reasons[*reason] {
			*reason = withheldReason
		}
	}
}

// sinceThen says what became of a lead after its sale.
func whyAfterSale(doc *Explanation) (text string) {
	for i := range doc.Reports {
		r := &doc.Reports[i]
		switch {
		case r.Result == event.ChangeDone.String() && r.Credit != nil:
			text = fmt.Sprintf(" %s gave it back: %s went back to the buyer, and %s of the payout were taken back.", r.Buyer, r.Credit, r.Reversed)
		case r.Result == event.ChangeDone.String() && r.To == market.StatusReturned.String():
			text = fmt.Sprintf(" %s gave it back.", r.Buyer)
		case r.Result == event.ChangeDone.String():
			text = fmt.Sprintf(" %s reports it %s.", r.Buyer, r.To)
		case r.Result == event.ChangePending.String():
			text = fmt.Sprintf(" %s wants to give it back, which waits for the operator.", r.Buyer)
		case r.Result == event.ChangeRefused.String():
			text = fmt.Sprintf(" %s wanted to give it back, which the operator refused.", r.Buyer)
		}
	}
	return text
}
