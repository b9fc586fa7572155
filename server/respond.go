package server

import (
	"errors"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/market"
)

const (
	typeJSON        = "application/json"
	headerRequestID = "X-Request-Id"
	headerReplayed  = "Idempotent-Replayed"
	retryAfterBusy  = "1"
)

// fail answers with an error in the interface's form.
func fail(ctx *fasthttp.RequestCtx, id market.RequestID, f fault, fields ...market.FieldError) {
	var text [64]byte
	ctx.Response.ResetBody()
	ctx.SetStatusCode(f.status)
	ctx.SetContentType(typeJSON)
	ctx.Response.Header.SetBytesV(headerRequestID, id.AppendTo(text[:0]))
	if f.status == fasthttp.StatusServiceUnavailable {
		ctx.Response.Header.Set("Retry-After", retryAfterBusy)
	}
	ctx.SetBody(appendFault(nil, id, f, fields...))
}

// appendFault writes the interface's error body.
func appendFault(body []byte, id market.RequestID, f fault, fields ...market.FieldError) []byte {
	body = market.AppendJSONString(append(body, `{"error":`...), []byte(f.code))
	body = market.AppendJSONString(append(body, `,"message":`...), []byte(f.message))
	body = id.AppendTo(append(body, `,"request_id":"`...))
	body = append(body, '"')
	if len(fields) > 0 {
		body = appendFields(append(body, `,"field_errors":[`...), fields)
	}
	return append(body, '}')
}

func appendFields(body []byte, fields []market.FieldError) []byte {
	for i := range fields {
		if i > 0 {
			body = append(body, ',')
		}
		body = market.AppendJSONString(append(body, `{"field":`...), []byte(fields[i].Field))
		body = market.AppendJSONString(append(body, `,"code":`...), []byte(fields[i].Code))
		body = market.AppendJSONString(append(body, `,"expected":`...), []byte(fields[i].Expected))
		body = append(body, '}')
	}
	return append(body, ']')
}

// ErrTooLarge is what the engine's log returns for a fact that it can never hold.
// Sending the request again would not help, so it is the request's fault.
var ErrTooLarge = errors.New("the lead is larger than an entry of the log can be")

// failWith answers with what the engine returned instead of an answer.
func failWith(ctx *fasthttp.RequestCtx, id market.RequestID, err error) {
	var refusal *engine.Refusal
	switch {
	case errors.Is(err, ErrTooLarge):
		fail(ctx, id, faultTooLong)
		return
	case !errors.As(err, &refusal):
		fail(ctx, id, faultUnavailable)
		return
	}
	switch refusal.Code {
	case engine.InvalidPayload:
		fail(ctx, id, faultPayload, refusal.Fields...)
	case engine.KeyReused:
		fail(ctx, id, faultKeyReused)
	case engine.Forbidden:
		fail(ctx, id, faultForbidden)
	default:
		fail(ctx, id, faultInternal)
	}
}

// appendAnswer writes the answer to an ingest.
func appendAnswer(body []byte, a *engine.Answer) []byte {
	body = a.Lead.AppendTo(append(body, `{"data":{"id":"`...))
	if a.Accepted {
		body = market.AppendJSONString(append(body, `","status":"ACCEPTED","buyer_id":`...), []byte(a.Buyer))
	} else {
		body = append(body, `","status":"UNMATCHED","buyer_id":null`...)
	}
	body = market.AppendJSONString(append(body, `,"campaign_id":`...), []byte(a.Campaign))
	if a.Accepted {
		body = a.Payout.AppendJSON(append(body, `,"price":{"amount":`...))
		body = append(body, `,"currency":"`...)
		body = append(body, a.Currency[:]...)
		body = append(body, `"}}}`...)
		return body
	}
	body = append(body, `,"reason":"`...)
	body = append(body, a.Reason.String()...)
	return append(body, `"}}`...)
}
