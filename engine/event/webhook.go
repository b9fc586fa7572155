package event

import (
	"github.com/VictoriaMetrics/easyproto"

	"pingpost/engine/market"
)

// WebhookAttempted is the result of an attempt to send a webhook, or an operator's decision.
// The event that caused the webhook holds the content (Webhook). A lead causes each type
// once, so lead and type identify the webhook.
type WebhookAttempted struct {
	Lead     market.LeadID
	Type     market.WebhookType
	Supplier market.Ref
	Attempt  uint32 // from 1
	Outcome  WebhookOutcome
	At       int64  // end of the attempt, Unix nanoseconds
	Due      int64  // of WebhookFailed: when the next attempt is due
	Status   uint32 // HTTP status; zero: no answer
	Fault    market.Fault
	By       string // requesting operator; empty: no operator, or an earlier program wrote the event
}

// WebhookOutcome is the result of an attempt. Numbers are in the log.
type WebhookOutcome uint8

const (
	WebhookDelivered  WebhookOutcome = 1 // the supplier acknowledged it
	WebhookFailed     WebhookOutcome = 2 // another attempt follows
	WebhookDead       WebhookOutcome = 3 // no attempt follows: a dead letter until an operator resends it
	WebhookResent     WebhookOutcome = 4 // an operator resends it: attempts start again, due at once
	WebhookDropped    WebhookOutcome = 5 // an operator deletes it
	webhookOutcomeEnd                = 6
)

func (o WebhookOutcome) String() string {
	names := [webhookOutcomeEnd]string{"", "delivered", "failed", "dead", "resent", "dropped"}
	if o >= webhookOutcomeEnd {
		return "invalid"
	}
	return names[o]
}

func (*WebhookAttempted) Kind() Kind { return KindWebhookAttempted }
func (h *WebhookAttempted) reset()   { *h = WebhookAttempted{} }

func (h *WebhookAttempted) marshal(mm openMessage) {
	putID(mm, 1, h.Lead)
	putUint(mm, 2, uint64(h.Type))
	putUint(mm, 3, uint64(h.Supplier))
	putUint(mm, 4, uint64(h.Attempt))
	putUint(mm, 5, uint64(h.Outcome))
	putFixed(mm, 6, uint64(h.At))
	putFixed(mm, 7, uint64(h.Due))
	putUint(mm, 8, uint64(h.Status))
	putUint(mm, 9, uint64(h.Fault))
	putString(mm, 10, h.By)
}

func (h *WebhookAttempted) decodeField(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getID(fc, (*[16]byte)(&h.Lead))
	case 2:
		return getByte(fc, &h.Type)
	case 3:
		return getRef(fc, &h.Supplier)
	case 4:
		return getUint32(fc, &h.Attempt)
	case 5:
		return getByte(fc, &h.Outcome)
	case 6:
		return getFixed(fc, &h.At)
	case 7:
		return getFixed(fc, &h.Due)
	case 8:
		return getUint32(fc, &h.Status)
	case 9:
		return getByte(fc, &h.Fault)
	case 10:
		return getString(fc, &h.By)
	}
	return true
}

// WebhooksSwitched disables the webhooks of a supplier whose endpoint has failed for days,
// or enables them again. While they are off, new webhooks are dead letters at once.
type WebhooksSwitched struct {
	Supplier market.Ref
	Off      bool
	At       int64
	By       string // requesting operator; empty: no operator, or an earlier program wrote the event
}

func (*WebhooksSwitched) Kind() Kind { return KindWebhooksSwitched }
func (h *WebhooksSwitched) reset()   { *h = WebhooksSwitched{} }

func (h *WebhooksSwitched) marshal(mm openMessage) {
	putUint(mm, 1, uint64(h.Supplier))
	putBool(mm, 2, h.Off)
	putFixed(mm, 3, uint64(h.At))
	putString(mm, 4, h.By)
}

func (h *WebhooksSwitched) decodeField(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getRef(fc, &h.Supplier)
	case 2:
		return getBool(fc, &h.Off)
	case 3:
		return getFixed(fc, &h.At)
	case 4:
		return getString(fc, &h.By)
	}
	return true
}
