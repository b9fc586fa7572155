package public

import (
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/escape"
	"pingpost/internal/strictjson"
	"pingpost/server/connection"
	"pingpost/server/httperror"
	"pingpost/server/request"
)

// handleStatusReport answers POST /v1/leads/{id}/status, by which a buyer reports the progress
// of one lead that it bought, for example a return.
func (s *Server) handleStatusReport(ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, readErr httperror.Error) {
	if !s.authenticateReporterAndParseBody(ctx, id, r, readErr) {
		return
	}
	lead, ok := market.ParseLeadID(string(r.pathParam))
	if !ok {
		httperror.Write(ctx, id, httperror.UnknownLead)
		return
	}
	r.status.Lead = lead
	r.status.Reports = []engine.ReceivedStatusReport{parseStatusReport(&r.object)}
	r.status.Timings = r.timings.EnterEngine(s.clock.Now())
	answer, err := r.engine.ProcessSingleStatusReport(&r.status)
	r.timings.LeaveEngine(s.clock.Now())
	if err != nil {
		httperror.WriteEngineErrorOrUnavailable(ctx, id, err)
		return
	}
	traceReport(&r.timings, &answer, lead)
	r.out = appendBuyerReportResult(r.out[:0], &answer.Results[0])
	sendAnswer(ctx, fasthttp.StatusOK, answer.Request, answer.Replayed, r.out)
}

// handleStatusReportBatch answers POST /v1/leads/status, by which a buyer reports on many leads.
// Each report succeeds or fails on its own. The answer is 200 even if all fail.
func (s *Server) handleStatusReportBatch(ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, readErr httperror.Error) {
	if readErr == httperror.BodyTooLarge {
		readErr = errBatchTooLarge
	}
	if !s.authenticateReporterAndParseBody(ctx, id, r, readErr) {
		return
	}
	buyer := r.status.Buyer.Ref
	if !s.batches.acquireSlot(buyer) {
		httperror.Write(ctx, id, errTooManyAnswers)
		return
	}
	out := &answerBodyHoldingSlot{release: func() { s.batches.releaseSlot(buyer) }}
	sent := false
	defer func() {
		if !sent {
			out.release()
		}
	}()
	r.parseReportBatch()
	r.status.Timings = r.timings.EnterEngine(s.clock.Now())
	answer, err := r.engine.ProcessStatusReports(&r.status)
	r.timings.LeaveEngine(s.clock.Now())
	if err != nil {
		httperror.WriteEngineErrorOrUnavailable(ctx, id, err)
		return
	}
	traceReport(&r.timings, &answer, market.LeadID{})
	body := []byte(`{"results":[`)
	for i := range answer.Results {
		if i > 0 {
			body = append(body, ',')
		}
		body = appendBuyerReportResult(body, &answer.Results[i])
	}
	body = append(body, "]}"...)
	out.Reset(body)
	sendAnswer(ctx, fasthttp.StatusOK, answer.Request, answer.Replayed, nil)
	ctx.SetBodyStream(out, len(body))
	sent = true
}

// authenticateReporterAndParseBody authenticates the buyer, applies its rate limit, and parses the body
// into r.object. It fills r.status for the engine, except for the reports, which the caller adds.
// If it returns false, it has already sent an error.
func (s *Server) authenticateReporterAndParseBody(ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, readErr httperror.Error) (ok bool) {
	received := s.clock.Now()
	buyer, ok := s.authenticateReportingBuyer(ctx, id, r.engine)
	if !ok {
		return false
	}
	connection.MarkAuthenticated(ctx)
	r.timings.Trace.RecordCallerAndBodySize(string(buyer.ID), len(r.body))
	if wait := s.lookupAndReportLimits.buyers.takeTokenForOwner(ctx, buyer.Ref, time.Unix(0, received)); wait > 0 {
		httperror.Write(ctx, id, httperror.RateLimited.WithRetryAfter(wait))
		return false
	}
	if !s.parseBodyObject(ctx, id, r, readErr) {
		return false
	}
	r.status = engine.StatusReportRequest{
		Buyer: buyer, Faults: request.QueryParameterNameErrors(ctx), Body: r.body, Key: r.key, BadKey: r.badKey, Request: id, Received: received,
	}
	return true
}

