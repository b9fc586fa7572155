package timing

import "pingpost/engine/market"

// DeliveryPostTracer records the posts of a delivery in the trace of the request that caused it. The zero
// value, for a request without a trace, records nothing.
type DeliveryPostTracer struct {
	trace *RequestTrace // nil: not traced, or the supplier has its answer
	index int           // of the call in trace.Calls
}

// TracePosts returns a tracer that records posts in t. If t is nil, it records nothing.
func (t *RequestTrace) TracePosts() DeliveryPostTracer { return DeliveryPostTracer{trace: t} }

// BeginPost records a post that begins now. It returns the text of the W3C traceparent header for
// the buyer, or "" without a trace.
func (t *DeliveryPostTracer) BeginPost(buyer string, auction market.AuctionID, bodyBytes int, nowNanos int64) (traceparent string) {
	if t.trace == nil {
		return ""
	}
	span, traceparent := t.trace.NewSpanIDAndTraceparent()
	if !auction.IsZero() {
		t.trace.Auction = auction
	}
	t.index = t.trace.addCall(BuyerCall{
		TimeSpan: TimeSpan{nowNanos, nowNanos}, Span: span, Post: true, Outcome: callPending, Bytes: bodyBytes, Buyer: buyer,
	})
	return traceparent
}

// EndPost records the buyer's answer to the post that BeginPost recorded, and its end now.
func (t *DeliveryPostTracer) EndPost(result *market.BuyerPostResult, nowNanos int64) {
	if t.trace == nil || t.index < 0 {
		return
	}
	call := &t.trace.Calls[t.index]
	call.To, call.Outcome, call.Fault, call.Status = nowNanos, result.Verdict.String(), result.Fault, max(0, result.Status)
}

// EndPendingPostAndStop ends the recording, because the supplier gets its answer now and the trace is
// exported. For a post in progress the trace says pending and ends now.
func (t *DeliveryPostTracer) EndPendingPostAndStop(nowNanos int64) {
	if t.trace != nil && t.index >= 0 && t.index < len(t.trace.Calls) && t.trace.Calls[t.index].Outcome == callPending {
		t.trace.Calls[t.index].To = nowNanos
	}
	*t = DeliveryPostTracer{}
}
