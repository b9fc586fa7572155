package httperror

import (
	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
)

// notDecidedKey is the key of the mark in the request's user values.
type notDecidedKey struct{}

// hasEvent is the mark: whether WriteNextLeaderAnswers made it.
type hasEvent bool

// WriteNotDecided answers 503 to a request about which this node has not decided and never will. It
// marks the answer, so that server/forward may send the same request to another node: that cannot
// cause a second decision.
func WriteNotDecided(ctx *fasthttp.RequestCtx, id market.RequestID) {
	Write(ctx, id, Unavailable)
	MarkNotDecided(ctx)
}

// WriteNextLeaderAnswers is WriteNotDecided for a request of which the log has an event under its
// Idempotency-Key. The next leader replays the answer. For the client it is the first one.
func WriteNextLeaderAnswers(ctx *fasthttp.RequestCtx, id market.RequestID) {
	Write(ctx, id, Unavailable)
	ctx.SetUserValue(notDecidedKey{}, hasEvent(true))
}

// MarkNotDecided marks the answer like WriteNotDecided. The caller writes the answer.
func MarkNotDecided(ctx *fasthttp.RequestCtx) { ctx.SetUserValue(notDecidedKey{}, hasEvent(false)) }

// IsNotDecided reports whether the answer is marked as not decided.
func IsNotDecided(ctx *fasthttp.RequestCtx) bool { return ctx.UserValue(notDecidedKey{}) != nil }

// NextLeaderAnswers reports whether WriteNextLeaderAnswers wrote the answer.
func NextLeaderAnswers(ctx *fasthttp.RequestCtx) bool {
	return ctx.UserValue(notDecidedKey{}) == hasEvent(true)
}

// ClearNotDecided removes the mark: before another attempt to answer the request, or because an event of
// the request was committed.
func ClearNotDecided(ctx *fasthttp.RequestCtx) { ctx.RemoveUserValue(notDecidedKey{}) }
