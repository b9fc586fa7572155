package server

import (
	"github.com/valyala/fasthttp"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// expected says to a client that waits with its body (Expect: 100-continue)
// whether to send it: StatusContinue, or the status of an answer that is written
// already. Refused is what the head alone is refused for: a path, a method, a
// credential, a size. A body that would only be refused is not asked for.
//
// The library wants no response changed here. It means one that the handler is
// to write after: where the body is refused it sends what it finds, and closes.
func (s *Server) expected(ctx *fasthttp.RequestCtx) (status int) {
	begun, id := s.clock.Now(), s.engine.NewRequestID()
	ctx.Response.Header.DisableNormalizing()
	on := routeNone
	defer func() {
		if cause := recover(); cause != nil {
			panicked(ctx, id, cause, s.opt.Logger)
			status = ctx.Response.StatusCode()
		}
		if status != fasthttp.StatusContinue {
			s.opt.Meter.request(on, &ctx.Response, s.clock.Now()-begun)
		}
	}()
	if bad := judgeHead(&ctx.Request.Header); bad.status != 0 {
		fail(ctx, id, bad)
		return bad.status
	}
	to := s.find(exactPath(&ctx.Request.Header))
	if on = to.on; !isOpen(ctx, id, &to) || !s.mayEnter(ctx, id, on) {
		return ctx.Response.StatusCode()
	}
	if ctx.Request.Header.ContentLength() > s.bodyLimit(&ctx.Request.Header) {
		fail(ctx, id, faultTooLarge)
		return faultTooLarge.status
	}
	return fasthttp.StatusContinue
}

// mayEnter tells whether the head's credential opens the path; where not, that was
// answered. An OAuth client may show its own in the body.
func (s *Server) mayEnter(ctx *fasthttp.RequestCtx, id market.RequestID, on route) (ok bool) {
	switch on {
	case routeIngest, routeAvailability, routeSuppliersLead:
		_, bad := s.supplierOf(ctx.Request.Header.Peek("x-api-key"), s.clock.Now())
		if ok = bad.status == 0; !ok {
			s.turnAway(ctx, id, bad)
		}
	case routePing:
		_, ok = s.sellerOf(ctx, id, event.ScopePing)
	case routePost:
		_, ok = s.sellerOf(ctx, id, event.ScopePost)
	case routeSeed:
		_, ok = s.seederOf(ctx, id)
	case routeStatus, routeStatuses:
		_, ok = s.reporterOf(ctx, id)
	case routeLead:
		_, bad := s.bearerOf(ctx, 0)
		if ok = bad.status == 0; !ok {
			s.turnAway(ctx, id, bad)
		}
	case routeToken, routeDocument:
		ok = true
	default:
		panic("BUG: a path of which nobody said who may enter")
	}
	return ok
}
