package admin

import (
	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"pingpost/server/apidocs"
	"pingpost/server/dashboard"
	"pingpost/server/request"
)

// addDashboardRoutes registers the files of the dashboard. They need no authentication, because
// they contain no data: the page loads all data through the API.
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

// sendFile answers with a file, or with 304 if the client's copy is current. It reports whether
// it sent the body.
func sendFile(ctx *fasthttp.RequestCtx, file *apidocs.File) (sentBody bool) {
	form := file.EncodingFor(&ctx.Request.Header)
	return file.Send(ctx, form, request.MatchesETag(&ctx.Request.Header, form.Tag))
}

// serveOpenAPI answers GET openapi.yaml with the OpenAPI document of the admin API.
func (a *Admin) serveOpenAPI(ctx *fasthttp.RequestCtx) { sendFile(ctx, apidocs.AdminOpenAPI()) }
