package refbuyer

import "github.com/valyala/fasthttp"

func (b *Buyer) handle(r *fasthttp.RequestCtx) {
	if len(r.Request.Header.Peek("X-Pingpost-Test")) > 0 {
		b.ledger.count(func(s *Stats) *int64 { return &s.Tests })
	}
	switch string(r.Path()) {
	case "/v1/ping":
		if b.requireMethod(r, fasthttp.MethodPost) && b.authorize(r, scopePing) {
			b.handlePing(r)
		}
	case "/v1/post":
		if b.requireMethod(r, fasthttp.MethodPost) && b.authorize(r, scopePost) {
			b.handlePost(r)
		}
	case "/stats":
		if b.requireMethod(r, fasthttp.MethodGet) {
			answerJSON(r, fasthttp.StatusOK, b.Stats())
		}
	case "/leads":
		if b.requireMethod(r, fasthttp.MethodGet) {
			b.listLeads(r)
		}
	case "/oauth/token":
		if b.access.lifetime > 0 {
			if b.requireMethod(r, fasthttp.MethodPost) {
				b.issueToken(r)
			}
			return
		}
		fallthrough
	default:
		b.refuse(r, fasthttp.StatusNotFound, "not_found", "unknown path; the buyer has /v1/ping, /v1/post, /stats and /leads, and with OAuth clients /oauth/token")
	}
}

func (b *Buyer) requireMethod(r *fasthttp.RequestCtx, allowed string) bool {
	if string(r.Method()) == allowed {
		return true
	}
	r.Response.Header.Set("Allow", allowed)
	b.refuse(r, fasthttp.StatusMethodNotAllowed, "method_not_allowed", "use "+allowed)
	return false
}

func (b *Buyer) authorize(r *fasthttp.RequestCtx, wanted scope) bool {
	if b.access.open() {
		return true
	}
	switch b.access.checkHeader(r.Request.Header.Peek("Authorization"), wanted, b.now()) {
	case admitted:
		return true
	case outOfScope:
		b.refuse(r, fasthttp.StatusForbidden, "insufficient_scope", "the token lacks the scope "+wanted.String())
	default:
		b.ledger.count(func(s *Stats) *int64 { return &s.Unauthorized })
		r.Response.Header.Set("WWW-Authenticate", "Bearer")
		b.refuse(r, fasthttp.StatusUnauthorized, "unauthorized", "a valid bearer token is required")
	}
	return false
}
