package trace

import (
	"pingpost/engine"
	"pingpost/engine/market"
)

// Request is what a traced request has noted until it has its answer. It belongs to the
// request's goroutine, and from Tracer.End on to the Tracer. Times are in Unix
// nanoseconds.
type Request struct {
	engine.Trace // what the engine notes; its Span is the root's before it is called

	ID      market.RequestID
	Route   string // such as /v1/ping
	Caller  string // the supplier's or buyer's id; empty: nobody knows who asks
	Bytes   int    // of the body
	Begun   int64  // its head was read
	Entered int64  // the engine was called; 0: it was not
	Left    int64  // the engine returned
	Ended   int64  // the answer was put together
	Status  int
	Code    string // of an error

	Outcome  string // such as ACCEPTED
	Reason   string
	Buyer    string // that the lead went to
	Replayed bool
	Test     bool

	root   uint64
	parent [8]byte // the caller's span; zero: it has none
	remote bool
}

// By notes who asks, with a body of so many bytes.
func (r *Request) By(caller string, bytes int) {
	if r != nil {
		r.Caller, r.Bytes = caller, bytes
	}
}

// Enter notes that the engine is called, and gives what it is to note in; nil: the
// request is not traced.
func (r *Request) Enter(now int64) *engine.Trace {
	if r == nil {
		return nil
	}
	r.Entered = now
	return &r.Trace
}

// Leave notes that the engine has returned.
func (r *Request) Leave(now int64) {
	if r != nil {
		r.Left = now
	}
}

// spans is how many the request will have, at most.
func (r *Request) spans() int { return 5 + len(r.Commits) + len(r.Calls) }
