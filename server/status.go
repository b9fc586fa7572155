package server

import (
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/server/strictjson"
)

// report takes a buyer's word on one of its leads: POST /v1/leads/{id}/status.
func (s *Server) report(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, read fault) {
	if !s.reporting(ctx, id, r, read) {
		return
	}
	lead, ok := market.ParseLeadID(string(r.subject))
	if !ok {
		fail(ctx, id, faultNoLead)
		return
	}
	r.status.Lead = lead
	r.status.Reports = []engine.StatusReport{reportOf(&r.object)}
	r.status.Spent = r.lap.enter(s.clock.Now())
	answer, err := s.engine.ReportStatus(&r.status)
	r.lap.leave(s.clock.Now())
	if err != nil {
		failWith(ctx, id, err)
		return
	}
	r.lap.reported(&answer, lead)
	r.out = appendResult(r.out[:0], &answer.Results[0])
	answerWith(ctx, fasthttp.StatusOK, answer.Request, answer.Replayed, r.out)
}

// reportMany takes a buyer's word on many leads, each by itself: POST
// /v1/leads/status. It is answered 200 also where none was taken.
func (s *Server) reportMany(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, read fault) {
	if read == faultTooLarge {
		read = faultBatch
	}
	if !s.reporting(ctx, id, r, read) {
		return
	}
	buyer := r.status.Buyer.Ref
	if !s.batches.enter(buyer) {
		fail(ctx, id, faultAnswers)
		return
	}
	out := &countedAnswer{left: func() { s.batches.leave(buyer) }}
	sent := false
	defer func() {
		if !sent {
			out.left()
		}
	}()
	r.readReports()
	r.status.Spent = r.lap.enter(s.clock.Now())
	answer, err := s.engine.ReportStatuses(&r.status)
	r.lap.leave(s.clock.Now())
	if err != nil {
		failWith(ctx, id, err)
		return
	}
	r.lap.reported(&answer, market.LeadID{})
	body := []byte(`{"results":[`)
	for i := range answer.Results {
		if i > 0 {
			body = append(body, ',')
		}
		body = appendResult(body, &answer.Results[i])
	}
	body = append(body, "]}"...)
	out.Reset(body)
	answerWith(ctx, fasthttp.StatusOK, answer.Request, answer.Replayed, nil)
	ctx.SetBodyStream(out, len(body))
	sent = true
}

// reporting makes the checks of a report that come before what it says, and begins
// the request. False: one of them was answered.
func (s *Server) reporting(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, read fault) bool {
	received := s.clock.Now()
	buyer, ok := s.reporterOf(ctx, id)
	if !ok {
		return false
	}
	recognize(ctx)
	r.lap.traced.By(string(buyer.ID), len(r.body))
	if !s.leadLimits.buyers.takeOf(ctx, buyer.Ref, time.Unix(0, received)) {
		fail(ctx, id, faultLimited)
		return false
	}
	if !s.admitBody(ctx, id, r, read) {
		return false
	}
	r.status = engine.StatusRequest{
		Buyer: buyer, Body: r.body, Key: r.key, BadKey: r.badKey, Request: id, Received: received,
	}
	return true
}

// reporterOf is the buyer whose token a report shows. Not ok: it was answered why not.
func (s *Server) reporterOf(ctx *fasthttp.RequestCtx, id market.RequestID) (*market.Buyer, bool) {
	who, bad := s.bearerOf(ctx, 0)
	switch {
	case bad.status != 0:
	case who.buyer == nil: // whatever its scopes
		bad = faultSellersToken
	default:
		who, bad = s.bearerOf(ctx, event.ScopeWebhook)
	}
	if bad.status != 0 {
		s.turnAway(ctx, id, bad)
		return nil, false
	}
	return who.buyer, true
}

// mayReport is whether reporterOf finds somebody; nothing is answered.
func (s *Server) mayReport(header *fasthttp.RequestHeader) bool {
	token, _ := bearerToken(header)
	credential, scopes, ok := s.holderOf(token)
	if !ok || !scopes.Has(event.ScopeWebhook) {
		return false
	}
	who, _ := s.callerOf(&credential)
	return who.buyer != nil
}

// reportOf takes a report apart.
func reportOf(object *strictjson.Object) (report engine.StatusReport) {
	report.Lead, _ = object.Lookup("lead_id")
	report.Status, _ = object.Lookup("status")
	report.Reason, _ = object.Lookup("reason")
	report.Occurred, _ = object.Lookup("occurred_at")
	return report
}

// readReports takes a batch apart. Of one that has more reports than there may be,
// one too many is read.
func (r *room) readReports() {
	changes, there := r.object.Lookup("changes")
	elements, ok := strictjson.Elements(changes, engine.MostReports)
	switch {
	case ok:
	case !there || changes.Kind == market.JSONNull:
		r.status.Faults = []market.FieldError{{Field: "changes", Code: errcode.FieldMissingRequired, Expected: "a list of 1 to 1000 reports"}}
	default:
		r.status.Faults = []market.FieldError{{Field: "changes", Code: errcode.FieldWrongType, Expected: "a list of 1 to 1000 reports"}}
	}
	objects := make([]strictjson.Object, len(elements)) // texts with escapes lie in them
	r.status.Reports = make([]engine.StatusReport, len(elements))
	for i, element := range elements {
		if element.Kind != market.JSONObject || objects[i].Parse(element.Text) != nil {
			r.status.Reports[i].NoObject = true
			continue
		}
		r.status.Reports[i] = reportOf(&objects[i])
	}
}

// appendResult writes what one report came to. Nothing in it depends on when it is
// told, so that a repeat is the same to the byte.
func appendResult(body []byte, result *engine.StatusResult) []byte {
	body = append(body, `{"lead_id":`...)
	if result.Lead == "" {
		body = append(body, "null"...)
	} else {
		body = market.AppendJSONString(body, []byte(result.Lead))
	}
	if result.Code == "" {
		body = append(append(body, `,"status":"`...), result.Status.String()...)
		if result.Waits {
			body = append(append(body, `","return":"`...), market.ReturnWaits.String()...)
		}
		return append(body, `"}`...)
	}
	what := faultOf(result.Code, result.Objection)
	body = append(append(body, `,"error":"`...), what.code...)
	body = market.AppendJSONString(append(body, `","message":`...), []byte(what.message))
	if len(result.Fields) > 0 {
		body = appendFields(append(body, `,"field_errors":[`...), result.Fields)
	}
	return append(body, '}')
}
