package metrics

import (
	"sync/atomic"
	"time"
)

// LogThrottle limits log lines about an event that may occur thousands of times a second. It
// allows one line per minute, with the number of events.
type LogThrottle struct {
	pending  atomic.Int64 // since the last line
	loggedAt atomic.Int64 // Unix nanoseconds: time of the last line
}

// CountEvent counts an event. If the caller should log a line now, shouldLog is true, and
// eventsSinceLastLine is the number of events since the last line, this one included.
func (r *LogThrottle) CountEvent() (eventsSinceLastLine int64, shouldLog bool) {
	r.pending.Add(1)
	now, last := time.Now().UnixNano(), r.loggedAt.Load()
	if now-last < int64(throttleFor) || !r.loggedAt.CompareAndSwap(last, now) {
		return 0, false
	}
	return r.pending.Swap(0), true
}

// throttleFor is the shortest time between two log lines.
const throttleFor = time.Minute
