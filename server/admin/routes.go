package admin

import (
	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/server/admin/alerts"
	"pingpost/server/admin/posting"
	"pingpost/server/apidocs"
	"pingpost/server/dashboard"
	"pingpost/server/docsite"
	"pingpost/server/httperror"
	"pingpost/server/instructions"
	"pingpost/server/request"
)

func (a *Admin) addAuthenticatedRoutes(routes *router.Router) {
	add := func(method, path string, h fasthttp.RequestHandler) {
		a.addProtectedRoute(routes, method, path, a.withBodyAndRecheckedCaller(maxBody, httperror.BodyTooLarge, a.rejectUnknownParameters(method, path, a.recordAction(method, path, h))))
	}
	a.addSessionUserAndTokenRoutes(add)
	a.addTeamRoutes(add)
	a.addProtectedRoute(routes, "PUT", "/admin/v1/config", a.rejectConcurrentConfigChanges(a.withBodyAndRecheckedCaller(maxDocument, errConfigTooLarge, a.rejectUnknownParameters("PUT", "/admin/v1/config", a.recordAction("PUT", "/admin/v1/config", a.withAnswerOrErrorSent(a.applyConfiguration))))))
	a.addConfigEntryHistoryDriftRoutes(add, func(method, path string, h fasthttp.RequestHandler) {
		a.addProtectedRoute(routes, method, path, a.withBodyAndRecheckedCaller(maxItem, errEntryTooLarge, a.rejectUnknownParameters(method, path, a.recordAction(method, path, h))))
	})
	add("GET", "/admin/v1/suppression", a.withAnswerOrErrorSent(a.listSuppressionLists))
	a.addProtectedRoute(routes, "PUT", "/admin/v1/suppression/{id}", a.rejectUnknownParameters("PUT", "/admin/v1/suppression/{id}", a.recordAction("PUT", "/admin/v1/suppression/{id}", a.uploadSuppressionList)))
	add("GET", "/admin/v1/backup", a.withAnswerOrErrorSent(a.getBackupStatus))
	add("POST", "/admin/v1/backup", a.withAnswerOrErrorSent(a.requestBackupNow))
	add("GET", "/admin/v1/openapi.yaml", a.serveOpenAPI)
	add("GET", "/admin/v1/hash", a.withAnswerOrErrorSent(a.getStateHash))
	add("GET", "/admin/v1/config", a.withAnswerOrErrorSent(a.getConfiguration))
	add("GET", "/admin/v1/deliveries", a.withEngine(a.listUnfinishedDeliveries))
	explain := a.explainLeadOrAuctionHandler()
	add("GET", "/admin/v1/explain", explain)
	add("GET", "/admin/v1/explain/{id}", explain)
	add("GET", "/admin/v1/statement", a.statementHandler())
	add("GET", "/admin/v1/report", a.reportHandler())
	add("POST", "/admin/v1/report/rebuild", a.withReport(a.startReportRebuild))
	add("POST", "/admin/v1/erase", a.erasePersonHandler())
	add("POST", "/admin/v1/deliveries/{lead}/{how}", a.withEngine(a.resolveUnconfirmedDelivery))
	add("GET", "/admin/v1/returns", a.withEngine(a.listPendingReturns))
	add("POST", "/admin/v1/returns/{lead}", a.withEngine(a.decideReturn))
	add("GET", "/admin/v1/suppliers/{id}/keys", a.withEngine(a.listSupplierAPIKeys))
	add("POST", "/admin/v1/suppliers/{id}/keys", a.withEngine(a.addSupplierAPIKey))
	add("DELETE", "/admin/v1/suppliers/{id}/keys/{hint}", a.withEngine(a.revokeSupplierAPIKey))
	add("GET", "/admin/v1/buyers/{id}/funds", a.withEngine(a.getBuyerBalance))
	add("POST", "/admin/v1/buyers/{id}/funds", a.withEngine(a.topUpOrCorrectBuyerBalance))
	add("GET", "/admin/v1/secrets", a.withEngine(a.listReplaceableSecretNames))
	add("PUT", "/admin/v1/secrets/{name:*}", a.withEngine(a.replaceStoredOutgoingSecret))
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
	a.addPostingInstructionRoutes(add)
	a.addWebhookRoutes(add)
	addAnswering := func(method, path string, h alerts.Handler) { add(method, path, a.withAnswerOrErrorSent(h)) }
	a.alerts.AddRoutes(addAnswering)
	a.savedReports.AddRoutes(addAnswering)
	a.cluster.AddRoutes(addAnswering)
	a.addOverviewSearchTestLeadRoutes(add)
	add("GET", "/debug/pprof/{name:*}", a.serveGoProfile)
}

