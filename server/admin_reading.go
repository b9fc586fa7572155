package server

import "github.com/valyala/fasthttp"

// readingRoutes are those by which operators see what is, and try what would be. They change
// nothing; a test lead is logged as one.
func (a *Admin) readingRoutes(add func(method, path string, h fasthttp.RequestHandler)) {
	add("GET", "/admin/v1/overview", a.overview)
	add("GET", "/admin/v1/live", a.listen)
	add("GET", "/admin/v1/leads", a.searching(a.searchLeads))
	add("GET", "/admin/v1/auctions", a.searching(a.searchAuctions))
	add("GET", "/admin/v1/unmatched", a.searching(a.unmatched))
	add("GET", "/admin/v1/caps", a.caps)
	add("POST", "/admin/v1/bench", a.bench)
	add("GET", "/admin/v1/bench/example", a.benchExample)
}
