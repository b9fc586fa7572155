package server

import (
	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/server/trace"
)

// headerTrace is by which a caller says of which trace its request is a part.
const headerTrace = "traceparent"

// tracedRoutes are those whose requests may be traced: all that decide something.
var tracedRoutes = [routes]bool{
	routeIngest: true, routePing: true, routePost: true, routeAvailability: true, routeStatus: true, routeStatuses: true,
}

// beginTrace decides whether a request is traced; nil: it is not. Like all of the head
// that counts, it is asked before the body is read.
func (s *Server) beginTrace(header *fasthttp.RequestHeader, id market.RequestID, begun int64) *trace.Request {
	if s.opt.Traces == nil {
		return nil
	}
	return s.opt.Traces.Begin(header.PeekAll(headerTrace), id, begun)
}

// endTrace hands over what a request has noted.
func (s *Server) endTrace(r *trace.Request, on route, answer *fasthttp.Response, ended int64) {
	if r == nil || !tracedRoutes[on] {
		return
	}
	r.Route, r.Status, r.Ended = routeNames[on], answer.StatusCode(), ended
	if r.Status >= fasthttp.StatusBadRequest {
		r.Code = codeIn(answer.Body())
	}
	s.opt.Traces.End(r)
}

// sold notes what a lead came to; waited is since when it has waited for the log, or 0.
func (l *lap) sold(a *engine.Answer, waited int64) {
	r := l.traced
	if r == nil {
		return
	}
	if waited != 0 {
		r.Commit(waited, l.left)
	}
	r.Lead, r.Campaign, r.Buyer, r.Replayed, r.Test = a.Lead, a.Campaign, a.Buyer, a.Replayed, a.Test
	r.Outcome = "ACCEPTED"
	if !a.Accepted {
		r.Outcome, r.Reason = "UNMATCHED", a.Reason.String()
	}
}

// asked notes what a ping came to.
func (l *lap) asked(a *engine.PingAnswer, test bool) {
	r := l.traced
	if r == nil {
		return
	}
	r.Auction, r.Replayed, r.Test = a.Auction, a.Replayed, test
	r.Outcome = "bid"
	if !a.Bid && len(a.Offers) == 0 {
		r.Outcome, r.Reason = "no_bid", a.Reason.String()
	}
}

// taken notes whose lead a post has become.
func (l *lap) taken(a *engine.SaleAnswer, test bool) {
	if r := l.traced; r != nil {
		r.Lead, r.Buyer, r.Replayed, r.Test, r.Outcome = a.Lead, a.Buyer, a.Replayed, test, "ACCEPTED"
	}
}

// reported notes what a buyer's word on its leads came to; of many, that it was heard.
func (l *lap) reported(a *engine.StatusAnswer, lead market.LeadID) {
	r := l.traced
	if r == nil {
		return
	}
	r.Lead, r.Replayed, r.Outcome = lead, a.Replayed, "heard"
	if !lead.IsZero() {
		r.Outcome = a.Results[0].Status.String()
	}
}
