// Package timing has the records of where a request's time went: sums for metrics, and the
// steps of a traced request.
package timing

// Timings are the parts of a request's time that the engine waited for others, in
// nanoseconds. The rest of its time went into lookups, the decision, and waiting for
// other requests.
type Timings struct {
	Log    int64 // from the encoding of events until they are durable and applied
	Buyers int64 // pings, and posts until the answer is due

	Trace *Trace // nil: the request is not traced
}

// AddCommitTime adds the time of a commit, in Unix nanoseconds. A nil receiver measures nothing.
func (t *Timings) AddCommitTime(from, to int64) {
	if t != nil {
		t.Log += to - from
		t.Trace.AddCommit(from, to)
	}
}

// AddBuyerTime adds nanoseconds to Buyers. A nil receiver measures nothing.
func (t *Timings) AddBuyerTime(nanoseconds int64) {
	if t != nil {
		t.Buyers += nanoseconds
	}
}

// TraceOrNil returns the request's trace, or nil.
func (t *Timings) TraceOrNil() *Trace {
	if t == nil {
		return nil
	}
	return t.Trace
}
