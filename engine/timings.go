package engine

// Timings are the parts of a request's time that the engine waited for others, in
// nanoseconds. The rest of its time went into lookups, the decision, and waiting for
// other requests.
type Timings struct {
	Log    int64 // from the encoding of events until they are durable and applied
	Buyers int64 // pings, and posts until the answer is due

	Trace *Trace // nil: the request is not traced
}

// addLog adds the time since began to Log. A nil receiver measures nothing.
func (t *Timings) addLog(clock Clock, began int64) {
	if t != nil {
		now := clock.Now()
		t.Log += now - began
		t.Trace.Commit(began, now)
	}
}

// addBuyers adds the time since began to Buyers. A nil receiver measures nothing.
func (t *Timings) addBuyers(clock Clock, began int64) {
	if t != nil {
		t.Buyers += clock.Now() - began
	}
}
