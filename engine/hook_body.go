package engine

import (
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/escape"
	"pingpost/engine/state"
)

// hookTime is RFC 3339 in UTC, to the millisecond.
const hookTime = "2006-01-02T15:04:05.000Z"

// appendHook writes the body of an event. It depends on the event and on what
// facts say of it alone, and its members stand in one order: so it is the same at
// every attempt.
func (e *Engine) appendHook(dst []byte, h *state.QueuedWebhook, t *tale) []byte {
	dst = market.WebhookIDOf(h.Lead, h.Type, h.Created).AppendTo(append(dst, `{"id":"`...))
	dst = append(append(dst, `","type":"`...), h.Type.String()...)
	dst = time.Unix(0, h.Created).UTC().AppendFormat(append(dst, `","created_at":"`...), hookTime)
	dst = h.Lead.AppendTo(append(dst, `","data":{"lead_id":"`...))
	dst = appendTextOrNull(append(dst, `","lead_uuid":`...), t.uuid)
	dst = appendTextOrNull(append(dst, `,"auction_id":`...), t.auction)
	dst = appendTextOrNull(append(dst, `,"campaign_id":`...), e.state.NameOf(event.NameCampaign, t.campaign))
	dst = appendTextOrNull(append(dst, `,"supplier_id":`...), e.state.NameOf(event.NameSupplier, h.Supplier))
	dst = appendTextOrNull(append(dst, `,"buyer_id":`...), e.state.NameOf(event.NameBuyer, t.buyer))
	dst = append(append(append(dst, `,"status":"`...), statusBy(h.Type).String()...), `","price":`...)
	dst = appendPrice(dst, t.paid, t.payout, t.currency)
	dst = appendTextOrNull(append(dst, `,"reason":`...), t.reason)
	if h.Type == market.WebhookReturned {
		dst = appendPrice(append(dst, `,"reversed":`...), t.reversed != 0, t.reversed, t.currency)
	}
	if t.test {
		dst = append(dst, `,"test":true`...)
	}
	return append(dst, "}}"...)
}

// statusBy is where an event leaves its lead.
func statusBy(what market.WebhookType) market.Status {
	switch what {
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
	panic("BUG: an event of no type")
}

func appendTextOrNull(dst []byte, text string) []byte {
	if text == "" {
		return append(dst, "null"...)
	}
	return escape.AppendJSONString(dst, []byte(text))
}

func appendPrice(dst []byte, there bool, amount market.Money, currency market.Currency) []byte {
	if !there {
		return append(dst, "null"...)
	}
	dst = amount.AppendJSON(append(dst, `{"amount":`...))
	return append(append(append(dst, `,"currency":"`...), currency.String()...), `"}`...)
}
