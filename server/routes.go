package server

import (
	"bytes"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/server/page"
)

// handle answers one request.
func (s *Server) handle(ctx *fasthttp.RequestCtx) {
	begun, id := s.clock.Now(), s.engine.NewRequestID()
	ctx.Response.Header.DisableNormalizing() // names go out as the contract spells them
	on := routeNone
	defer func() {
		if cause := recover(); cause != nil {
			panicked(ctx, id, cause, s.opt.Logger)
			s.opt.Meter.request(on, &ctx.Response, s.clock.Now()-begun)
		}
	}()
	r := takeRoom()
	traced := s.beginTrace(&ctx.Request.Header, id, begun)
	r.lap = lap{begun: begun, traced: traced}
	r.readHead(&ctx.Request.Header)
	if bad := judgeHead(&ctx.Request.Header); bad.status != 0 {
		r.giveBack()
		fail(ctx, id, bad)
		cutOff(ctx, bad)
	} else if read := s.readBody(ctx, r); read.status != 0 && read != faultTooLarge {
		r.giveBack()
		fail(ctx, id, read)
	} else {
		on = s.route(ctx, id, r, read)
	}
	dismiss(ctx)
	ended := s.clock.Now()
	s.opt.Meter.request(on, &ctx.Response, ended-begun)
	s.endTrace(traced, on, &ctx.Response, ended)
}

// handler answers a request on one path. The room stays the caller's, but for
// ingest, which gives it back itself: before it waits for the log.
type handler func(s *Server, ctx *fasthttp.RequestCtx, id market.RequestID, r *room, read fault)

// target is what a path leads to. The path of a document is its subject. A lead's own path has what stands there for its id
// as its subject, which is the library's memory: that it is no id is for the handler
// to say, as of one that nobody knows.
type target struct {
	on      route
	method  string
	head    bool // HEAD is taken as well
	answer  handler
	subject []byte
}

// route has a request answered. The room is given back in it, unless the handling
// panics: then who knows who still holds it.
func (s *Server) route(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, read fault) route {
	to := s.find(exactPath(&ctx.Request.Header))
	if isOpen(ctx, id, &to) {
		r.subject = to.subject
		to.answer(s, ctx, id, r, read)
		if s.endings != nil {
			s.endings.tell(ctx, to.method, to.path())
		}
		if to.on == routeIngest {
			return to.on
		}
	}
	r.giveBack()
	return to.on
}

// isOpen tells whether there is something at the path that takes the method; where
// not, that was answered.
func isOpen(ctx *fasthttp.RequestCtx, id market.RequestID, to *target) bool {
	switch {
	case to.on == routeNone:
		fail(ctx, id, faultNotFound)
	case string(ctx.Method()) != to.method && !(to.head && ctx.IsHead()):
		fail(ctx, id, faultMethod)
		ctx.Response.Header.Set("Allow", to.allows())
	default:
		return true
	}
	return false
}

// path is how the OpenAPI document has the path.
func (t *target) path() string {
	if t.on == routeDocument {
		return string(t.subject)
	}
	return routeNames[t.on]
}

// allows are the methods that it takes.
func (t *target) allows() string {
	if t.head {
		return t.method + ", " + fasthttp.MethodHead
	}
	return t.method
}

// find is a switch on the path: there are few, and each lead passes here.
func (s *Server) find(path []byte) target {
	switch string(path) {
	case "/api/v1/ingest":
		return target{on: routeIngest, method: fasthttp.MethodPost, answer: (*Server).ingest}
	case "/v1/ping":
		return target{on: routePing, method: fasthttp.MethodPost, answer: (*Server).ping}
	case "/v1/post":
		return target{on: routePost, method: fasthttp.MethodPost, answer: (*Server).post}
	case "/api/v1/ping":
		return target{on: routeAvailability, method: fasthttp.MethodPost, answer: (*Server).availability}
	case "/oauth/token":
		return target{on: routeToken, method: fasthttp.MethodPost, answer: (*Server).giveToken}
	case pathStatuses:
		return target{on: routeStatuses, method: fasthttp.MethodPost, answer: (*Server).reportMany}
	case "/v1/dev/seed":
		if s.opt.Sandbox { // in earnest there is no such path
			return target{on: routeSeed, method: fasthttp.MethodPost, answer: (*Server).seed}
		}
		return target{}
	case page.PathYAML, page.PathJSON, page.PathPage:
		return target{on: routeDocument, method: fasthttp.MethodGet, head: true, answer: (*Server).document, subject: path}
	}
	return findLead(path)
}

// The paths below which each lead has one of its own, and what follows its id where
// its status is reported.
const (
	pathLeads          = "/v1/leads/"
	pathSuppliersLeads = "/api/v1/leads/"
	pathStatuses       = "/v1/leads/status"
	pathStatus         = "/status"
)

// findLead finds a lead's own path.
func findLead(path []byte) (to target) {
	if subject, ok := bytes.CutPrefix(path, []byte(pathSuppliersLeads)); ok {
		to = target{on: routeSuppliersLead, method: fasthttp.MethodGet, answer: (*Server).lookAsSupplier, subject: subject}
	} else if subject, ok := bytes.CutPrefix(path, []byte(pathLeads)); ok {
		to = target{on: routeLead, method: fasthttp.MethodGet, answer: (*Server).look, subject: subject}
		if subject, ok := bytes.CutSuffix(subject, []byte(pathStatus)); ok {
			to = target{on: routeStatus, method: fasthttp.MethodPost, answer: (*Server).report, subject: subject}
		}
	}
	if len(to.subject) == 0 || bytes.IndexByte(to.subject, '/') >= 0 {
		return target{}
	}
	return to
}

// unreadable answers what the HTTP library could not read; it closes the
// connection after.
func (s *Server) unreadable(ctx *fasthttp.RequestCtx, err error) {
	ctx.Response.Header.DisableNormalizing()
	bad := unread(err)
	fail(ctx, s.engine.NewRequestID(), bad)
	cutOff(ctx, bad)
	s.opt.Meter.request(routeNone, &ctx.Response, 0)
}
