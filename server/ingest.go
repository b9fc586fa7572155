package server

import (
	"errors"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/server/strictjson"
)

// ingest takes a lead: POST /api/v1/ingest. It gives the room back before it
// waits for the log.
func (s *Server) ingest(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, read fault) {
	decision := s.decide(ctx, id, r, read)
	took := r.lap
	r.giveBack()
	if decision == nil {
		return
	}
	waited, queued := s.clock.Now(), decision.Queued()
	answer, err := decision.Wait()
	took.leave(s.clock.Now())
	took.spent.Log += took.left - waited
	if !queued {
		waited = 0
	}
	if err != nil {
		failWith(ctx, id, err)
		return
	}
	took.sold(&answer, waited)
	var text [usualAnswer]byte
	answerWith(ctx, fasthttp.StatusCreated, answer.Request, answer.Replayed, appendAnswer(text[:0], &answer))
	s.opt.Meter.lap(routeIngest, &took, s.clock.Now())
}

// usualAnswer is room for most answers.
const usualAnswer = 384

// decide has a lead decided, or says why not: then the answer is written, and
// there is no decision.
func (s *Server) decide(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, read fault) *engine.Decision {
	received := s.clock.Now()
	supplier, bad := s.supplierOf(r.credential, received)
	if bad.status != 0 {
		s.turnAway(ctx, id, bad)
		return nil
	}
	recognize(ctx)
	r.lap.traced.By(string(supplier.ID), len(r.body))
	if !s.admit(ctx, id, r, read, &s.ingestLimits, supplier, received) {
		return nil
	}
	r.tellTest(ctx, supplier)
	r.ingest = engine.IngestRequest{
		Supplier: supplier, Members: r.object.Members(), Body: r.body, Key: r.key, BadKey: r.badKey,
		Test: r.test, BadTest: r.badTest, Request: id, Received: received, Spent: r.lap.enter(s.clock.Now()),
	}
	decision, err := s.engine.Decide(&r.ingest)
	if err != nil {
		failWith(ctx, id, err)
		return nil
	}
	return decision
}

// admit makes the checks that come after the credential and before what a body
// means: 429, 413, 415, 400. False: one of them was answered.
func (s *Server) admit(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, read fault, of *limits, supplier *market.Supplier, now int64) bool {
	if !of.take(ctx, supplier, time.Unix(0, now)) {
		fail(ctx, id, faultLimited)
		return false
	}
	return s.admitBody(ctx, id, r, read)
}

// admitBody makes those of them that are about the body: 413, 415, 400.
func (s *Server) admitBody(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, read fault) bool {
	if bad := s.checkBody(ctx, read); bad.status != 0 {
		fail(ctx, id, bad)
		return false
	}
	if err := r.object.Parse(r.body); err != nil {
		fail(ctx, id, malformed(explain(err)))
		return false
	}
	return true
}

// explain says what is wrong with a body, without its content.
func explain(err error) string {
	var syntax *strictjson.SyntaxError
	if errors.As(err, &syntax) {
		return "The body is not the JSON object it should be: " + syntax.Error() + "."
	}
	return "The body is not one JSON object."
}
