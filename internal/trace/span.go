package trace

import (
	"encoding/binary"

	"pingpost/engine/market"
	"pingpost/engine/timing"
)

// spanKind is a span's kind, with OTLP's numbers.
type spanKind int32

const (
	kindInternal spanKind = 1
	kindServer   spanKind = 2
	kindClient   spanKind = 3
)

// span is an OpenTelemetry span: one timed step of a request.
type span struct {
	id, parent uint64
	from, to   int64
	name       string
	kind       spanKind
	failed     bool
	remote     bool // the parent belongs to another program
	attributes []attribute
}

// attribute is a named value of a span: a text or, if the text is empty, a number.
type attribute struct {
	key    string
	text   string
	number int64
}

// appendSpans appends a request's spans to dst, the root first:
//
//	POST /v1/ping            the request, up to its answer
//	├─ decode                read head and body, authenticate, parse
//	├─ decide                the engine's part
//	│  ├─ auction
//	│  │  └─ ping buy_blue   one ping
//	│  ├─ commit             an event on its way to the disk
//	│  └─ post buy_blue      one attempt to post the lead
//	└─ answer                encode the answer
func (r *TracedRequest) appendSpans(dst []span) []span {
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
	dst = append(dst, r.newStageSpan("decode", r.root, timing.TimeSpan{From: r.Begun, To: entered}))
	if r.Entered == 0 {
		return dst
	}
	decide := r.newStageSpan("decide", r.root, timing.TimeSpan{From: entered, To: left})
	dst = append(dst, decide)
	pings := decide.id
	if r.Held != (timing.TimeSpan{}) {
		auction := r.newStageSpan("auction", decide.id, r.Held)
		pings = auction.id
		dst = append(dst, auction)
	}
	for _, commit := range r.Commits {
		dst = append(dst, r.newStageSpan("commit", decide.id, commit))
	}
	for i := range r.Calls {
		if r.Calls[i].Post {
			dst = append(dst, callSpan("post ", &r.Calls[i], decide.id))
		} else {
			dst = append(dst, callSpan("ping ", &r.Calls[i], pings))
		}
	}
	return append(dst, r.newStageSpan("answer", r.root, timing.TimeSpan{From: left, To: r.Ended}))
}

// newStageSpan returns a span for a step inside the exchange, such as "decide". parentSpanID is the id of
// the span that contains it.
func (r *TracedRequest) newStageSpan(name string, parentSpanID uint64, period timing.TimeSpan) span {
	return span{id: r.NextSpanID(), parent: parentSpanID, from: period.From, to: period.To, name: name, kind: kindInternal}
}

// callSpan returns the span of one ping or post to a buyer. Its name is the prefix ("ping " or
// "post ") and the buyer's id.
func callSpan(prefix string, c *timing.BuyerCall, parent uint64) span {
	s := span{
		id: c.Span, parent: parent, from: c.From, to: c.To, name: prefix + c.Buyer, kind: kindClient,
		failed: c.Fault != market.FaultNone || c.Status >= 500,
	}
	s.addText("pingpost.buyer_id", c.Buyer)
	s.addText("pingpost.outcome", c.Outcome)
	if c.Fault != market.FaultNone {
		s.addText("pingpost.fault", c.Fault.String())
	}
	s.addNumber("http.request.body.size", c.Bytes)
	if c.Status > 0 {
		s.addNumber("http.response.status_code", c.Status)
	}
	return s
}

// attributes returns the attributes of the request's root span: route, status, ids and outcome.
func (r *TracedRequest) attributes() []attribute {
	var s span
	s.addText("http.request.method", "POST")
	s.addText("http.route", r.Route)
	s.addNumber("http.request.body.size", r.Bytes)
	s.addNumber("http.response.status_code", r.Status)
	s.addText("error.type", r.Code)
	s.addText("pingpost.request_id", r.ID.String())
	s.addText("pingpost.caller_id", r.Caller)
	s.addText("pingpost.campaign_id", r.Campaign)
	if !r.Auction.IsZero() {
		s.addText("pingpost.auction_id", r.Auction.String())
	}
	if !r.Lead.IsZero() {
		s.addText("pingpost.lead_id", r.Lead.String())
	}
	s.addText("pingpost.outcome", r.Outcome)
	s.addText("pingpost.reason", r.Reason)
	s.addText("pingpost.buyer_id", r.Buyer)
	if r.Replayed {
		s.addText("pingpost.replayed", "true")
	}
	if r.Test {
		s.addText("pingpost.test", "true")
	}
	if r.LeftOut > 0 {
		s.addNumber("pingpost.calls_left_out", r.LeftOut)
	}
	return s.attributes
}

// addText adds a text attribute to the span, unless the value is empty.
func (s *span) addText(key, value string) {
	if value != "" {
		s.attributes = append(s.attributes, attribute{key: key, text: value})
	}
}

func (s *span) addNumber(key string, value int) {
	s.attributes = append(s.attributes, attribute{key: key, number: int64(value)})
}