// authenticateReportingBuyer returns the buyer to which the request's token belongs; the token must
// have the scope for reports (webhook). If it returns false, it has already sent an error.
func (s *Server) authenticateReportingBuyer(ctx *fasthttp.RequestCtx, id market.RequestID, e *engine.Engine) (buyer *market.Buyer, ok bool) {
	who, bad := s.authenticateBearer(ctx, e, 0)
	switch {
	case bad.Status != 0:
	case who.buyer == nil: // with any scopes
		bad = errSellersToken
	default:
		who, bad = s.authenticateBearer(ctx, e, event.ScopeWebhook)
	}
	if bad.Status != 0 {
		s.sendAuthenticationError(ctx, id, bad)
		return nil, false
	}
	return who.buyer, true
}

// hasReportToken reports whether the header has a valid token with which a buyer may report on
// leads. It sends no answer.
func (s *Server) hasReportToken(e *engine.Engine, header *fasthttp.RequestHeader) bool {
	token, _ := readBearerToken(header)
	credential, scopes, ok := s.findCredentialOfToken(e, token)
	if !ok || !scopes.ContainsAll(event.ScopeWebhook) {
		return false
	}
	who, _ := s.findSupplierOrBuyer(&credential)
	return who.buyer != nil
}

// parseStatusReport returns the members of one report's JSON object. The engine checks their values.
func parseStatusReport(object *strictjson.Object) (report engine.ReceivedStatusReport) {
	report.Lead, _ = object.Lookup("lead_id")
	report.Status, _ = object.Lookup("status")
	report.Reason, _ = object.Lookup("reason")
	report.Occurred, _ = object.Lookup("occurred_at")
	return report
}

// parseReportBatch parses the list of reports in a batch into r.status. A list that is missing or of a
// wrong type becomes a field error. If the batch is too long, it reads one report more than allowed,
// and the engine rejects it.
func (r *scratch) parseReportBatch() {
	changes, there := r.object.Lookup("changes")
	elements, ok := strictjson.ParseElements(changes, engine.MaxStatusReports)
	switch {
	case ok:
	case !there || changes.Kind == market.JSONNull:
		r.status.Faults = append(r.status.Faults, market.FieldError{Field: "changes", Code: errcode.FieldMissingRequired, Expected: "a list of 1 to 1000 reports"})
	default:
		r.status.Faults = append(r.status.Faults, market.FieldError{Field: "changes", Code: errcode.FieldWrongType, Expected: "a list of 1 to 1000 reports"})
	}
	objects := make([]strictjson.Object, len(elements)) // own the texts with escapes
	r.status.Reports = make([]engine.ReceivedStatusReport, len(elements))
	for i, element := range elements {
		if element.Kind != market.JSONObject || objects[i].Parse(element.Text) != nil {
			r.status.Reports[i].NotObject = true
			continue
		}
		r.status.Reports[i] = parseStatusReport(&objects[i])
	}
}

// appendBuyerReportResult appends the JSON result of one report. It contains no current time, so
// that a repeated request gets exactly the same bytes.
func appendBuyerReportResult(body []byte, result *engine.StatusReportResult) []byte {
	body = append(body, `{"lead_id":`...)
	if result.Lead == "" {
		body = append(body, "null"...)
	} else {
		body = escape.AppendJSONString(body, []byte(result.Lead))
	}
	if result.Code == "" {
		body = append(append(body, `,"status":"`...), result.Status.String()...)
		if result.Waits {
			body = append(append(body, `","return":"`...), market.ReturnPending.String()...)
		}
		return append(body, `"}`...)
	}
	what := httperror.FromRefusal(result.Code, result.Objection)
	body = append(append(body, `,"error":"`...), what.Code...)
	body = escape.AppendJSONString(append(body, `","message":`...), []byte(what.Message))
	if len(result.Fields) > 0 {
		body = httperror.AppendFieldErrorsAndBracket(append(body, `,"field_errors":[`...), result.Fields)
	}
	return append(body, '}')
}
