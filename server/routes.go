package server

import (
	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
)

// handle answers one request.
func (s *Server) handle(ctx *fasthttp.RequestCtx) {
	begun, id := s.clock.Now(), s.engine.NewRequestID()
	ctx.Response.Header.DisableNormalizing() // names go out as the contract spells them
	on := routeNone
	defer func() {
		if cause := recover(); cause != nil {
			panicked(ctx, id, cause, s.opt.Logger)
			s.opt.Meter.request(on, ctx.Response.StatusCode(), s.clock.Now()-begun)
		}
	}()
	r := takeRoom()
	r.readHead(&ctx.Request.Header)
	if bad := judgeHead(&ctx.Request.Header); bad.status != 0 {
		r.giveBack()
		fail(ctx, id, bad)
		ctx.SetConnectionClose()
	} else if read := s.readBody(ctx, r); read.status != 0 && read != faultTooLarge {
		r.giveBack()
		fail(ctx, id, read)
	} else {
		on = s.route(ctx, id, r, read)
	}
	dismiss(ctx)
	s.opt.Meter.request(on, ctx.Response.StatusCode(), s.clock.Now()-begun)
}

// routeOf is a switch on the path: there are few, and each lead passes here.
func (s *Server) routeOf(header *fasthttp.RequestHeader) route {
	switch string(exactPath(header)) {
	case "/api/v1/ingest":
		return routeIngest
	case "/v1/ping":
		return routePing
	case "/v1/post":
		return routePost
	case "/api/v1/ping":
		return routeAvailability
	case "/oauth/token":
		return routeToken
	case "/v1/dev/seed":
		if s.opt.Sandbox { // in earnest there is no such path
			return routeSeed
		}
	}
	return routeNone
}

// route has the request handled. The room is given back in it, unless the handling
// panics: then who knows who still holds it.
func (s *Server) route(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, read fault) route {
	on := s.routeOf(&ctx.Request.Header)
	switch {
	case !isOpen(ctx, id, on): // answered
	case on == routeIngest:
		s.ingest(ctx, id, r, read)
		return on
	case on == routePing:
		s.ping(ctx, id, r, read)
	case on == routePost:
		s.post(ctx, id, r, read)
	case on == routeAvailability:
		s.availability(ctx, id, r, read)
	case on == routeToken:
		s.giveToken(ctx, id, r, read)
	case on == routeSeed:
		s.seed(ctx, id, r, read)
	}
	r.giveBack()
	return on
}

// isOpen tells whether there is something at the path that takes the method; where
// not, that was answered.
func isOpen(ctx *fasthttp.RequestCtx, id market.RequestID, on route) bool {
	switch {
	case on == routeNone:
		fail(ctx, id, faultNotFound)
	case string(ctx.Method()) != fasthttp.MethodPost:
		fail(ctx, id, faultMethod)
		ctx.Response.Header.Set("Allow", fasthttp.MethodPost)
	default:
		return true
	}
	return false
}

// unreadable answers what the HTTP library could not read; it closes the
// connection after.
func (s *Server) unreadable(ctx *fasthttp.RequestCtx, err error) {
	ctx.Response.Header.DisableNormalizing()
	what := unread(err)
	fail(ctx, s.engine.NewRequestID(), what)
	s.opt.Meter.request(routeNone, what.status, 0)
}
