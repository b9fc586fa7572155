package server

import (
	"errors"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/server/strictjson"
)

// ingest takes a lead: POST /api/v1/ingest.
func (s *Server) ingest(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, read fault) {
	received := s.clock.Now()
	supplier, bad := s.supplierOf(r.credential)
	if bad.status != 0 {
		fail(ctx, id, bad)
		return
	}
	recognize(ctx)
	if !s.admit(ctx, id, r, read, &s.ingestLimits, supplier, received) {
		return
	}
	r.ingest = engine.IngestRequest{
		Supplier: supplier, Members: r.object.Members(), Body: r.body, Key: r.key, BadKey: r.badKey,
		Request: id, Received: received,
	}
	answer, err := s.engine.Ingest(&r.ingest)
	if err != nil {
		failWith(ctx, id, err)
		return
	}
	r.out = appendAnswer(r.out[:0], &answer)
	answerWith(ctx, fasthttp.StatusCreated, answer.Request, answer.Replayed, r.out)
}

// admit makes the checks that come after the credential and before what a body
// means: 429, 413, 415, 400. False: one of them was answered.
func (s *Server) admit(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, read fault, of *limits, supplier *market.Supplier, now int64) bool {
	if !of.take(ctx, supplier, time.Unix(0, now)) {
		fail(ctx, id, faultLimited)
		return false
	}
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
