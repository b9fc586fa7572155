package public

import (
	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/server/httperror"
)

// sendAnswer sends a successful JSON answer. For a repeated request, replayed is set, and id is
// the id of the first request with the same idempotency key.
func sendAnswer(ctx *fasthttp.RequestCtx, status int, id market.RequestID, replayed bool, body []byte) {
	ctx.SetStatusCode(status)
	ctx.SetContentType(httperror.TypeJSON)
	var text [64]byte
	ctx.Response.Header.SetBytesV(httperror.HeaderRequestID, id.AppendAsText(text[:0]))
	if replayed {
		ctx.Response.Header.Set(httperror.HeaderReplayed, "true")
	}
	ctx.SetBody(body)
}
