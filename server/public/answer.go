package public

import (
	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/server/httperror"
)

// sendAnswer sends a successful answer. A replayed answer carries the request id of the
// first one.
func sendAnswer(ctx *fasthttp.RequestCtx, status int, id market.RequestID, replayed bool, body []byte) {
	ctx.SetStatusCode(status)
	ctx.SetContentType(httperror.TypeJSON)
	var text [64]byte
	ctx.Response.Header.SetBytesV(httperror.HeaderRequestID, id.AppendTo(text[:0]))
	if replayed {
		ctx.Response.Header.Set(httperror.HeaderReplayed, "true")
	}
	ctx.SetBody(body)
}
