package timing

import (
	"encoding/binary"
	"encoding/hex"

	"pingpost/engine/auction"
	"pingpost/engine/market"
)

// RequestTrace records the steps of one traced request: the commits of its events and each request to a
// buyer. The caller exports it to the operator's tracing system after the answer. It has ids,
// sizes, times and outcomes, but no text of a supplier or a buyer. It belongs to the request's
// goroutine.
//
// A request without tracing has a nil RequestTrace. Its methods then do nothing, except for
// NextSpanID and AddPing, which need a trace.
//
// Rejected: a port for each step. Every request would call it, and its implementation would have
// to match the beginnings and ends of the spans.
type RequestTrace struct {
	ID   [16]byte // W3C trace-id, shared by all requests of the trace
	Span uint64   // id of the newest span; the next id is one higher

	Lead     market.LeadID
	Campaign string
	Auction  market.AuctionID
	Held     TimeSpan // the auction, from the first ping to the last answer; zero: no auction
	Commits  []TimeSpan
	Calls    []BuyerCall
	LeftOut  int // number of calls beyond maxCalls
}

// TimeSpan is a part of a request's time: From and To are in Unix nanoseconds.
type TimeSpan struct{ From, To int64 }

// BuyerCall is one request to a buyer, a ping or a post, in the trace of the supplier's request.
type BuyerCall struct {
	TimeSpan
	Span      uint64 // its id, which the buyer gets in traceparent
	Post      bool   // a post; false: a ping
	Buyer     string
	Outcome   string // of a ping: the final outcome of its filter set; of a post: its verdict, or pending
	Fault     market.OutboundRequestFault
	Status    int // of the answer; 0 without one
	Bytes     int // of the request body
	filterSet int // of a ping
}

// maxCalls limits the requests to buyers that one trace records. LeftOut counts the others.
const maxCalls = 1024

// callPending is the outcome of a post that was still in progress when the supplier got its
// answer.
const callPending = "pending"

// NextSpanID returns the id of a new span (a recorded step) of this trace. It is never zero.
func (t *RequestTrace) NextSpanID() uint64 {
	if t.Span++; t.Span == 0 { // zero means no span
		t.Span++
	}
	return t.Span
}

// NewSpanIDAndTraceparent returns the id of a new span for a request to a buyer, and the W3C traceparent header
// that the buyer gets. A nil trace returns zero values. It implements auction.Tracer.
func (t *RequestTrace) NewSpanIDAndTraceparent() (span uint64, traceparent string) {
	if t == nil {
		return 0, ""
	}
	span = t.NextSpanID()
	var text [55]byte
	copy(text[:], "00-")
	hex.Encode(text[3:35], t.ID[:])
	text[35] = '-'
	hex.Encode(text[36:52], binary.BigEndian.AppendUint64(nil, span))
	copy(text[52:], "-01")
	return span, string(text[:])
}

// addCall records a request to a buyer. It returns the index in t.Calls, or -1 if the trace is
// full.
func (t *RequestTrace) addCall(c BuyerCall) (callIndexOrMinusOne int) {
	if len(t.Calls) >= maxCalls {
		t.LeftOut++
		return -1
	}
	t.Calls = append(t.Calls, c)
	return len(t.Calls) - 1
}

// AddCommit records a commit, from the event's encoding until the event is applied. A nil trace
// records nothing.
func (t *RequestTrace) AddCommit(fromNanos, toNanos int64) {
	if t != nil {
		t.Commits = append(t.Commits, TimeSpan{fromNanos, toNanos})
	}
}

// SetLead records which lead the request created, and in which campaign. A nil trace records
// nothing.
func (t *RequestTrace) SetLead(lead market.LeadID, campaign *market.Campaign) {
	if t != nil {
		t.Lead, t.Campaign = lead, string(campaign.ID)
	}
}

// AddPing records a ping to a buyer; fromNanos and toNanos are its times in Unix nanoseconds. It
// implements auction.Tracer. The outcome is not known before the end of the auction:
// SetPingOutcomes adds it.
func (t *RequestTrace) AddPing(span uint64, filterSet int, buyer market.BuyerID, fromNanos, toNanos int64, result *market.BuyerPingResult, bodySize int) {
	toNanos = max(fromNanos, toNanos)
	if t.Held == (TimeSpan{}) {
		t.Held = TimeSpan{fromNanos, toNanos}
	}
	t.Held.To = max(t.Held.To, toNanos)
	t.addCall(BuyerCall{
		TimeSpan: TimeSpan{fromNanos, toNanos}, Span: span, Buyer: string(buyer),
		Fault: result.Fault, Status: max(0, result.Status), Bytes: bodySize, filterSet: filterSet,
	})
}

// SetAuctionIfPinged records the auction and the campaign of the request, if a buyer was pinged. A nil
// trace records nothing.
func (t *RequestTrace) SetAuctionIfPinged(id market.AuctionID, campaign *market.Campaign) {
	if t != nil && t.Held != (TimeSpan{}) {
		t.Auction, t.Campaign = id, string(campaign.ID)
	}
}

// SetPingOutcomes sets the outcome of each recorded ping, after the sale has decided which bid
// won. A nil trace records nothing.
func (t *RequestTrace) SetPingOutcomes(a *auction.Auction) {
	if t == nil || !a.IsPrepared() {
		return
	}
	for i := range t.Calls {
		if call := &t.Calls[i]; !call.Post {
			call.Outcome = a.OutcomeOf(call.filterSet).String()
		}
	}
}
