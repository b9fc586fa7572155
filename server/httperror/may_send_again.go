package httperror

import (
	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
)

// maySendAgainKey is the key of the mark in the request's user values. The mark says that another node may get the
// same request: its leader cannot decide differently.
type maySendAgainKey struct{}

// hasEvent is the mark: whether WriteNextLeaderAnswers made it.
type hasEvent bool

// WriteMaySendAgain answers 503 to a request about which this node has not decided and never will. It marks the
// answer: server/forward may send the same request to another node.
func WriteMaySendAgain(ctx *fasthttp.RequestCtx, id market.RequestID) {
	Write(ctx, id, Unavailable)
	MarkMaySendAgain(ctx)
}

// WriteNextLeaderAnswers answers and marks like WriteMaySendAgain, for a request of which the log has an event under
// its Idempotency-Key. The next leader replays the answer. For the client it is the first one.
func WriteNextLeaderAnswers(ctx *fasthttp.RequestCtx, id market.RequestID) {
	Write(ctx, id, Unavailable)
	ctx.SetUserValue(maySendAgainKey{}, hasEvent(true))
}

// MarkMaySendAgain marks the answer like WriteMaySendAgain. The caller writes the answer.
func MarkMaySendAgain(ctx *fasthttp.RequestCtx) { ctx.SetUserValue(maySendAgainKey{}, hasEvent(false)) }

// MaySendAgain reports whether the answer has the mark of WriteMaySendAgain, MarkMaySendAgain or
// WriteNextLeaderAnswers.
func MaySendAgain(ctx *fasthttp.RequestCtx) bool { return ctx.UserValue(maySendAgainKey{}) != nil }

// NextLeaderAnswers reports whether WriteNextLeaderAnswers wrote the answer.
func NextLeaderAnswers(ctx *fasthttp.RequestCtx) bool {
	return ctx.UserValue(maySendAgainKey{}) == hasEvent(true)
}

// ClearMaySendAgain removes the mark: before another attempt to answer the request, or because an event of
// the request was committed.
func ClearMaySendAgain(ctx *fasthttp.RequestCtx) { ctx.RemoveUserValue(maySendAgainKey{}) }
