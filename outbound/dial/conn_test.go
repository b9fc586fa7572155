package dial

import (
	"testing"
	"time"

	"pingpost/internal/must"
)

// A loose deadline is never early, and late by at most a sixteenth of the time and a
// second. A post has an exact deadline.
func TestLooseDeadlineIsReused(t *testing.T) {
	var set []time.Time
	w := &socketConn{Conn: failingConn{deadlines: &set}}
	l := &outboundConn{Conn: w, socket: w}
	start := time.Now()
	steps := []struct {
		name   string
		after  time.Duration // from the start to the deadline
		ping   bool
		reused bool          // an earlier deadline is still in force
		late   time.Duration // at most
	}{
		{"the first", 32 * time.Second, true, false, time.Second},
		{"the same", 32 * time.Second, true, true, 0},
		{"a little later", 32*time.Second + 500*time.Millisecond, true, true, 0},
		{"earlier than the first", 31 * time.Second, true, false, time.Second},
		{"too late for that", 33 * time.Second, true, false, time.Second},
		{"a post", 33 * time.Second, false, false, 0},
		{"a post again", 33 * time.Second, false, false, 0},
		{"after a post", 33*time.Second + time.Millisecond, true, false, time.Second},
		{"a short one", 16 * time.Millisecond, true, false, time.Millisecond},
		{"one that is over", -time.Second, true, false, 0},
	}
	for _, step := range steps {
		set = set[:0]
		deadline := start.Add(step.after)
		must.Succeed(t, l.applyDeadline(deadline, step.ping))
		switch {
		case step.reused:
			if len(set) != 0 {
				t.Errorf("%s: set %v after the start", step.name, set[0].Sub(start))
			}
		case len(set) != 1:
			t.Errorf("%s: set %d times", step.name, len(set))
		case set[0].Before(deadline) || set[0].After(deadline.Add(step.late)):
			t.Errorf("%s: set %v late, at most %v", step.name, set[0].Sub(deadline), step.late)
		}
	}
}
