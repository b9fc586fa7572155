// Package timing records how a request spent its time: sums for metrics, and the single steps for
// a request that is traced.
package timing

// Timings are the parts of a request's time during which it waited for the log or for buyers, in
// nanoseconds. The rest of its time went into lookups, the decision, and waiting for other
// requests.
type Timings struct {
	Log    int64 // from the encoding of events until they are durable and applied
	Buyers int64 // pings, and posts until the answer is due

	Trace *RequestTrace // nil: the request is not traced
}

// AddCommitTime adds the time of a commit to Log and to the trace. fromNanos and toNanos are in
// Unix nanoseconds. A nil receiver measures nothing.
func (t *Timings) AddCommitTime(fromNanos, toNanos int64) {
	if t != nil {
		t.Log += toNanos - fromNanos
		t.Trace.AddCommit(fromNanos, toNanos)
	}
}

// AddTimeWaitedForBuyers adds nanoseconds that the request waited for buyers. A nil receiver measures
// nothing.
func (t *Timings) AddTimeWaitedForBuyers(nanoseconds int64) {
	if t != nil {
		t.Buyers += nanoseconds
	}
}

// TraceOrNil returns the request's trace. It returns nil if the request is not traced or t is
// nil.
func (t *Timings) TraceOrNil() *RequestTrace {
	if t == nil {
		return nil
	}
	return t.Trace
}
