package public

import (
	"bytes"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/server/apidocs"
	"pingpost/server/connection"
	"pingpost/server/docsite"
	"pingpost/server/httperror"
	"pingpost/server/instructions"
	"pingpost/server/metrics"
	"pingpost/server/request"
)

// handleRequest answers every request to the public address. It reads the body, finds the route, and
// calls its handler. It also counts, traces and, after a panic, answers the request.
func (s *Server) handleRequest(ctx *fasthttp.RequestCtx) {
	begun, id := s.clock.Now(), s.newRequestID()
	ctx.Response.Header.DisableNormalizing() // header names keep the spelling of the contract
	on := metrics.RouteNone
	traced := s.beginTraceIfSampled(&ctx.Request.Header, id, begun)
	defer func() { // also counts and traces a panic under its route
		if cause := recover(); cause != nil {
			httperror.LogPanicAndWriteInternal(ctx, id, cause, s.opt.Logger)
		}
		connection.CloseUnauthenticatedOn4xxIfMoreThanHalfFull(ctx)
		if s.opt.Forward != nil && httperror.MaySendAgain(ctx) {
			return // no client gets this answer: the request is sent to the leader
		}
		ended := s.clock.Now()
		s.opt.Meter.CountAnswerAndLogError(on, &ctx.Response, ended-begun)
		s.endTrace(traced, on, &ctx.Response, ended)
	}()
	r := takeScratchFromPool()
	r.engine = s.engine.Load()
	r.timings = metrics.RequestTimings{Begun: begun, Trace: traced}
	r.copyHeadersBeforeReadingBody(&ctx.Request.Header)
	if bad := request.CheckHead(ctx); bad.Status != 0 {
		r.releaseToPool()
		httperror.Write(ctx, id, bad)
		connection.CloseAfterAnswerDrainUnlessTimeout(ctx, bad)
	} else if readErr := s.readBody(ctx, r); readErr.Status != 0 && readErr != httperror.BodyTooLarge {
		r.releaseToPool()
		httperror.Write(ctx, id, readErr)
	} else {
		to := s.matchRoute(request.TargetPath(&ctx.Request.Header))
		on = to.metricsRoute
		s.dispatchAndReleaseScratch(ctx, id, r, readErr, &to)
	}
}

// routeHandler answers requests on one route. readErr is the error of reading the body, if any. The
// caller releases r, except for ingest, which releases r before it waits for the log.
type routeHandler func(s *Server, ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, readErr httperror.Error)

// matchedRoute describes how a path is handled. subject is the variable part of the path: a lead's id,
// the token of a link to posting instructions, or the whole path of a document. It is nil for the other
// paths. It is valid only during the request. The handler answers a malformed id like an unknown one.
type matchedRoute struct {
	metricsRoute metrics.Route
	method       string
	head         bool // also accepts HEAD
	handle       routeHandler
	subject      []byte
}

// dispatchAndReleaseScratch calls the route's handler and then releases the scratch memory r, unless
// the handler of an ingest has done so. After a panic it does not release r, because another
// goroutine may still use it.
func (s *Server) dispatchAndReleaseScratch(ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, readErr httperror.Error, to *matchedRoute) {
	if checkRouteAndMethod(ctx, id, to) && checkNodeDecides(ctx, id, r.engine, to.metricsRoute) {
		r.pathParam = to.subject
		to.handle(s, ctx, id, r, readErr)
		if s.deprecations != nil {
			s.deprecations.WriteHeaders(ctx, to.method, to.pathInOpenAPI())
		}
		if to.metricsRoute == metrics.RouteIngest {
			return
		}
	}
	r.releaseToPool()
}

// checkRouteAndMethod reports whether the path exists and allows the request's method. If not, it has
// already sent a 404 or 405.
func checkRouteAndMethod(ctx *fasthttp.RequestCtx, id market.RequestID, to *matchedRoute) (allowed bool) {
	switch {
	case to.metricsRoute == metrics.RouteNone:
		httperror.Write(ctx, id, httperror.NotFound)
	case string(ctx.Method()) != to.method && !(to.head && ctx.IsHead()):
		httperror.Write(ctx, id, httperror.MethodNotAllowed)
		ctx.Response.Header.Set("Allow", to.allowedMethods())
	default:
		return true
	}
	return false
}

// checkNodeDecides reports whether the request can be handled: it has an engine, or its route needs
// none. If not, it has already sent a 503.
func checkNodeDecides(ctx *fasthttp.RequestCtx, id market.RequestID, e *engine.Engine, on metrics.Route) bool {
	if e != nil || on == metrics.RouteDocument {
		return true
	}
	httperror.WriteMaySendAgain(ctx, id)
	return false
}

// pathInOpenAPI returns the route's path as the OpenAPI document spells it, such as
// /v1/leads/{id}.
func (t *matchedRoute) pathInOpenAPI() string {
	switch {
	case t.metricsRoute == metrics.RouteDocument && bytes.HasPrefix(t.subject, []byte(docsite.Prefix)):
		return docsite.Prefix + "{page}"
	case t.metricsRoute == metrics.RouteDocument:
		return string(t.subject)
	}
	return metrics.RouteNames[t.metricsRoute]
}

