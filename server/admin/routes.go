package admin

import (
	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"pingpost/engine/event"
	"pingpost/server/httperror"
	"pingpost/server/request"
)

func (a *Admin) addAuthenticatedRoutes(routes *router.Router) {
	add := func(method, path string, h fasthttp.RequestHandler) {
		a.addProtectedRoute(routes, method, path, a.withBodyAndRecheckedCaller(maxBody, httperror.BodyTooLarge, a.rejectUnknownParameters(method, path, h)))
	}
	a.addSessionUserAndTokenRoutes(add)
	a.addProtectedRoute(routes, "PUT", "/admin/v1/config", a.rejectConcurrent(a.withBodyAndRecheckedCaller(maxDocument, errConfigTooLarge, a.rejectUnknownParameters("PUT", "/admin/v1/config", a.withAnswer(a.applyConfiguration)))))
	a.addConfigEntryRoutes(add, func(method, path string, h fasthttp.RequestHandler) {
		a.addProtectedRoute(routes, method, path, a.withBodyAndRecheckedCaller(maxItem, errEntryTooLarge, a.rejectUnknownParameters(method, path, h)))
	})
	add("GET", "/admin/v1/suppression", a.withAnswer(a.listSuppressionLists))
	a.addProtectedRoute(routes, "PUT", "/admin/v1/suppression/{id}", a.rejectUnknownParameters("PUT", "/admin/v1/suppression/{id}", a.uploadSuppressionList))
	add("GET", "/admin/v1/backup", a.withAnswer(a.getBackupStatus))
	add("POST", "/admin/v1/backup", a.withAnswer(a.startBackup))
	add("GET", "/admin/v1/openapi.yaml", a.serveOpenAPI)
	add("GET", "/admin/v1/hash", a.withAnswer(a.getStateHash))
	add("GET", "/admin/v1/config", a.withAnswer(a.getConfiguration))
	add("GET", "/admin/v1/deliveries", a.withEngine(a.listDeliveries))
	explain := a.explainLeadOrAuctionHandler()
	add("GET", "/admin/v1/explain", explain)
	add("GET", "/admin/v1/explain/{id}", explain)
	add("GET", "/admin/v1/statement", a.statementHandler())
	add("GET", "/admin/v1/report", a.reportHandler())
	add("POST", "/admin/v1/report/rebuild", a.withReport(a.rebuildReport))
	add("POST", "/admin/v1/erase", a.erasePersonHandler())
	add("POST", "/admin/v1/deliveries/{lead}/{how}", a.withEngine(a.resolveDelivery))
	add("GET", "/admin/v1/returns", a.withEngine(a.listPendingReturns))
	add("POST", "/admin/v1/returns/{lead}", a.withEngine(a.decideReturn))
	add("GET", "/admin/v1/suppliers/{id}/keys", a.withEngine(a.listAPIKeys))
	add("POST", "/admin/v1/suppliers/{id}/keys", a.withEngine(a.addAPIKey))
	add("DELETE", "/admin/v1/suppliers/{id}/keys/{hint}", a.withEngine(a.revokeAPIKey))
	add("GET", "/admin/v1/buyers/{id}/funds", a.withEngine(a.getBuyerBalance))
	add("POST", "/admin/v1/buyers/{id}/funds", a.withEngine(a.topUpBuyerBalance))
	add("GET", "/admin/v1/secrets", a.withEngine(a.listSecrets))
	add("PUT", "/admin/v1/secrets/{name:*}", a.withEngine(a.replaceSecret))
	for _, what := range []string{"campaigns", "buyers"} {
		add("POST", "/admin/v1/"+what+"/{id}/pause", a.pauseOrResumeHandler(what, true))
		add("POST", "/admin/v1/"+what+"/{id}/resume", a.pauseOrResumeHandler(what, false))
	}
	for what, owner := range map[string]event.ConfigObjectKind{"suppliers": event.ObjectSupplier, "buyers": event.ObjectBuyer} {
		at := "/admin/v1/" + what + "/{id}"
		add("GET", at+"/clients", a.withSupplierOrBuyerFromPath(owner, a.listOAuthClients))
		add("DELETE", at+"/clients/{client}", a.withSupplierOrBuyerFromPath(owner, a.revokeOAuthClient))
		add("POST", at+"/clients/{client}/secrets", a.withSupplierOrBuyerFromPath(owner, a.addOAuthClientSecret))
		add("DELETE", at+"/clients/{client}/secrets/{hint}", a.withSupplierOrBuyerFromPath(owner, a.revokeOAuthClientSecret))
		add("GET", at+"/tokens", a.withSupplierOrBuyerFromPath(owner, a.sandboxOnly(a.listStaticTokens)))
		add("POST", at+"/tokens", a.withSupplierOrBuyerFromPath(owner, a.sandboxOnly(a.addStaticToken)))
		add("DELETE", at+"/tokens/{token}", a.withSupplierOrBuyerFromPath(owner, a.sandboxOnly(a.revokeStaticToken)))
	}
	a.addWebhookRoutes(add)
	a.addMonitoringRoutes(add)
	add("GET", "/debug/pprof/{name:*}", a.serveGoProfile)
}

