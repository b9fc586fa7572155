package admin

import (
	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"pingpost/server/apidocs"
	"pingpost/server/dashboard"
	"pingpost/server/request"
)

// addDashboardRoutes adds the files of the dashboard. They contain no data and need no
// authentication; the page loads data through the API.
func (a *Admin) addDashboardRoutes(routes *router.Router) {
	for _, at := range dashboard.Paths() {
		serve := a.rejectUnknownParameters("GET", at, fileHandler(dashboard.FindFile(at)))
		routes.GET(at, serve)
		routes.HEAD(at, serve)
	}
}

func fileHandler(file *dashboard.File) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		form, header := &file.Plain, &ctx.Response.Header
		if len(file.Gzip.Body) > 0 && ctx.Request.Header.HasAcceptEncoding("gzip") {
			form = &file.Gzip
		}
		header.Set("ETag", form.Tag)
		header.Set("Cache-Control", file.Cache)
		header.Set("Vary", "Accept-Encoding")
		if request.MatchesETag(&ctx.Request.Header, form.Tag) {
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

// serveOpenAPI sends the OpenAPI document of the admin API: GET openapi.yaml.
func (a *Admin) serveOpenAPI(ctx *fasthttp.RequestCtx) {
	file := apidocs.Admin()
	form, header := &file.Plain, &ctx.Response.Header
	if ctx.Request.Header.HasAcceptEncoding("gzip") {
		form = &file.Packed
	}
	header.Set("ETag", form.Tag)
	header.Set("Cache-Control", "no-cache")
	header.Set("Vary", "Accept-Encoding")
	if request.MatchesETag(&ctx.Request.Header, form.Tag) {
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
