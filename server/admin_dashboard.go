package server

import (
	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"pingpost/server/dashboard"
)

// dashboard registers the operators' page. Its files hold nothing, so nothing is asked of
// who loads them; what they show they ask for like anyone.
func (a *Admin) dashboard(routes *router.Router) {
	for _, at := range dashboard.Paths() {
		serve := sendFile(dashboard.Find(at))
		routes.GET(at, serve)
		routes.HEAD(at, serve)
	}
}

func sendFile(file *dashboard.File) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		form, header := &file.Plain, &ctx.Response.Header
		if len(file.Gzip.Body) > 0 && ctx.Request.Header.HasAcceptEncoding("gzip") {
			form = &file.Gzip
		}
		header.Set("ETag", form.Tag)
		header.Set("Cache-Control", file.Cache)
		header.Set("Vary", "Accept-Encoding")
		if hasTag(&ctx.Request.Header, form.Tag) {
			ctx.SetStatusCode(fasthttp.StatusNotModified)
			return
		}
		header.Set("Content-Security-Policy", dashboard.Policy)
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("X-Content-Type-Options", "nosniff")
		if form == &file.Gzip {
			header.Set("Content-Encoding", "gzip")
		}
		ctx.SetContentType(file.Type)
		ctx.Response.SetBodyRaw(form.Body)
	}
}
