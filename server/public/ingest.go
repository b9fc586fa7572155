package public

import (
	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/server/httperror"
	"pingpost/server/metrics"
	"pingpost/server/request"
	"pingpost/server/wire"
)

// handleIngest answers POST /api/v1/ingest, by which a supplier sends a lead to a campaign. It
// releases the scratch memory before it waits until the log has stored the decision.
func (s *Server) handleIngest(ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, readErr httperror.Error) {
	decision := s.decideLead(ctx, id, r, readErr)
	took := r.timings
	r.releaseToPool()
	if decision == nil {
		return
	}
	waited, queued := s.clock.Now(), decision.IsQueued()
	answer, err := decision.WaitUntilCommitted()
	took.LeaveEngine(s.clock.Now())
	took.Engine.Log += took.Left - waited
	if !queued {
		waited = 0
	}
	if err != nil {
		httperror.WriteEngineErrorOrUnavailable(ctx, id, err)
		return
	}
	traceIngestedLead(&took, &answer, waited)
	var text [answerSize]byte
	sendAnswer(ctx, fasthttp.StatusCreated, answer.Request, answer.Replayed, wire.AppendIngestAnswer(text[:0], &answer))
	s.opt.Meter.CountPhases(metrics.RouteIngest, &took, s.clock.Now())
}

// answerSize is the size in bytes that suffices for most answers to an ingest.
const answerSize = 384

// decideLead checks the request and lets the engine decide the lead. If it returns nil, it has
// already sent an error.
func (s *Server) decideLead(ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, readErr httperror.Error) *engine.PendingLeadDecision {
	received := s.clock.Now()
	supplier, ok := s.authenticateAPIKey(ctx, id, r.engine, r.credential, received)
	if !ok {
		return nil
	}
	if !s.applyLimitsAndParseBody(ctx, id, r, readErr, &s.ingestLimits, supplier, received) {
		return nil
	}
	r.setAnswerTestHeaderIfTest(ctx, supplier)
	r.ingest = engine.IngestRequest{
		Supplier: supplier, Members: r.object.Members(), Body: r.body, Key: r.key, BadKey: r.badKey,
		Test: r.test, BadTest: r.badTest, Faults: request.QueryParameterNameErrors(ctx), Request: id, Received: received, Timings: r.timings.EnterEngine(s.clock.Now()),
	}
	decision, err := r.engine.DecideAndDeliver(&r.ingest)
	if err != nil {
		httperror.WriteEngineErrorOrUnavailable(ctx, id, err)
		return nil
	}
	return decision
}

// parseBodyObject checks the body's size and media type (413, 415) and parses it into r.object
// (400). If it returns false, it has already sent an error.
func (s *Server) parseBodyObject(ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, readErr httperror.Error) (ok bool) {
	if bad := s.checkSizeAndMediaType(ctx, readErr); bad.Status != 0 {
		httperror.Write(ctx, id, bad)
		return false
	}
	if err := r.object.Parse(r.body); err != nil {
		httperror.Write(ctx, id, request.NewMalformedJSONError(request.DescribeJSONError(err)))
		return false
	}
	return true
}
