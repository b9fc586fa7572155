package server

import "github.com/valyala/fasthttp"

// readingRoutes are those by which operators see what is, and change nothing.
func (a *Admin) readingRoutes(add func(method, path string, h fasthttp.RequestHandler)) {
	add("GET", "/admin/v1/overview", a.overview)
	add("GET", "/admin/v1/live", a.listen)
}