// adminQueries lists the query parameters that each operation of the admin API accepts, by
// method and path. An operation that is not in the table accepts no parameters.
var adminQueries = map[string][]string{
	"GET /admin/v1/leads":                            {"q", "campaign", "supplier", "buyer", "status", "reason", "state", "source", "test", "from", "to", "period", "consistency", "limit", "after"},
	"GET /admin/v1/leads/export":                     {"q", "campaign", "supplier", "buyer", "status", "reason", "state", "source", "test", "from", "to", "period", "consistency", "format", "columns"},
	"GET /admin/v1/auctions":                         {"campaign", "supplier", "buyer", "outcome", "test", "from", "to", "period", "consistency", "limit", "after"},
	"GET /admin/v1/audit":                            {"actor", "operation", "credential", "target_kind", "target", "outcome", "q", "from", "to", "limit", "after", "format"},
	"GET /admin/v1/unmatched":                        {"campaign", "supplier", "buyer", "from", "to", "period", "consistency"},
	"GET /admin/v1/caps":                             {"campaign", "buyer"},
	"GET /admin/v1/bench/example":                    {"campaign"},
	"GET /admin/v1/campaigns/{id}/instructions":      {"supplier", "format"},
	"GET /admin/v1/explain":                          {"id", "supplier"},
	"GET /admin/v1/explain/{id}":                     {"supplier"},
	"GET /admin/v1/statement":                        {"buyer", "supplier", "from", "to", "period", "format"},
	"GET /admin/v1/report":                           {"by", "supplier", "buyer", "campaign", "source", "state", "reason", "zone", "from", "to", "period", "consistency", "format", "columns", "totals"},
	"GET /admin/v1/deliveries":                       {"state"},
	"GET /admin/v1/alerts/history":                   {"limit", "after"},
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
	"GET /admin/v1/session/oidc/callback":            {"state", "code", "iss", "error"}, // and any others
	"GET /debug/pprof/{name:*}":                      {"seconds", "debug", "gc"},
}

// rejectUnknownParameters returns a handler that answers 422 if the query has a parameter that
// adminQueries does not list for the operation, and calls h otherwise.
func (a *Admin) rejectUnknownParameters(method, path string, h fasthttp.RequestHandler) fasthttp.RequestHandler {
	known := adminQueries[method+" "+path]
	return func(ctx *fasthttp.RequestCtx) {
		if faults := request.QueryParameterNameErrors(ctx, known...); len(faults) > 0 {
			a.sendError(ctx, httperror.InvalidPayload, faults...)
			return
		}
		h(ctx)
	}
}

// addOverviewSearchTestLeadRoutes registers the operations that show the state of the exchange or send a test
// lead. Only the test lead changes the state.
func (a *Admin) addOverviewSearchTestLeadRoutes(add func(method, path string, h fasthttp.RequestHandler)) {
	add("GET", "/admin/v1/overview", a.withAnswerOrErrorSent(a.getOverview))
	add("GET", "/admin/v1/live", a.withAnswerOrErrorSent(a.streamOverview))
	add("GET", "/admin/v1/leads", a.withReportAndSearchSlot(a.searchLeads))
	add("POST", "/admin/v1/leads/find", a.withEngine(a.findLeadsOfPerson))
	add("POST", "/admin/v1/leads/{id}/reveal", a.withEngine(a.revealContact))
	add("GET", "/admin/v1/audit", a.auditHandler())
	add("GET", "/admin/v1/leads/export", a.leadExportHandler())
	add("GET", "/admin/v1/auctions", a.withReportAndSearchSlot(a.searchAuctions))
	add("GET", "/admin/v1/unmatched", a.withReportAndSearchSlot(a.getUnsoldSummary))
	add("GET", "/admin/v1/caps", a.withEngine(a.listCapUsage))
	add("POST", "/admin/v1/bench", a.withEngine(a.ingestOrDryRunTestLead))
	add("GET", "/admin/v1/bench/example", a.withEngine(a.getExampleLead))
}

