package server

import (
	"bytes"
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/server/page"
)

// document gives what is there for everyone: the OpenAPI document and the page that
// shows it. Nothing is asked of who reads it.
func (s *Server) document(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, _ fault) {
	file := page.Find(string(r.subject))
	form, header := file.Plain, &ctx.Response.Header
	if ctx.Request.Header.HasAcceptEncoding("gzip") {
		form = file.Packed
	}
	var text [64]byte
	header.SetBytesV(headerRequestID, id.AppendTo(text[:0]))
	header.Set("ETag", form.Tag)
	header.Set("Cache-Control", "public, max-age=300")
	header.Set("Vary", "Accept-Encoding")
	if hasTag(&ctx.Request.Header, form.Tag) {
		ctx.SetStatusCode(fasthttp.StatusNotModified)
		return
	}
	header.Set("X-Content-Type-Options", "nosniff")
	if file.Policy == "" {
		header.Set("Access-Control-Allow-Origin", "*")
	} else {
		header.Set("Content-Security-Policy", file.Policy)
		header.Set("Referrer-Policy", "no-referrer")
	}
	if form.Tag != file.Plain.Tag {
		header.Set("Content-Encoding", "gzip")
	}
	ctx.SetStatusCode(fasthttp.StatusOK)
	ctx.SetContentType(file.Type)
	ctx.Response.SetBodyRaw(form.Body)
}

// hasTag tells whether the caller has what the tag names (RFC 9110, 13.1.2).
func hasTag(header *fasthttp.RequestHeader, tag string) bool {
	for _, line := range header.PeekAll("If-None-Match") {
		for one := range bytes.SplitSeq(line, []byte{','}) {
			said := strings.TrimPrefix(string(bytes.TrimSpace(one)), "W/")
			if said == "*" || said == tag {
				return true
			}
		}
	}
	return false
}
