package webhook

import (
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/escape"
	"pingpost/engine/state"
)

// timeFormat is the format of times in webhook bodies: RFC 3339 in UTC, with milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z"

// AppendWebhookBody appends the JSON body of the queued webhook with its payload to dst. names
// translates the numbers of campaigns, suppliers and buyers into their ids. The members have a fixed
// order, and the values come from log records, or from memory after the log removed them. So the body
// is the same at every attempt while the log has the records.
func AppendWebhookBody(dst []byte, names *state.State, queued *state.OutboxWebhook, payload *Payload) []byte {
	dst = market.ComputeWebhookID(queued.Lead, queued.Type, queued.Created).AppendAsText(append(dst, `{"id":"`...))
	dst = append(append(dst, `","type":"`...), queued.Type.String()...)
	dst = time.Unix(0, queued.Created).UTC().AppendFormat(append(dst, `","created_at":"`...), timeFormat)
	dst = queued.Lead.AppendAsText(append(dst, `","data":{"lead_id":"`...))
	dst = appendTextOrNull(append(dst, `","lead_uuid":`...), payload.sellerLeadID)
	dst = appendTextOrNull(append(dst, `,"auction_id":`...), payload.auction)
	dst = appendTextOrNull(append(dst, `,"campaign_id":`...), names.NameOf(event.ObjectCampaign, payload.campaign))
	dst = appendTextOrNull(append(dst, `,"supplier_id":`...), names.NameOf(event.ObjectSupplier, queued.Supplier))
	dst = appendTextOrNull(append(dst, `,"buyer_id":`...), names.NameOf(event.ObjectBuyer, payload.buyer))
	dst = append(append(append(dst, `,"status":"`...), leadStatusAnnouncedByWebhook(queued.Type).String()...), `","price":`...)
	dst = appendPriceOrNull(dst, payload.hasPayout, payload.payout, payload.currency)
	dst = appendTextOrNull(append(dst, `,"reason":`...), payload.reason)
	if queued.Type == market.WebhookReturned {
		dst = appendPriceOrNull(append(dst, `,"reversed":`...), payload.reversed != 0, payload.reversed, payload.currency)
	}
	if payload.test {
		dst = append(dst, `,"test":true`...)
	}
	return append(dst, "}}"...)
}

// leadStatusAnnouncedByWebhook returns the status that the lead has after a webhook event of this kind, for
// the member status of the body.
func leadStatusAnnouncedByWebhook(webhookType market.WebhookType) market.LeadStatus {
	switch webhookType {
	case market.WebhookPosted:
		return market.StatusAccepted
	case market.WebhookContacted:
		return market.StatusContacted
	case market.WebhookQualified:
		return market.StatusQualified
	case market.WebhookSold:
		return market.StatusSold
	case market.WebhookReturned:
		return market.StatusReturned
	case market.WebhookUnmatched, market.WebhookPostFailed:
		return market.StatusUnmatched
	}
	panic("BUG: webhook without a type")
}

func appendTextOrNull(dst []byte, text string) []byte {
	if text == "" {
		return append(dst, "null"...)
	}
	return escape.AppendJSONString(dst, []byte(text))
}

func appendPriceOrNull(dst []byte, hasPrice bool, amount market.Money, currency market.Currency) []byte {
	if !hasPrice {
		return append(dst, "null"...)
	}
	dst = amount.AppendJSON(append(dst, `{"amount":`...))
	return append(append(append(dst, `,"currency":"`...), currency.String()...), `"}`...)
}
