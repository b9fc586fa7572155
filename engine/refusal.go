package engine

import (
	"errors"

	"pingpost/engine/market"
)

// Refusal is an answer that is no decision about a lead: the request cannot be
// taken as it is. It uses up no idempotency key and is in no log.
type Refusal struct {
	Code   RefusalCode
	Fields []market.FieldError // of an invalid payload
}

// RefusalCode is the error's code on the wire.
type RefusalCode string

const (
	InvalidPayload RefusalCode = "invalid_payload"
	KeyReused      RefusalCode = "idempotency_key_reused"
	Forbidden      RefusalCode = "forbidden"
)

func (r *Refusal) Error() string { return string(r.Code) }

// ErrUnavailable is returned while the exchange takes no requests: it starts,
// stops, is out of room, or its log has failed. Sending the request again later
// is safe.
var ErrUnavailable = errors.New("the exchange takes no requests right now")
