package server

import (
	"errors"
	"time"

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
	if f.status > fasthttp.StatusInternalServerError && f.status <= fasthttp.StatusGatewayTimeout || f == faultAuctions || f == faultRuns || f == faultAnswers {
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
	if !refusal.Request.IsZero() {
		id = refusal.Request
	}
	what := faultOf(refusal.Code, refusal.Objection)
	fail(ctx, id, what, refusal.Fields...)
	if refusal.Replayed {
		ctx.Response.Header.Set(headerReplayed, "true")
	}
	if refusal.Code == engine.PostRejected {
		ctx.SetBody(appendReason(ctx.Response.Body(), refusal.Reason))
	}
}

// faultOf is a refusal as it is told. What is in the way of a report says more than
// its code.
func faultOf(code engine.RefusalCode, objection market.Objection) fault {
	what, known := refusals[code]
	if !known {
		return faultInternal
	}
	if objection != market.ObjectionNone {
		what.message = objection.String()
	}
	return what
}

// refusals are the engine's, as they are told.
var refusals = map[engine.RefusalCode]fault{
	engine.InvalidPayload:   faultPayload,
	engine.KeyReused:        faultKeyReused,
	engine.Forbidden:        faultForbidden,
	engine.AuctionExists:    faultAuctionKnown,
	engine.AlreadySold:      faultSold,
	engine.BidExpired:       faultExpired,
	engine.InvalidBidToken:  faultBidToken,
	engine.PostRejected:     faultRejected,
	engine.RateLimited:      faultAuctions,
	engine.BuyerUnavailable: faultUnreachable,
	engine.BuyerTimeout:     faultNoAnswer,

	engine.NotFound:          faultNoLead,
	engine.InvalidTransition: faultTransition,
}

// appendReason adds a reason to an error's body.
func appendReason(body []byte, reason market.Reason) []byte {
	body = append(body[:len(body)-1], `,"reason":"`...)
	return append(append(body, reason.String()...), `"}`...)
}

// answerWith sends an answer that rests on a logged fact: a replayed one has the
// first one's request id.
func answerWith(ctx *fasthttp.RequestCtx, status int, id market.RequestID, replayed bool, body []byte) {
	ctx.SetStatusCode(status)
	ctx.SetContentType(typeJSON)
	var text [64]byte
	ctx.Response.Header.SetBytesV(headerRequestID, id.AppendTo(text[:0]))
	if replayed {
		ctx.Response.Header.Set(headerReplayed, "true")
	}
	ctx.SetBody(body)
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
		body = append(body, `,"price":{`...)
		return append(appendPrice(body, a.Payout, a.Currency), "}}}"...)
	}
	body = append(body, `,"reason":"`...)
	body = append(body, a.Reason.String()...)
	return append(body, `"}}`...)
}

// appendPrice writes an amount and its currency.
func appendPrice(body []byte, amount market.Money, currency market.Currency) []byte {
	body = amount.AppendJSON(append(body, `"amount":`...))
	body = append(append(body, `,"currency":"`...), currency[:]...)
	return append(body, '"')
}

// appendInstant writes a time, in Unix nanoseconds, as a JSON string.
func appendInstant(body []byte, at int64) []byte {
	return append(time.Unix(0, at).UTC().AppendFormat(append(body, '"'), time.RFC3339Nano), '"')
}
