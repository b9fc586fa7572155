package server

import (
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
)

// panicked answers a request whose handling has panicked, and ends its
// connection. The process goes on: the exchange's truth is kept by a goroutine
// of the engine's own, whose panics nobody catches.
func panicked(ctx *fasthttp.RequestCtx, id market.RequestID, cause any, logger *slog.Logger) {
	logger.Error("a request's handling panicked; please report it", "request_id", id.String(),
		"cause", discreet(cause), "stack", string(debug.Stack()))
	ctx.Response.Reset()
	ctx.Response.Header.DisableNormalizing()
	fail(ctx, id, faultInternal)
	ctx.SetConnectionClose()
}

// discreet is what may be told of a panic: never what might be of a request.
func discreet(cause any) string {
	switch cause := cause.(type) {
	case runtime.Error:
		return cause.Error()
	case string:
		if rest, ok := strings.CutPrefix(cause, "BUG: "); ok {
			what, _, _ := strings.Cut(rest, ":")
			return "BUG: " + what
		}
	}
	return fmt.Sprintf("%T", cause)
}
