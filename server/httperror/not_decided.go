package httperror

import (
	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
)

// notDecidedKey is the key of the mark in the request's user values.
type notDecidedKey struct{}

// WriteNotDecided answers 503 to a request about which this node has not decided and never will. It
// marks the answer, so that server/forward may send the same request to another node: that cannot
// cause a second decision.
func WriteNotDecided(ctx *fasthttp.RequestCtx, id market.RequestID) {
	Write(ctx, id, Unavailable)
	MarkNotDecided(ctx)
}

// MarkNotDecided marks the answer like WriteNotDecided. The caller writes the answer.
func MarkNotDecided(ctx *fasthttp.RequestCtx) { ctx.SetUserValue(notDecidedKey{}, true) }

// IsNotDecided reports whether the answer is marked as not decided.
func IsNotDecided(ctx *fasthttp.RequestCtx) bool { return ctx.UserValue(notDecidedKey{}) != nil }

// ClearNotDecided removes the mark: before another attempt to answer the request, or because an event of
// the request was committed.
func ClearNotDecided(ctx *fasthttp.RequestCtx) { ctx.RemoveUserValue(notDecidedKey{}) }
