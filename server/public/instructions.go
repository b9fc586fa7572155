package public

import (
	"errors"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/server/httperror"
	"pingpost/server/instructions"
	"pingpost/server/request"
)

// formatsOfLinks are the formats of the instructions behind a link, by the value of the query
// parameter format.
var formatsOfLinks = map[string]bool{"html": true, "md": true, "pdf": true}

// sendPostingInstructions sends the posting instructions to which the link's token belongs: as a page, or in
// the format in the query. It needs no credential, so the number per client network is limited. A
// wrong token costs one HMAC.
func (s *Server) sendPostingInstructions(ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, _ httperror.Error) {
	if wait := s.applyDocumentRateLimit(ctx); wait > 0 {
		httperror.Write(ctx, id, errTooManyDocuments.WithRetryAfter(wait))
		return
	}
	faults := request.QueryParameterNameErrors(ctx, "format")
	format := string(ctx.QueryArgs().Peek("format"))
	if format == "" {
		format = "html"
	}
	if len(faults) == 0 && !formatsOfLinks[format] {
		faults = append(faults, market.FieldError{Field: "format", Code: errcode.FieldNotAllowedValue, Expected: "html, md or pdf"})
	}
	if len(faults) > 0 {
		httperror.Write(ctx, id, httperror.InvalidPayload, faults...)
		return
	}
	document, err := s.opt.Instructions.DocumentOfLinkToken(r.pathParam)
	if err != nil {
		sendInstructionsLinkErrorPage(ctx, id, err)
		return
	}
	links := []instructions.PageLink{{Text: "Documentation", Target: document.DocsURL}, {Text: "Download as PDF", Target: "?format=pdf"}, {Text: "Download as Markdown", Target: "?format=md"}}
	file, _, err := document.Render(format, links, time.Unix(0, s.clock.Now()))
	if err != nil {
		httperror.Write(ctx, id, httperror.Internal)
		return
	}
	setPrivatePageHeaders(ctx, id)
	if file.Policy != "" {
		ctx.Response.Header.Set("Content-Security-Policy", file.Policy)
	}
	if file.Name != "" {
		ctx.Response.Header.Set("Content-Disposition", `attachment; filename="`+file.Name+`"`)
	}
	ctx.SetContentType(file.ContentType)
	ctx.SetBody(file.Body)
}

// sendInstructionsLinkErrorPage answers a link that does not work with a page for a person. While the exchange
// cannot answer, it sends the usual error.
func sendInstructionsLinkErrorPage(ctx *fasthttp.RequestCtx, id market.RequestID, err error) {
	status, title, message := fasthttp.StatusNotFound, "This link does not work", "The address is not complete, or it never was a link to posting instructions. Copy the whole link, or ask the operator for a new one."
	switch {
	case errors.Is(err, instructions.ErrLinkEnded):
		status, title, message = fasthttp.StatusGone, "This link has ended", "It has expired, or the operator has withdrawn it. Ask the operator for a new one."
	case errors.Is(err, instructions.ErrUnavailable):
		httperror.Write(ctx, id, httperror.Unavailable)
		return
	}
	setPrivatePageHeaders(ctx, id)
	ctx.Response.Header.Set("Content-Security-Policy", instructions.PagePolicy)
	ctx.SetStatusCode(status)
	ctx.SetContentType("text/html; charset=utf-8")
	ctx.SetBody(instructions.AppendMessagePage(nil, title, message))
}

// setPrivatePageHeaders keeps instructions out of caches, search engines and other sites' logs,
// because the address alone gives access.
func setPrivatePageHeaders(ctx *fasthttp.RequestCtx, id market.RequestID) {
	var text [64]byte
	header := &ctx.Response.Header
	header.SetBytesV(httperror.HeaderRequestID, id.AppendAsText(text[:0]))
	header.Set("Cache-Control", "private, no-store")
	header.Set("X-Robots-Tag", "noindex, nofollow")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
}
