package explain

import (
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// BuyerReportOrOperatorDecision is a buyer's report on a sold lead, or an operator's decision on a pending
// return.
type BuyerReportOrOperatorDecision struct {
	At        NanosAsRFC3339 `json:"at"`
	By        string         `json:"by"` // buyer or operator
	Buyer     string         `json:"buyer_id"`
	RequestID string         `json:"request_id"`
	Result    string         `json:"result"` // done, none (no change), waits (for the operator), refused, unknown (not this buyer's lead), not_now, invalid
	From      string         `json:"from"`
	To        string         `json:"to"`
	Reason    string         `json:"reason,omitempty"`     // a reason from the campaign's list; others are withheld because free text may name a person
	Occurred  NanosAsRFC3339 `json:"occurred_at,omitzero"` // the time that the buyer reported
	Credit    *Amount        `json:"credit,omitempty"`     // credited to the buyer by the return
	Reversed  *Amount        `json:"reversed,omitempty"`   // taken back from the supplier's payout
	Caps      int            `json:"caps_back,omitempty"`  // number of caps that get the sale's share back
}

// SupplierWebhook is a webhook to the supplier of the lead, with its attempts.
type SupplierWebhook struct {
	Type     string                     `json:"type"`
	Created  NanosAsRFC3339             `json:"owed_at"` // when the event that caused it became durable
	State    string                     `json:"state"`   // pending, delivered, dead, dropped; gone: neither in memory nor ended by an event that was read
	Attempts []WebhookAttemptOrDecision `json:"attempts"`
}

// WebhookAttemptOrDecision is one attempt to send a webhook, or an operator's action on it.
type WebhookAttemptOrDecision struct {
	Attempt uint32         `json:"attempt,omitempty"`
	At      NanosAsRFC3339 `json:"at"`
	Outcome string         `json:"outcome"` // delivered, failed, dead, resent, dropped
	Status  uint32         `json:"status,omitempty"`
	Fault   FaultName      `json:"fault,omitempty"`
	Next    NanosAsRFC3339 `json:"next_at,omitzero"`
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

// Texts that replace a buyer's reason.
const (
	withheldReason         = "(withheld: not one of the campaign's reasons)" // the campaign lists others
	withheldReasonNoList   = "(withheld: the campaign has no list of reasons, so the text may contain contact data)"
	withheldReasonNoConfig = "(withheld: the campaign's configuration is no longer available, so the text may contain contact data)" // not even the present one
)

// addBuyerReportOrOperatorDecision adds a buyer's report on the lead, or an operator's decision on a return, to
// the explanation. If the report took effect, it also changes the lead's status.
func (c *leadTimeline) addBuyerReportOrOperatorDecision(ev *event.LeadStatusChangesDecided, change *event.DecidedLeadStatusChange) {
	r := BuyerReportOrOperatorDecision{
		At: NanosAsRFC3339(ev.At), By: reportedByBuyer, Buyer: c.state.NameOf(event.ObjectBuyer, ev.Buyer), RequestID: ev.Request.String(),
		Result: change.Result.String(), From: change.From.String(), To: change.To.String(), Reason: change.Reason,
		Occurred: NanosAsRFC3339(change.Occurred),
	}
	if change.WasPending {
		r.By = reportedByOperator
	}
	switch change.Result {
	case event.ChangeDone:
		c.status, c.reported = change.To, change.To
		if change.To == market.StatusReturned {
			c.returned = market.ReturnApproved
		}
		if change.Return.Month != 0 {
			r.Credit, r.Reversed = newAmount(change.Return.Credit, change.Return.Currency), newAmount(change.Return.Reverse, change.Return.Currency)
		}
		r.Caps = len(change.Return.Charges)
	case event.ChangePending:
		c.returned = market.ReturnPending
	case event.ChangeRefused:
		c.returned = market.ReturnRefused
	}
	c.doc.Reports = append(c.doc.Reports, r)
}

// addWebhookUnlessNone adds a webhook of the given kind to the explanation. An event at causedAtNanos
// caused the webhook. WebhookNone means that the event caused none.
func (c *leadTimeline) addWebhookUnlessNone(kind market.WebhookType, causedAtNanos int64) {
	if kind != market.WebhookNone {
		c.webhooks = append(c.webhooks, webhookProgress{kind: kind})
		c.doc.Webhooks = append(c.doc.Webhooks, SupplierWebhook{Type: kind.String(), Created: NanosAsRFC3339(causedAtNanos), Attempts: []WebhookAttemptOrDecision{}})
	}
}

// addWebhookAttemptOrDecision adds an attempt to send a webhook, or an operator's decision on it, to
// the explained webhook of the same type.
func (c *leadTimeline) addWebhookAttemptOrDecision(ev *event.WebhookAttemptedOrDecided) {
	for i := range c.webhooks {
		if c.webhooks[i].kind == ev.Type {
			c.webhooks[i].last = *ev
			webhook := &c.doc.Webhooks[i]
			webhook.Attempts = append(webhook.Attempts, WebhookAttemptOrDecision{
				Attempt: ev.Attempt, At: NanosAsRFC3339(ev.At), Outcome: ev.Outcome.String(),
				Status: ev.Status, Fault: nameOfFault(ev.Fault), Next: NanosAsRFC3339(ev.Due),
			})
		}
	}
}

// setWebhookStates fills in the state of each webhook in the explanation. A webhook that the last
// attempt delivered, or that an operator dropped afterwards, has this outcome as its state. For the
// others the state comes from the outbox in memory: dead, pending, or forgotten if the outbox no longer
// has the webhook.
func (c *leadTimeline) setWebhookStates() {
	for i := range c.webhooks {
		webhook, outcome := &c.doc.Webhooks[i], c.webhooks[i].last.Outcome
		now, queued := c.state.FindWebhook(c.lead, c.webhooks[i].kind)
		switch {
		case outcome == event.WebhookDelivered, outcome == event.WebhookDropped:
			webhook.State = outcome.String()
		case queued && now.Dead:
			webhook.State = webhookDead
		case queued:
			webhook.State = webhookPending
		default:
			webhook.State = webhookForgotten
		}
	}
}

// redactReasonsUnlistedByCampaign replaces buyers' reasons in the reports of doc by a placeholder,
// unless the campaign lists the reason. Free text may name a person, also in the form of a code such as
// ann_lee_hung_up. Both lists count: configAtDecision, of the configuration when the lead was decided,
// and the current one.
func (e *Explainer) redactReasonsUnlistedByCampaign(doc *Explanation, configAtDecision *campaignConfigOfVersion) {
	var now *campaignConfigOfVersion
	for i := range doc.Reports {
		report := &doc.Reports[i]
		if report.Reason == "" || configAtDecision.reasons[report.Reason] {
			continue
		}
		if now == nil {
			found := e.readCampaignConfig(e.State.CurrentConfigVersion().Version, doc.Campaign, noTimeLimit)
			now = &found
		}
		switch anyAccepted := configAtDecision.acceptsAnyReason() || now.acceptsAnyReason(); {
		case now.reasons[report.Reason], report.Reason == withheld:
		case anyAccepted:
			report.Reason = withheldReasonNoList
		case configAtDecision.known || now.known:
			report.Reason = withheldReason
		default:
			report.Reason = withheldReasonNoConfig
		}
	}
}

// acceptsAnyReason reports whether the campaign is known to have no list of reasons for a return.
func (l *campaignConfigOfVersion) acceptsAnyReason() bool { return l.known && len(l.reasons) == 0 }

// describeLastEffectiveReport returns a sentence on the newest effective report of the buyer, or decision of an
// operator, after the sale, or "" without one. Effective means that it changed the lead's status or its
// return.
func describeLastEffectiveReport(doc *Explanation) (text string) {
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
