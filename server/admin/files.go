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

func fileHandler(file *apidocs.File) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if sendFile(ctx, file) {
			ctx.Response.Header.Set("Cross-Origin-Opener-Policy", "same-origin")
			ctx.Response.Header.Set("Cross-Origin-Resource-Policy", "same-origin")
		}
	}
}

// sendFile sends a file, or 304 if the client has it. It reports whether it sent the body.
func sendFile(ctx *fasthttp.RequestCtx, file *apidocs.File) bool {
	form := file.FormFor(&ctx.Request.Header)
	return file.Send(ctx, form, request.MatchesETag(&ctx.Request.Header, form.Tag))
}

// serveOpenAPI sends the OpenAPI document of the admin API: GET openapi.yaml.
func (a *Admin) serveOpenAPI(ctx *fasthttp.RequestCtx) { sendFile(ctx, apidocs.Admin()) }
