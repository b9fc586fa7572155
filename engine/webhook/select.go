package webhook

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// WebhookOfDecisionOrSettlement returns the webhook event that a decision or a settlement triggers for the
// lead's supplier, or WebhookNone. supplierWasAnsweredAccepted reports whether the supplier has already
// received ACCEPTED for the lead.
//
//	lead.posted       the buyer has the lead: it was recorded for a buyer without an
//	                  endpoint, the endpoint accepted it, or an operator confirmed it
//	lead.unmatched    no buyer will get the lead, and the supplier has no answer yet
//	lead.post_failed  the supplier received ACCEPTED, but the buyer did not get the lead
//
// Other outcomes of these records trigger no event, because a later record ends the post. They are intents,
// refusals followed by another post, answers at the deadline, exhausted retries and resent posts.
// A lead therefore triggers at most one of the three. Later reports of the buyer trigger the
// event of market.LeadStatus.WebhookTypeOfReport.
//
// The record stores the result. So a later change of the webhook configuration does not change
// the events of old leads.
func WebhookOfDecisionOrSettlement(record event.Event, supplierWasAnsweredAccepted bool) market.WebhookType {
	var sold, posting bool // after the record
	switch record := record.(type) {
	case *event.LeadDecided:
		sold, posting = record.Sale.Buyer != 0, record.Post.URL != ""
	case *event.PostSettled:
		switch record.Settlement {
		case event.SettledDelivered, event.SettledConfirmed:
			sold = true
		case event.SettledRefused, event.SettledReleased:
			sold, posting = record.Next.Buyer != 0, record.Post.URL != ""
		default:
			return market.WebhookNone
		}
	}
	switch {
	case posting:
		return market.WebhookNone
	case sold:
		return market.WebhookPosted
	case supplierWasAnsweredAccepted:
		return market.WebhookPostFailed
	}
	return market.WebhookUnmatched
}
