package public

import (
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/server/connection"
	"pingpost/server/httperror"
	"pingpost/server/metrics"
	"pingpost/server/request"
	"pingpost/server/wire"
)

// handleIngest accepts a lead: POST /api/v1/ingest. It releases the scratch memory before it
// waits for the log.
func (s *Server) handleIngest(ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, readErr httperror.Error) {
	decision := s.decideLead(ctx, id, r, readErr)
	took := r.timings
	r.release()
	if decision == nil {
		return
	}
	waited, queued := s.clock.Now(), decision.IsQueued()
	answer, err := decision.Wait()
	took.LeaveEngine(s.clock.Now())
	took.Engine.Log += took.Left - waited
	if !queued {
		waited = 0
	}
	if err != nil {
		httperror.WriteEngineError(ctx, id, err)
		return
	}
	traceSale(&took, &answer, waited)
	var text [answerSize]byte
	sendAnswer(ctx, fasthttp.StatusCreated, answer.Request, answer.Replayed, wire.AppendIngestAnswer(text[:0], &answer))
	s.opt.Meter.CountPhases(metrics.RouteIngest, &took, s.clock.Now())
}

// answerSize is enough for most answers.
const answerSize = 384

// decideLead passes the lead to the engine. If it returns nil, it has written the answer.
func (s *Server) decideLead(ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, readErr httperror.Error) *engine.Decision {
	received := s.clock.Now()
	supplier, bad := s.authenticateAPIKey(r.credential, received)
	if bad.Status != 0 {
		s.sendAuthenticationError(ctx, id, bad)
		return nil
	}
	connection.MarkAuthenticated(ctx)
	r.timings.Trace.SetCaller(string(supplier.ID), len(r.body))
	if !s.checkLimitsAndBody(ctx, id, r, readErr, &s.ingestLimits, supplier, received) {
		return nil
	}
	r.setTestHeader(ctx, supplier)
	r.ingest = engine.IngestRequest{
		Supplier: supplier, Members: r.object.Members(), Body: r.body, Key: r.key, BadKey: r.badKey,
		Test: r.test, BadTest: r.badTest, Faults: request.ParameterErrors(ctx), Request: id, Received: received, Timings: r.timings.EnterEngine(s.clock.Now()),
	}
	decision, err := s.engine.Decide(&r.ingest)
	if err != nil {
		httperror.WriteEngineError(ctx, id, err)
		return nil
	}
	return decision
}

// checkLimitsAndBody makes the checks between the credential and the content of the body (429, 413, 415)
// and parses the body (400). If it returns false, it has written the answer.
func (s *Server) checkLimitsAndBody(ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, readErr httperror.Error, rateLimits *limits, supplier *market.Supplier, now int64) bool {
	if wait := rateLimits.takeTokenForSupplier(ctx, supplier, time.Unix(0, now)); wait > 0 {
		httperror.Write(ctx, id, httperror.RateLimited.WithRetryAfter(wait))
		return false
	}
	if wait := s.byteLimits.takeBytes(ctx, supplier, len(r.body), time.Unix(0, now)); wait > 0 {
		httperror.Write(ctx, id, httperror.ByteRateLimited.WithRetryAfter(wait))
		return false
	}
	return s.parseBodyObject(ctx, id, r, readErr)
}

// parseBodyObject checks size and media type (413, 415) and parses the body as a JSON object (400). If it
// returns false, it has written the answer.
func (s *Server) parseBodyObject(ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, readErr httperror.Error) bool {
	if bad := s.checkSizeAndMediaType(ctx, readErr); bad.Status != 0 {
		httperror.Write(ctx, id, bad)
		return false
	}
	if err := r.object.Parse(r.body); err != nil {
		httperror.Write(ctx, id, request.MalformedJSON(request.DescribeJSONError(err)))
		return false
	}
	return true
}
