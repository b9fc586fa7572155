package httperror

import (
	"errors"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/market"
)

// ErrTooLarge says that an event is larger than the log's largest entry. A retry would fail
// again, so the answer is a 413.
var ErrTooLarge = errors.New("the lead exceeds the maximum size of a log entry")

// WriteEngineErrorOrUnavailable answers a request with the error err of the engine. id is the request's
// id. If the engine replays an earlier rejection, the answer has the id of the first request. Errors
// that are no refusals become a 413 (ErrTooLarge) or a 503. The 503 of engine.ErrNotLeader has the
// mark of MaySendAgain.
func WriteEngineErrorOrUnavailable(ctx *fasthttp.RequestCtx, id market.RequestID, err error) {
	var refusal *engine.Refusal
	switch {
	case errors.Is(err, ErrTooLarge):
		Write(ctx, id, LeadTooLarge)
		return
	case errors.Is(err, engine.ErrNextLeaderAnswers):
		WriteNextLeaderAnswers(ctx, id)
		return
	case errors.Is(err, engine.ErrNotLeader):
		WriteMaySendAgain(ctx, id)
		return
	case !errors.As(err, &refusal):
		Write(ctx, id, Unavailable)
		return
	}
	if !refusal.Request.IsZero() {
		id = refusal.Request
	}
	what := FromRefusal(refusal.Code, refusal.Objection)
	if refusal.DeliveryStopped {
		what = withDeliveryStopped(what)
	}
	Write(ctx, id, what, refusal.Fields...)
	if refusal.Code == engine.RateLimited {
		SetRateLimitHeaders(&ctx.Response.Header, refusal.Limit, 0, float64(refusal.Reset)/1e9)
	}
	if refusal.Replayed {
		ctx.Response.Header.Set(HeaderReplayed, "true")
	}
	if refusal.Code == engine.PostRejected {
		ctx.SetBody(appendReasonMember(ctx.Response.Body(), refusal.Reason))
	}
}

// FromRefusal returns the API error for the code with which the engine refused a request, or Internal
// for an unknown code. For a rejected status report, the reason of the rejection replaces the general
// message.
func FromRefusal(code engine.RefusalCode, reportRejection market.StatusReportRejection) Error {
	what, known := byRefusal[code]
	if !known {
		return Internal
	}
	if reportRejection != market.RejectionNone {
		what.Message = reportRejection.String()
	}
	return what
}

// withDeliveryStopped returns BuyerUnavailable or BuyerTimeout for a delivery without further attempts:
// an operator decides. Retry-After stays short: the SDKs wait that long within the caller's request, up
// to five times.
func withDeliveryStopped(what Error) Error {
	what.Message = deliveryStoppedMessage
	return what
}

const deliveryStoppedMessage = "The attempts to post the lead to the buyer ended without a clear answer, so an operator decides about the delivery. Send the same request under the same Idempotency-Key later to receive its result."

// byRefusal maps each code with which the engine refuses a request to its API error.
var byRefusal = map[engine.RefusalCode]Error{
	engine.InvalidPayload:   InvalidPayload,
	engine.KeyReused:        KeyReused,
	engine.Forbidden:        Forbidden,
	engine.AuctionExists:    AuctionExists,
	engine.AlreadySold:      AlreadySold,
	engine.BidExpired:       BidExpired,
	engine.InvalidBidToken:  InvalidBidToken,
	engine.PostRejected:     PostRejected,
	engine.RateLimited:      TooManyAuctions,
	engine.BuyerUnavailable: BuyerUnavailable,
	engine.BuyerTimeout:     BuyerTimeout,

	engine.NotFound:          UnknownLead,
	engine.InvalidTransition: InvalidTransition,
}

// appendReasonMember adds the member "reason" to the JSON body of an error.
func appendReasonMember(body []byte, reason market.UnsoldReason) []byte {
	body = append(body[:len(body)-1], `,"reason":"`...)
	return append(append(body, reason.String()...), `"}`...)
}