// addPostingInstructionRoutes registers the operations on posting instructions for suppliers.
func (a *Admin) addPostingInstructionRoutes(add func(method, path string, h fasthttp.RequestHandler)) {
	withPublisher := func(h func(*fasthttp.RequestCtx, *instructions.Publisher) (any, error)) fasthttp.RequestHandler {
		return a.withEngine(func(ctx *fasthttp.RequestCtx, _ *engine.Engine) (any, error) {
			return h(ctx, a.exchange.PostingInstructions())
		})
	}
	add("GET", "/admin/v1/campaigns/{id}/instructions", withPublisher(posting.GetInstructions))
	add("POST", "/admin/v1/campaigns/{id}/instructions/link", withPublisher(posting.AddLink))
	add("DELETE", "/admin/v1/suppliers/{id}/instructions/links", withPublisher(func(ctx *fasthttp.RequestCtx, p *instructions.Publisher) (any, error) {
		return posting.RevokeLinks(ctx, p, callerNameOf(ctx))
	}))
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

// help is the prefix of the documentation's paths on the admin address, such as /help/docs/adapters.
const help = "/help"

// addFileRoutes registers the files of the dashboard, and the documentation to which it links. They
// need no authentication, because they contain no data: the page loads all data through the API.
func (a *Admin) addFileRoutes(routes *router.Router) {
	a.files = map[string]bool{docsite.Home: true}
	add := func(prefix, file string, find func(path string) *apidocs.File) {
		at := prefix + file
		a.files[at] = true
		serve := a.rejectUnknownParameters("GET", at, singleFileHandler(file, find))
		routes.GET(at, serve)
		routes.HEAD(at, serve)
	}
	for _, at := range dashboard.Paths() {
		add("", at, dashboard.FindFile)
	}
	for _, at := range docsite.Paths() {
		add(help, at, docsite.FindFile)
	}
	for _, at := range []string{apidocs.PathYAML, apidocs.PathJSON} {
		add(help, at, apidocs.FindFile)
	}
	routes.GET(docsite.Home, a.rejectUnknownParameters("GET", docsite.Home, redirectToDocs))
}

// redirectToDocs redirects the path of the documentation on the public address to its path here. The
// location is relative, so that it is right behind a proxy that serves the address below a path.
func redirectToDocs(ctx *fasthttp.RequestCtx) {
	header := &ctx.Response.Header
	header.Set(httperror.HeaderRequestID, httperror.NewRequestID().String())
	header.Set("Cache-Control", docsite.Cache)
	header.Set("Location", "."+help+docsite.Home)
	ctx.SetStatusCode(fasthttp.StatusPermanentRedirect)
}

// singleFileHandler returns a handler that sends the file at a path. It looks the file up for each request,
// because the first look-up compresses it.
func singleFileHandler(at string, find func(path string) *apidocs.File) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if sendFile(ctx, find(at)) {
			ctx.Response.Header.Set("Cross-Origin-Opener-Policy", "same-origin")
			ctx.Response.Header.Set("Cross-Origin-Resource-Policy", "same-origin")
		}
	}
}

// sendFile answers with a file, or with 304 if the client's copy is current. It reports whether
// it sent the body.
func sendFile(ctx *fasthttp.RequestCtx, file *apidocs.File) (sentBody bool) {
	form := file.EncodingFor(&ctx.Request.Header)
	return file.Send(ctx, form, request.IfNoneMatchHasETag(&ctx.Request.Header, form.Tag))
}

// serveOpenAPI answers GET openapi.yaml with the OpenAPI document of the admin API.
func (a *Admin) serveOpenAPI(ctx *fasthttp.RequestCtx) { sendFile(ctx, apidocs.AdminOpenAPI()) }
