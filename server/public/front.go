package public

import (
	"bytes"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/server/docsite"
	"pingpost/server/httperror"
	"pingpost/server/request"
)

// pathFront is the path of the page for people who open the exchange's address.
const pathFront = "/"

// sendFrontPageOr404 sends a small page with the exchange's name and whether it accepts requests. A client
// that accepts JSON but no HTML gets the 404 of an unknown path, because the API has no such path.
func (s *Server) sendFrontPageOr404(ctx *fasthttp.RequestCtx, id market.RequestID, _ *scratch, _ httperror.Error) {
	ctx.Response.Header.Set("Vary", "Accept")
	if acceptsOnlyJSON(&ctx.Request.Header) {
		httperror.Write(ctx, id, httperror.NotFound)
		return
	}
	if faults := request.QueryParameterNameErrors(ctx); len(faults) > 0 {
		httperror.Write(ctx, id, httperror.InvalidPayload, faults...)
		return
	}
	var text [64]byte
	header := &ctx.Response.Header
	header.SetBytesV(httperror.HeaderRequestID, id.AppendAsText(text[:0]))
	header.Set("Cache-Control", "no-store") // the status changes
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", docsite.Policy)
	header.Set("Referrer-Policy", "no-referrer")
	ctx.SetContentType("text/html; charset=utf-8")
	ready := s.opt.Ready == nil || s.opt.Ready() == nil
	ctx.SetBodyString(docsite.ExchangeFrontPage{Name: s.opt.Name, Sandbox: s.opt.Sandbox, Ready: ready}.HTML())
}

// acceptsOnlyJSON reports whether the header Accept names JSON and no other type that the page has.
func acceptsOnlyJSON(header *fasthttp.RequestHeader) bool {
	accept := header.Peek("Accept")
	return bytes.Contains(accept, []byte("json")) && !bytes.Contains(accept, []byte("text/html"))
}
