package server

import (
	"github.com/valyala/fasthttp"

	"pingpost/server/page"
)

// openapi gives the OpenAPI document of this address: GET openapi.yaml.
func (a *Admin) openapi(ctx *fasthttp.RequestCtx) {
	file := page.Admin()
	form, header := &file.Plain, &ctx.Response.Header
	if ctx.Request.Header.HasAcceptEncoding("gzip") {
		form = &file.Packed
	}
	header.Set("ETag", form.Tag)
	header.Set("Cache-Control", "no-cache")
	header.Set("Vary", "Accept-Encoding")
	if hasTag(&ctx.Request.Header, form.Tag) {
		ctx.SetStatusCode(fasthttp.StatusNotModified)
		return
	}
	header.Set("X-Content-Type-Options", "nosniff")
	if form == &file.Packed {
		header.Set("Content-Encoding", "gzip")
	}
	ctx.SetContentType(file.Type)
	ctx.Response.SetBodyRaw(form.Body)
}