// allowedMethods returns the route's methods for the header Allow.
func (t *matchedRoute) allowedMethods() string {
	if t.head {
		return t.method + ", " + fasthttp.MethodHead
	}
	return t.method
}

// matchRoute returns the route of a path, or the zero route for an unknown path. It is a switch
// and not a map, because there are few paths and each lead passes here.
func (s *Server) matchRoute(path []byte) matchedRoute {
	switch string(path) {
	case "/api/v1/ingest":
		return matchedRoute{metricsRoute: metrics.RouteIngest, method: fasthttp.MethodPost, handle: (*Server).handleIngest}
	case "/v1/ping":
		return matchedRoute{metricsRoute: metrics.RoutePing, method: fasthttp.MethodPost, handle: (*Server).handlePing}
	case "/v1/post":
		return matchedRoute{metricsRoute: metrics.RoutePost, method: fasthttp.MethodPost, handle: (*Server).handlePost}
	case "/api/v1/ping":
		return matchedRoute{metricsRoute: metrics.RoutePingForAllBids, method: fasthttp.MethodPost, handle: (*Server).handlePingForAllBids}
	case "/oauth/token":
		return matchedRoute{metricsRoute: metrics.RouteToken, method: fasthttp.MethodPost, handle: (*Server).issueToken}
	case pathStatuses:
		return matchedRoute{metricsRoute: metrics.RouteStatuses, method: fasthttp.MethodPost, handle: (*Server).handleStatusReportBatch}
	case "/v1/dev/seed":
		if s.opt.Sandbox { // production has no such path
			return matchedRoute{metricsRoute: metrics.RouteSeed, method: fasthttp.MethodPost, handle: (*Server).handleMadeUpLeadsRequest}
		}
		return matchedRoute{}
	case apidocs.PathYAML, apidocs.PathJSON, docsite.Home:
		return matchedRoute{metricsRoute: metrics.RouteDocument, method: fasthttp.MethodGet, head: true, handle: (*Server).sendDocument, subject: path}
	case docsite.Prefix:
		return matchedRoute{metricsRoute: metrics.RouteDocument, method: fasthttp.MethodGet, head: true, handle: (*Server).redirectToDocs, subject: path}
	case pathFront:
		return matchedRoute{metricsRoute: metrics.RouteDocument, method: fasthttp.MethodGet, head: true, handle: (*Server).sendFrontPageOr404, subject: path}
	}
	if bytes.HasPrefix(path, []byte(docsite.Prefix)) && docsite.FindFile(string(path)) != nil {
		return matchedRoute{metricsRoute: metrics.RouteDocument, method: fasthttp.MethodGet, head: true, handle: (*Server).sendDocument, subject: path}
	}
	if token, ok := bytes.CutPrefix(path, []byte(instructions.PathPrefix)); ok {
		if s.opt.Instructions == nil || len(token) == 0 || bytes.IndexByte(token, '/') >= 0 {
			return matchedRoute{}
		}
		return matchedRoute{metricsRoute: metrics.RouteInstructions, method: fasthttp.MethodGet, head: true, handle: (*Server).sendPostingInstructions, subject: token}
	}
	return matchLeadPath(path)
}

// Prefixes and suffixes of the paths of leads.
const (
	pathLeads          = "/v1/leads/"
	pathSuppliersLeads = "/api/v1/leads/"
	pathStatuses       = "/v1/leads/status"
	pathStatus         = "/status"
)

// matchLeadPath returns the route of a path that contains a lead's id, or the zero route.
func matchLeadPath(path []byte) (to matchedRoute) {
	if subject, ok := bytes.CutPrefix(path, []byte(pathSuppliersLeads)); ok {
		to = matchedRoute{metricsRoute: metrics.RouteSuppliersLead, method: fasthttp.MethodGet, handle: (*Server).answerLeadLookupWithAPIKeyAuth, subject: subject}
	} else if subject, ok := bytes.CutPrefix(path, []byte(pathLeads)); ok {
		to = matchedRoute{metricsRoute: metrics.RouteLead, method: fasthttp.MethodGet, handle: (*Server).answerLeadLookupWithBearerAuth, subject: subject}
		if subject, ok := bytes.CutSuffix(subject, []byte(pathStatus)); ok {
			to = matchedRoute{metricsRoute: metrics.RouteStatus, method: fasthttp.MethodPost, handle: (*Server).handleStatusReport, subject: subject}
		}
	}
	if len(to.subject) == 0 || bytes.IndexByte(to.subject, '/') >= 0 {
		return matchedRoute{}
	}
	return to
}

// answerUnreadableRequest answers a request that the HTTP library could not read: malformed, too large
// or too slow. The library then closes the connection.
func (s *Server) answerUnreadableRequest(ctx *fasthttp.RequestCtx, err error) {
	connection.RenewWriteDeadlineForLibrary(ctx, s.http.WriteTimeout)
	ctx.Response.Header.DisableNormalizing()
	bad := request.ErrorOfFailedRead(err)
	httperror.Write(ctx, s.newRequestID(), bad)
	connection.CloseAfterAnswerDrainUnlessTimeout(ctx, bad)
	s.opt.Meter.CountAnswerAndLogError(metrics.RouteNone, &ctx.Response, 0)
}
