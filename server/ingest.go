package server

import (
	"errors"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/server/strictjson"
)

// room is what one request needs of memory until it is decided, kept from call
// to call. The body is read into it: the library reads it from the connection
// where it is read to, and so it is read once.
type room struct {
	credential []byte // the API key that came
	key        []byte // the idempotency key
	badKey     bool   // what came for one is none
	body       []byte
	out        []byte
	object     strictjson.Object
	req        engine.IngestRequest
}

var rooms = sync.Pool{New: func() any { return new(room) }}

func takeRoom() *room { return rooms.Get().(*room) }

// keptBody is how large a body's memory may be to be kept.
const keptBody = 256 << 10

func (r *room) giveBack() {
	r.object.Release()
	if cap(r.body) > keptBody {
		r.body = nil
	}
	rooms.Put(r)
}

// readHead takes from the head what the request is judged by. That is done
// before its body is read: behind a body in chunks more header lines may come,
// and the library lays them over those of the head.
func (r *room) readHead(header *fasthttp.RequestHeader) {
	credential := header.Peek("x-api-key")
	r.credential = append(r.credential[:0], credential[:min(len(credential), maxKey+1)]...)
	key, ok := idempotencyKey(header)
	r.key, r.badKey = append(r.key[:0], key...), !ok
}

// ingest takes a lead: POST /api/v1/ingest. It gives the room back before it
// waits for the log.
func (s *Server) ingest(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, read fault) {
	decision := s.decide(ctx, id, r, read)
	r.giveBack()
	if decision == nil {
		return
	}
	answer, err := decision.Wait()
	if err != nil {
		failWith(ctx, id, err)
		return
	}
	var text [usualAnswer]byte
	s.answer(ctx, &answer, appendAnswer(text[:0], &answer))
}

// usualAnswer is room for most answers.
const usualAnswer = 384

// decide has a lead decided, or says why not: then the answer is written, and
// there is no decision.
func (s *Server) decide(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, read fault) *engine.Decision {
	received := s.clock.Now()
	supplier, bad := s.supplierOf(r.credential)
	if bad.status != 0 {
		fail(ctx, id, bad)
		return nil
	}
	recognize(ctx)
	if !s.ingestLimits.take(ctx, supplier, time.Unix(0, received)) {
		fail(ctx, id, faultLimited)
		return nil
	}
	if bad := s.checkBody(ctx, read); bad.status != 0 {
		fail(ctx, id, bad)
		return nil
	}
	if err := r.object.Parse(r.body); err != nil {
		fail(ctx, id, malformed(explain(err)))
		return nil
	}
	r.req = engine.IngestRequest{
		Supplier: supplier, Members: r.object.Members(), Body: r.body, Key: r.key, BadKey: r.badKey,
		Request: id, Received: received,
	}
	decision, err := s.engine.Decide(&r.req)
	if err != nil {
		failWith(ctx, id, err)
		return nil
	}
	return decision
}

// answer sends a 201; a replayed one has the first one's request id.
func (s *Server) answer(ctx *fasthttp.RequestCtx, a *engine.Answer, body []byte) {
	ctx.SetStatusCode(fasthttp.StatusCreated)
	ctx.SetContentType(typeJSON)
	var text [64]byte
	ctx.Response.Header.SetBytesV(headerRequestID, a.Request.AppendTo(text[:0]))
	if a.Replayed {
		ctx.Response.Header.Set(headerReplayed, "true")
	}
	ctx.SetBody(body)
}

// explain says what is wrong with a body, without its content.
func explain(err error) string {
	var syntax *strictjson.SyntaxError
	if errors.As(err, &syntax) {
		return "The body is not the JSON object it should be: " + syntax.Error() + "."
	}
	return "The body is not one JSON object."
}
