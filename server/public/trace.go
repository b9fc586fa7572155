package public

import (
	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/internal/trace"
	"pingpost/server/httperror"
	"pingpost/server/metrics"
)

// headerTrace is the W3C header that names the trace to which a request belongs.
const headerTrace = "traceparent"

// tracedRoutes marks the routes that are traced: those that change leads or auctions.
var tracedRoutes = [metrics.Routes]bool{
	metrics.RouteIngest: true, metrics.RoutePing: true, metrics.RoutePost: true, metrics.RoutePingForAllBids: true, metrics.RouteStatus: true, metrics.RouteStatuses: true,
}

// beginTraceIfSampled returns the record of a request that is traced, or nil. The caller's
// traceparent header decides; without one, a random sample is traced. It runs before the body is
// read, because the body's trailer could replace headers.
func (s *Server) beginTraceIfSampled(header *fasthttp.RequestHeader, id market.RequestID, begunNanos int64) *trace.TracedRequest {
	if s.opt.Traces == nil {
		return nil
	}
	return s.opt.Traces.BeginIfSampled(header.PeekAll(headerTrace), id, begunNanos)
}

// endTrace completes the record of a traced request after its answer, and queues it for the
// collector. It drops the record of a request on a route that is not traced.
func (s *Server) endTrace(r *trace.TracedRequest, requestRoute metrics.Route, answer *fasthttp.Response, endedNanos int64) {
	if r == nil || !tracedRoutes[requestRoute] {
		return
	}
	r.Route, r.Status, r.Ended = metrics.RouteNames[requestRoute], answer.StatusCode(), endedNanos
	if r.Status >= fasthttp.StatusBadRequest {
		r.Code = httperror.ErrorCodeInBody(answer.Body())
	}
	s.opt.Traces.End(r)
}

// traceIngestedLead records an ingested lead's result in the trace. commitWaitBegunNanos is the time
// at which the wait for the log began, or 0 if there was no wait.
func traceIngestedLead(l *metrics.RequestTimings, a *engine.IngestAnswer, commitWaitBegunNanos int64) {
	r := l.Trace
	if r == nil {
		return
	}
	if commitWaitBegunNanos != 0 {
		r.AddCommit(commitWaitBegunNanos, l.Left)
	}
	r.Lead, r.Campaign, r.Buyer, r.Replayed, r.Test = a.Lead, a.Campaign, a.Buyer, a.Replayed, a.Test
	r.Outcome = "ACCEPTED"
	if !a.Accepted {
		r.Outcome, r.Reason = "UNMATCHED", a.Reason.String()
	}
}

// recordPingResultInTrace records the result of a ping in the request's trace: bid, or no bid with the
// reason.
func recordPingResultInTrace(l *metrics.RequestTimings, a *engine.SupplierPingAnswer, isTest bool) {
	r := l.Trace
	if r == nil {
		return
	}
	r.Auction, r.Replayed, r.Test = a.Auction, a.Replayed, isTest
	r.Outcome = "bid"
	if !a.Bid && len(a.Offers) == 0 {
		r.Outcome, r.Reason = "no_bid", a.Reason.String()
	}
}

// recordSaleInTrace records the sale of a posted lead in the request's trace.
func recordSaleInTrace(l *metrics.RequestTimings, a *engine.SupplierPostAnswer, isTest bool) {
	if r := l.Trace; r != nil {
		r.Lead, r.Buyer, r.Replayed, r.Test, r.Outcome = a.Lead, a.Buyer, a.Replayed, isTest, "ACCEPTED"
	}
}

// traceReport records the result of a buyer's report in the request's trace. For a batch, lead
// is zero, and it only records that the batch was accepted.
func traceReport(l *metrics.RequestTimings, a *engine.StatusReportAnswer, lead market.LeadID) {
	r := l.Trace
	if r == nil {
		return
	}
	r.Lead, r.Replayed, r.Outcome = lead, a.Replayed, "heard"
	if !lead.IsZero() {
		r.Outcome = a.Results[0].Status.String()
	}
}
