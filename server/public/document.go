package public

import (
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/server/apidocs"
	"pingpost/server/clientaddr"
	"pingpost/server/docsite"
	"pingpost/server/httperror"
	"pingpost/server/metrics"
	"pingpost/server/request"
)

// defaultDocuments is the default limit of documents per second and client network. Several
// readers behind one address may open a page at once, and its first visit loads five files.
const defaultDocuments = 50

// findDocument returns the OpenAPI document or the file of the documentation at a path, or nil.
func findDocument(path string) *apidocs.File {
	if file := apidocs.FindFile(path); file != nil {
		return file
	}
	return docsite.FindFile(path)
}

// sendDocument sends the OpenAPI document, or a file of the documentation, without
// authentication. A document is many times as large as its request, so the number per client
// network is limited. Requests from clients with a current copy do not count.
func (s *Server) sendDocument(ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, _ httperror.Error) {
	file := findDocument(string(r.pathParam))
	form := file.EncodingFor(&ctx.Request.Header)
	known := request.IfNoneMatchHasETag(&ctx.Request.Header, form.Tag)
	if !known {
		if wait := s.applyDocumentRateLimit(ctx); wait > 0 {
			httperror.Write(ctx, id, errTooManyDocuments.WithRetryAfter(wait))
			return
		}
	}
	if faults := request.QueryParameterNameErrors(ctx); len(faults) > 0 {
		httperror.Write(ctx, id, httperror.InvalidPayload, faults...)
		return
	}
	var text [64]byte
	ctx.Response.Header.SetBytesV(httperror.HeaderRequestID, id.AppendAsText(text[:0]))
	if file.Send(ctx, form, known) && file.Policy == "" {
		ctx.Response.Header.Set("Access-Control-Allow-Origin", "*")
	}
}

// redirectToDocs redirects /docs/ to /docs. The location is relative, so that it is right behind a
// proxy that serves the exchange below a path.
func (s *Server) redirectToDocs(ctx *fasthttp.RequestCtx, id market.RequestID, _ *scratch, _ httperror.Error) {
	var text [64]byte
	ctx.Response.Header.SetBytesV(httperror.HeaderRequestID, id.AppendAsText(text[:0]))
	ctx.Response.Header.Set("Cache-Control", docsite.Cache)
	ctx.Response.Header.Set("Location", "../docs") // not ctx.Redirect, which makes an absolute URL of it
	ctx.SetStatusCode(fasthttp.StatusPermanentRedirect)
}

// applyDocumentRateLimit counts a document for the client's network, and writes the rate limit
// headers. Over the limit it returns how long the client must wait.
func (s *Server) applyDocumentRateLimit(ctx *fasthttp.RequestCtx) (wait time.Duration) {
	now, header := s.clock.Now(), &ctx.Response.Header
	_, wait, full := s.documents.Take(clientaddr.NetworkForLimits(s.authFailures.ClientAddress(ctx)), now)
	httperror.SetRateLimitHeaders(header, s.documents.Burst(), float64(s.documents.Remaining(now, full)), float64(full)/1e9)
	return wait
}

// serveDocumentsAndForward returns a handler that answers requests for documents on this node, because
// they need no decision. It calls next for all others.
func (s *Server) serveDocumentsAndForward(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if s.matchRoute(request.TargetPath(&ctx.Request.Header)).metricsRoute == metrics.RouteDocument {
			s.handleRequest(ctx)
			return
		}
		next(ctx)
	}
}
