package server

import (
	"bytes"

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

// handler answers a request on one path. The room stays the caller's, but for
// ingest, which gives it back itself: before it waits for the log.
type handler func(s *Server, ctx *fasthttp.RequestCtx, id market.RequestID, r *room, read fault)

// route has a request answered. The room is given back in it, unless the handling
// panics: then who knows who still holds it.
func (s *Server) route(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, read fault) route {
	on, method, answer := s.find(exactPath(&ctx.Request.Header), r)
	switch {
	case on == routeNone:
		fail(ctx, id, faultNotFound)
	case !s.allow(ctx, id, method):
	case on == routeIngest:
		answer(s, ctx, id, r, read)
		return on
	default:
		answer(s, ctx, id, r, read)
	}
	r.giveBack()
	return on
}

// find is a switch on the path: there are few, and each lead passes here.
func (s *Server) find(path []byte, r *room) (on route, method string, answer handler) {
	switch string(path) {
	case "/api/v1/ingest":
		return routeIngest, fasthttp.MethodPost, (*Server).ingest
	case "/v1/ping":
		return routePing, fasthttp.MethodPost, (*Server).ping
	case "/v1/post":
		return routePost, fasthttp.MethodPost, (*Server).post
	case "/api/v1/ping":
		return routeAvailability, fasthttp.MethodPost, (*Server).availability
	case "/oauth/token":
		return routeToken, fasthttp.MethodPost, (*Server).giveToken
	case pathStatuses:
		return routeStatuses, fasthttp.MethodPost, (*Server).reportMany
	case "/v1/dev/seed":
		if s.opt.Sandbox { // in earnest there is no such path
			return routeSeed, fasthttp.MethodPost, (*Server).seed
		}
		return routeNone, "", nil
	}
	return findLead(path, r)
}

// The paths below which each lead has one of its own, and what follows its id where
// its status is reported.
const (
	pathLeads          = "/v1/leads/"
	pathSuppliersLeads = "/api/v1/leads/"
	pathStatuses       = "/v1/leads/status"
	pathStatus         = "/status"
)

// findLead finds a lead's own path, and notes in the room what stands there for its
// id: that it is none is for the handler to say, as of one that nobody knows.
func findLead(path []byte, r *room) (on route, method string, answer handler) {
	if subject, ok := bytes.CutPrefix(path, []byte(pathSuppliersLeads)); ok {
		on, method, answer, r.subject = routeSuppliersLead, fasthttp.MethodGet, (*Server).lookAsSupplier, subject
	} else if subject, ok := bytes.CutPrefix(path, []byte(pathLeads)); ok {
		on, method, answer, r.subject = routeLead, fasthttp.MethodGet, (*Server).look, subject
		if subject, ok := bytes.CutSuffix(subject, []byte(pathStatus)); ok {
			on, method, answer, r.subject = routeStatus, fasthttp.MethodPost, (*Server).report, subject
		}
	}
	if len(r.subject) == 0 || bytes.IndexByte(r.subject, '/') >= 0 {
		return routeNone, "", nil
	}
	return on, method, answer
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
