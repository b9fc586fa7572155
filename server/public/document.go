package public

import (
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/server/apidocs"
	"pingpost/server/clientaddr"
	"pingpost/server/httperror"
	"pingpost/server/request"
)

// defaultDocuments is the default limit of documents per second and client network. Several
// readers behind one address may open the page at once, and it loads two documents.
const defaultDocuments = 10

// sendAPIDocument sends the OpenAPI document, or the page that displays it, without
// authentication. A document is many times as large as its request, so the number per client
// network is limited. Requests from clients with a current copy do not count.
func (s *Server) sendAPIDocument(ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, _ httperror.Error) {
	file := apidocs.MustFindFile(string(r.pathParam))
	form := file.EncodingFor(&ctx.Request.Header)
	known := request.MatchesETag(&ctx.Request.Header, form.Tag)
	if !known {
		if wait := s.countDocumentRequest(ctx); wait > 0 {
			httperror.Write(ctx, id, errTooManyDocuments.WithRetryAfter(wait))
			return
		}
	}
	if faults := request.ParameterErrors(ctx); len(faults) > 0 {
		httperror.Write(ctx, id, httperror.InvalidPayload, faults...)
		return
	}
	var text [64]byte
	ctx.Response.Header.SetBytesV(httperror.HeaderRequestID, id.AppendTo(text[:0]))
	if file.Send(ctx, form, known) && file.Policy == "" {
		ctx.Response.Header.Set("Access-Control-Allow-Origin", "*")
	}
}

// countDocumentRequest counts a document for the client's network, and writes the rate limit
// headers. Over the limit it returns how long the client must wait.
func (s *Server) countDocumentRequest(ctx *fasthttp.RequestCtx) (wait time.Duration) {
	now, header := s.clock.Now(), &ctx.Response.Header
	_, wait, full := s.documents.Take(clientaddr.NetworkOf(s.authFailures.ClientAddress(ctx)), now)
	httperror.SetRateLimitHeaders(header, s.documents.Burst(), float64(s.documents.Remaining(now, full)), float64(full)/1e9)
	return wait
}
