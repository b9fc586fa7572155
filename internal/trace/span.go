package trace

import (
	"encoding/binary"

	"pingpost/engine"
	"pingpost/engine/market"
)

// kind is what a span is of, by OTLP's numbers.
type kind int32

const (
	kindInternal kind = 1
	kindServer   kind = 2
	kindClient   kind = 3
)

// span is one of OpenTelemetry's.
type span struct {
	id, parent uint64
	from, to   int64
	name       string
	kind       kind
	failed     bool
	remote     bool // its parent is another program's
	attributes []attribute
}

// attribute is a text or, where that is empty, a number.
type attribute struct {
	key    string
	text   string
	number int64
}

// draw puts a request's spans together, the root first, behind dst:
//
//	POST /v1/ping            the request, up to its answer
//	├─ decode                head and body read, the caller found, the body parsed
//	├─ decide                what the engine did
//	│  ├─ auction
//	│  │  └─ ping buy_blue   a buyer that was asked
//	│  ├─ commit             a fact on its way to the disk
//	│  └─ post buy_blue      a try to hand the lead over
//	└─ answer                the answer put together
func (r *Request) draw(dst []span) []span {
	entered, left := r.Entered, r.Left
	if entered == 0 {
		entered = r.Ended
	}
	if left == 0 {
		left = r.Ended
	}
	dst = append(dst, span{
		id: r.root, parent: binary.BigEndian.Uint64(r.parent[:]), remote: r.remote, from: r.Begun, to: r.Ended,
		name: "POST " + r.Route, kind: kindServer, failed: r.Status >= 500, attributes: r.attributes(),
	})
	dst = append(dst, r.stage("decode", r.root, engine.Stretch{From: r.Begun, To: entered}))
	if r.Entered == 0 {
		return dst
	}
	decide := r.stage("decide", r.root, engine.Stretch{From: entered, To: left})
	dst = append(dst, decide)
	pings := decide.id
	if r.Held != (engine.Stretch{}) {
		auction := r.stage("auction", decide.id, r.Held)
		pings = auction.id
		dst = append(dst, auction)
	}
	for _, commit := range r.Commits {
		dst = append(dst, r.stage("commit", decide.id, commit))
	}
	for i := range r.Calls {
		if r.Calls[i].Post {
			dst = append(dst, called("post ", &r.Calls[i], decide.id))
		} else {
			dst = append(dst, called("ping ", &r.Calls[i], pings))
		}
	}
	return append(dst, r.stage("answer", r.root, engine.Stretch{From: left, To: r.Ended}))
}

func (r *Request) stage(name string, parent uint64, s engine.Stretch) span {
	return span{id: r.Next(), parent: parent, from: s.From, to: s.To, name: name, kind: kindInternal}
}

// called is the span of one request to a buyer.
func called(what string, c *engine.Call, parent uint64) span {
	s := span{
		id: c.Span, parent: parent, from: c.From, to: c.To, name: what + c.Buyer, kind: kindClient,
		failed: c.Fault != market.FaultNone || c.Status >= 500,
	}
	s.text("pingpost.buyer_id", c.Buyer)
	s.text("pingpost.outcome", c.Outcome)
	if c.Fault != market.FaultNone {
		s.text("pingpost.fault", c.Fault.String())
	}
	s.number("http.request.body.size", c.Bytes)
	if c.Status > 0 {
		s.number("http.response.status_code", c.Status)
	}
	return s
}

// attributes are the root's.
func (r *Request) attributes() []attribute {
	var s span
	s.text("http.request.method", "POST")
	s.text("http.route", r.Route)
	s.number("http.request.body.size", r.Bytes)
	s.number("http.response.status_code", r.Status)
	s.text("error.type", r.Code)
	s.text("pingpost.request_id", r.ID.String())
	s.text("pingpost.caller_id", r.Caller)
	s.text("pingpost.campaign_id", r.Campaign)
	if !r.Auction.IsZero() {
		s.text("pingpost.auction_id", r.Auction.String())
	}
	if !r.Lead.IsZero() {
		s.text("pingpost.lead_id", r.Lead.String())
	}
	s.text("pingpost.outcome", r.Outcome)
	s.text("pingpost.reason", r.Reason)
	s.text("pingpost.buyer_id", r.Buyer)
	if r.Replayed {
		s.text("pingpost.replayed", "true")
	}
	if r.Test {
		s.text("pingpost.test", "true")
	}
	if r.LeftOut > 0 {
		s.number("pingpost.calls_left_out", r.LeftOut)
	}
	return s.attributes
}

// text adds an attribute, unless there is nothing to say.
func (s *span) text(key, value string) {
	if value != "" {
		s.attributes = append(s.attributes, attribute{key: key, text: value})
	}
}

func (s *span) number(key string, value int) {
	s.attributes = append(s.attributes, attribute{key: key, number: int64(value)})
}
