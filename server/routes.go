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

// route is a switch on the path: there are few, and each lead passes here. The
// room is given back in it, unless the handling panics: then who knows who still
// holds it.
func (s *Server) route(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, read fault) route {
	switch string(exactPath(&ctx.Request.Header)) {
	case "/api/v1/ingest":
		if s.allow(ctx, id, fasthttp.MethodPost) {
			s.ingest(ctx, id, r, read)
		} else {
			r.giveBack()
		}
		return routeIngest
	case "/v1/ping":
		if s.allow(ctx, id, fasthttp.MethodPost) {
			s.ping(ctx, id, r, read)
		}
		r.giveBack()
		return routePing
	case "/v1/post":
		if s.allow(ctx, id, fasthttp.MethodPost) {
			s.post(ctx, id, r, read)
		}
		r.giveBack()
		return routePost
	case "/api/v1/ping":
		if s.allow(ctx, id, fasthttp.MethodPost) {
			s.availability(ctx, id, r, read)
		}
		r.giveBack()
		return routeAvailability
	case "/oauth/token":
		if s.allow(ctx, id, fasthttp.MethodPost) {
			s.giveToken(ctx, id, r, read)
		}
		r.giveBack()
		return routeToken
	case "/v1/dev/seed":
		if !s.opt.Sandbox { // in earnest there is no such path
			break
		}
		if s.allow(ctx, id, fasthttp.MethodPost) {
			s.seed(ctx, id, r, read)
		}
		r.giveBack()
		return routeSeed
	}
	r.giveBack()
	fail(ctx, id, faultNotFound)
	return routeNone
}

func (s *Server) allow(ctx *fasthttp.RequestCtx, id market.RequestID, method string) bool {
	if string(ctx.Method()) == method {
		return true
	}
	fail(ctx, id, faultMethod)
	ctx.Response.Header.Set("Allow", method)
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
