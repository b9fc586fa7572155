package public

import (
	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/server/connection"
	"pingpost/server/httperror"
	"pingpost/server/metrics"
	"pingpost/server/request"
)

// decideExpectContinue decides about a request that waits for permission to send its body (Expect:
// 100-continue). It checks the head: path, method, credential and announced size, but no rate
// limit. It returns StatusContinue, or the status of the error answer, which it has written. So a
// client does not send a body that would be rejected.
//
// The library's documentation forbids changing the response here. That concerns requests for
// which the handler still runs. After a rejection the library sends the response as it is, and
// closes the connection.
func (s *Server) decideExpectContinue(ctx *fasthttp.RequestCtx) (status int) {
	connection.RenewWriteDeadlineForLibrary(ctx, s.http.WriteTimeout)
	begun, id, e := s.clock.Now(), s.newRequestID(), s.engine.Load()
	ctx.Response.Header.DisableNormalizing()
	on := metrics.RouteNone
	defer func() {
		if cause := recover(); cause != nil {
			httperror.LogPanicAndWriteInternal(ctx, id, cause, s.opt.Logger)
			status = ctx.Response.StatusCode()
		}
		if status != fasthttp.StatusContinue && !(s.opt.Forward != nil && httperror.MaySendAgain(ctx)) {
			s.opt.Meter.CountAnswerAndLogError(on, &ctx.Response, s.clock.Now()-begun)
		}
	}()
	if bad := request.CheckHead(ctx); bad.Status != 0 {
		httperror.Write(ctx, id, bad)
		return bad.Status
	}
	to := s.matchRoute(request.TargetPath(&ctx.Request.Header))
	if on = to.metricsRoute; !checkRouteAndMethod(ctx, id, &to) || !checkNodeDecides(ctx, id, e, on) || !s.authenticateBeforeBody(ctx, id, e, on) {
		return ctx.Response.StatusCode()
	}
	if ctx.Request.Header.ContentLength() > s.maxBodyBytes(e, &ctx.Request.Header) {
		httperror.Write(ctx, id, httperror.BodyTooLarge)
		return httperror.BodyTooLarge.Status
	}
	return fasthttp.StatusContinue
}

// authenticateBeforeBody reports whether the credential in the head allows a request on this
// route. If not, it has already sent the error. For a token request it returns true, because an
// OAuth client may send its credential in the body. Documents need no credential.
func (s *Server) authenticateBeforeBody(ctx *fasthttp.RequestCtx, id market.RequestID, e *engine.Engine, requestRoute metrics.Route) (ok bool) {
	switch requestRoute {
	case metrics.RouteIngest, metrics.RoutePingForAllBids, metrics.RouteSuppliersLead:
		_, ok = s.authenticateAPIKey(ctx, id, e, ctx.Request.Header.Peek("x-api-key"), s.clock.Now())
	case metrics.RoutePing:
		_, ok = s.authenticateSupplierToken(ctx, id, e, event.ScopePing, errBuyersToken)
	case metrics.RoutePost:
		_, ok = s.authenticateSupplierToken(ctx, id, e, event.ScopePost, errBuyersToken)
	case metrics.RouteSeed:
		_, ok = s.authenticateSupplierToken(ctx, id, e, 0, errBuyersSeed)
	case metrics.RouteStatus, metrics.RouteStatuses:
		_, ok = s.authenticateReportingBuyer(ctx, id, e)
	case metrics.RouteLead:
		_, bad := s.authenticateBearer(ctx, e, 0)
		if ok = bad.Status == 0; !ok {
			s.sendAuthenticationError(ctx, id, bad)
		}
	case metrics.RouteToken, metrics.RouteDocument, metrics.RouteInstructions:
		ok = true
	default:
		panic("BUG: no rule for the credential of this route")
	}
	return ok
}
