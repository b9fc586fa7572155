package httperror

import (
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
)

// LogPanicAndWriteInternal logs a panic in a request's handler, answers 500 and closes the connection. The
// process can continue, because handlers do not change the state. A panic in the engine's one
// goroutine that does is not recovered.
func LogPanicAndWriteInternal(ctx *fasthttp.RequestCtx, id market.RequestID, cause any, logger *slog.Logger) {
	logger.Error("a request handler panicked; please report it", "request_id", id.String(),
		"cause", redactPanic(cause), "stack", string(debug.Stack()))
	ctx.Response.Reset()
	ctx.Response.Header.DisableNormalizing()
	Write(ctx, id, Internal)
	ctx.SetConnectionClose()
}

// redactPanic describes a panic for the log, without values that may come from a request.
func redactPanic(cause any) string {
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
