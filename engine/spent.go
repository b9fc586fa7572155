package engine

// Spent is how much of a request's time went into waiting for others, in
// nanoseconds. What is left of the engine's time is its own: looking up,
// deciding, and waiting for requests that stand in the way.
type Spent struct {
	Log    int64 // facts, from their encoding until they are durable and applied
	Buyers int64 // pings, and posts until the answer is due

	Trace *Trace // nil: the request is not traced
}

// addLog and addBuyers add what has passed since a time. Of nobody's request
// nothing is counted.
func (s *Spent) addLog(clock Clock, since int64) {
	if s != nil {
		now := clock.Now()
		s.Log += now - since
		s.Trace.Commit(since, now)
	}
}

func (s *Spent) addBuyers(clock Clock, since int64) {
	if s != nil {
		s.Buyers += clock.Now() - since
	}
}
