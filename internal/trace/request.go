package trace

import (
	"pingpost/engine/market"
	"pingpost/engine/timing"
)

// TracedRequest records the course of one traced request. The goroutine of the HTTP request owns it
// until Tracer.End, and the Tracer afterwards. Times are in Unix nanoseconds. The methods do
// nothing on a nil TracedRequest, which stands for a request that is not traced.
type TracedRequest struct {
	timing.RequestTrace // the engine's part; before the call, its Span is the root's

	ID      market.RequestID
	Route   string // such as /v1/ping
	Caller  string // the supplier's or buyer's id; empty: not authenticated
	Bytes   int    // of the body
	Begun   int64  // when its head was read
	Entered int64  // when the engine was called; 0: never
	Left    int64  // when the engine returned
	Ended   int64  // when the answer was complete
	Status  int
	Code    string // of an error

	Outcome  string // such as ACCEPTED
	Reason   string
	Buyer    string // that got the lead
	Replayed bool
	Test     bool

	root   uint64
	parent [8]byte // the caller's span; zero: none
	remote bool    // the parent belongs to another program
}

// RecordCallerAndBodySize records the id of the authenticated caller and the size of the request's body.
func (r *TracedRequest) RecordCallerAndBodySize(callerID string, bodySize int) {
	if r != nil {
		r.Caller, r.Bytes = callerID, bodySize
	}
}

// EnterEngine records that the server calls the engine at the time now. It returns the part of
// the record that the engine fills in, or nil if the request is not traced.
func (r *TracedRequest) EnterEngine(now int64) (traceOrNil *timing.RequestTrace) {
	if r == nil {
		return nil
	}
	r.Entered = now
	return &r.RequestTrace
}

// LeaveEngine records that the engine returned to the server at the time now.
func (r *TracedRequest) LeaveEngine(now int64) {
	if r != nil {
		r.Left = now
	}
}

// maxSpans returns an upper bound for the number of spans of the request. The queue counts
// spans, because they determine its memory.
func (r *TracedRequest) maxSpans() int { return 5 + len(r.Commits) + len(r.Calls) }