// adminQueries lists the query parameters that each operation of the admin API accepts, by
// method and path. An operation that is not in the table accepts no parameters.
var adminQueries = map[string][]string{
	"GET /admin/v1/leads":                            {"q", "campaign", "supplier", "buyer", "status", "reason", "state", "source", "test", "from", "to", "limit", "after"},
	"GET /admin/v1/auctions":                         {"campaign", "supplier", "buyer", "outcome", "test", "from", "to", "limit", "after"},
	"GET /admin/v1/unmatched":                        {"campaign", "supplier", "buyer", "from", "to"},
	"GET /admin/v1/caps":                             {"campaign", "buyer"},
	"GET /admin/v1/bench/example":                    {"campaign"},
	"GET /admin/v1/explain":                          {"id", "supplier"},
	"GET /admin/v1/explain/{id}":                     {"supplier"},
	"GET /admin/v1/statement":                        {"buyer", "supplier", "from", "to", "format"},
	"GET /admin/v1/report":                           {"by", "supplier", "buyer", "campaign", "source", "state", "reason", "zone", "from", "to", "format"},
	"GET /admin/v1/deliveries":                       {"state"},
	"GET /admin/v1/returns":                          {"limit", "after"},
	"GET /admin/v1/webhooks/{id}/dead":               {"limit", "after"},
	"GET /admin/v1/config/history":                   {"kind", "id", "limit", "after"},
	"PUT /admin/v1/config":                           {"dry"},
	"PUT /admin/v1/config/suppliers/{id}":            {"dry"},
	"DELETE /admin/v1/config/suppliers/{id}":         {"dry"},
	"PUT /admin/v1/config/buyers/{id}":               {"dry"},
	"DELETE /admin/v1/config/buyers/{id}":            {"dry"},
	"PUT /admin/v1/config/campaigns/{id}":            {"dry"},
	"DELETE /admin/v1/config/campaigns/{id}":         {"dry"},
	"PUT /admin/v1/config/suppression_lists/{id}":    {"dry"},
	"DELETE /admin/v1/config/suppression_lists/{id}": {"dry"},
	"PUT /admin/v1/suppression/{id}":                 {"mode"},
	"GET /debug/pprof/{name:*}":                      {"seconds", "debug", "gc"},
}

// rejectUnknownParameters returns a handler that answers 422 if the query has a parameter that
// adminQueries does not list for the operation, and calls h otherwise.
func (a *Admin) rejectUnknownParameters(method, path string, h fasthttp.RequestHandler) fasthttp.RequestHandler {
	known := adminQueries[method+" "+path]
	return func(ctx *fasthttp.RequestCtx) {
		if faults := request.ParameterErrors(ctx, known...); len(faults) > 0 {
			a.sendError(ctx, httperror.InvalidPayload, faults...)
			return
		}
		h(ctx)
	}
}

// addMonitoringRoutes registers the operations that show the state of the exchange or send a test
// lead. Only the test lead changes the state.
func (a *Admin) addMonitoringRoutes(add func(method, path string, h fasthttp.RequestHandler)) {
	add("GET", "/admin/v1/overview", a.withAnswer(a.getOverview))
	add("GET", "/admin/v1/live", a.withAnswer(a.streamOverview))
	add("GET", "/admin/v1/leads", a.limitConcurrentSearches(a.searchLeads))
	add("GET", "/admin/v1/auctions", a.limitConcurrentSearches(a.searchAuctions))
	add("GET", "/admin/v1/unmatched", a.limitConcurrentSearches(a.getUnsoldCounts))
	add("GET", "/admin/v1/caps", a.withEngine(a.listCapUsage))
	add("POST", "/admin/v1/bench", a.withEngine(a.ingestTestLead))
	add("GET", "/admin/v1/bench/example", a.withEngine(a.getExampleLead))
}

// withDeprecationHeaders returns a handler that calls h, and adds the headers of a deprecated
// operation if this is one. It does not support the paths of secrets and profiles, each of which
// serves several operations.
func (a *Admin) withDeprecationHeaders(method, path string, h fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		h(ctx)
		a.deprecations.WriteHeaders(ctx, method, path)
	}
}
