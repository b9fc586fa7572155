package event

import (
	"pingpost/engine/market"
)

// WebhookAttemptedOrDecided records the result of an attempt to send a webhook, or an operator's
// decision on a dead letter. It also makes a webhook a dead letter without an attempt, if neither the
// log nor memory has its lead any more. A lead causes each type of webhook at most once, so Lead and
// Type identify the webhook. Its content comes from the event that caused it.
type WebhookAttemptedOrDecided struct {
	Lead     market.LeadID
	Type     market.WebhookType
	Supplier market.PermanentNumber
	Attempt  uint32 // from 1
	Outcome  WebhookOutcomeOrDecision
	At       int64  // end of the attempt, Unix nanoseconds
	Due      int64  // of WebhookFailed: when the next attempt is due
	Status   uint32 // HTTP status; zero: no answer
	Fault    market.OutboundRequestFault
	By       string // requesting operator; empty: no operator, or an earlier program wrote the event
}

// WebhookOutcomeOrDecision is the result of a webhook attempt, or an operator's decision on a dead letter. The
// log stores these numbers, so they never change.
type WebhookOutcomeOrDecision uint8

const (
	WebhookDelivered  WebhookOutcomeOrDecision = 1 // the supplier acknowledged it
	WebhookFailed     WebhookOutcomeOrDecision = 2 // another attempt follows
	WebhookDead       WebhookOutcomeOrDecision = 3 // no attempt follows: a dead letter until an operator resends it
	WebhookResent     WebhookOutcomeOrDecision = 4 // an operator resends it: attempts start again, due at once
	WebhookDropped    WebhookOutcomeOrDecision = 5 // an operator deletes the dead letter
	webhookOutcomeEnd                          = 6
)

var webhookOutcomeNames = [webhookOutcomeEnd]string{"", "delivered", "failed", "dead", "resent", "dropped"}

func (o WebhookOutcomeOrDecision) String() string {
	return market.EnumName(webhookOutcomeNames[:], int(o), "invalid")
}

func (*WebhookAttemptedOrDecided) Kind() Kind { return KindWebhookAttempted }
func (h *WebhookAttemptedOrDecided) reset()   { *h = WebhookAttemptedOrDecided{} }

func (h *WebhookAttemptedOrDecided) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeID16(pb, 1, &h.Lead)
	encodeOrDecodeEnum(pb, 2, &h.Type)
	encodeOrDecodeUint32(pb, 3, &h.Supplier)
	encodeOrDecodeUint32(pb, 4, &h.Attempt)
	encodeOrDecodeEnum(pb, 5, &h.Outcome)
	encodeOrDecodeFixed64(pb, 6, &h.At)
	encodeOrDecodeFixed64(pb, 7, &h.Due)
	encodeOrDecodeUint32(pb, 8, &h.Status)
	encodeOrDecodeEnum(pb, 9, &h.Fault)
	encodeOrDecodeString(pb, 10, &h.By)
}

// SupplierWebhooksTurnedOnOrOff turns the webhooks of a supplier off or on again. An operator does
// both; the exchange turns them off if the endpoint has failed for days. Turning them off makes the
// pending webhooks dead letters. While they are off, new webhooks become dead letters at once.
type SupplierWebhooksTurnedOnOrOff struct {
	Supplier market.PermanentNumber
	Off      bool
	At       int64
	By       string // requesting operator; empty: the exchange itself, or an earlier program wrote the event
}

func (*SupplierWebhooksTurnedOnOrOff) Kind() Kind { return KindSupplierWebhooksTurnedOnOrOff }
func (h *SupplierWebhooksTurnedOnOrOff) reset()   { *h = SupplierWebhooksTurnedOnOrOff{} }

func (h *SupplierWebhooksTurnedOnOrOff) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeUint32(pb, 1, &h.Supplier)
	encodeOrDecodeBool(pb, 2, &h.Off)
	encodeOrDecodeFixed64(pb, 3, &h.At)
	encodeOrDecodeString(pb, 4, &h.By)
}
