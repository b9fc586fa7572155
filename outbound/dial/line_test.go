package dial

import (
	"testing"
	"time"
)

// TestAPingsDeadlineServesForOthers: never early, late by a sixteenth of the
// time and by a second at most; and a post has its own to the nanosecond.
func TestAPingsDeadlineServesForOthers(t *testing.T) {
	var given []time.Time
	w := &wire{Conn: brittle{deadlines: &given}}
	l := &line{Conn: w, wire: w}
	start := time.Now()
	steps := []struct {
		name   string
		after  time.Duration // from the start to the deadline
		ping   bool
		served bool          // by the deadline of an earlier step
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
		given = given[:0]
		deadline := start.Add(step.after)
		if err := l.until(deadline, step.ping); err != nil {
			t.Fatal(err)
		}
		switch {
		case step.served:
			if len(given) != 0 {
				t.Errorf("%s: given %v after the start", step.name, given[0].Sub(start))
			}
		case len(given) != 1:
			t.Errorf("%s: given %d times", step.name, len(given))
		case given[0].Before(deadline) || given[0].After(deadline.Add(step.late)):
			t.Errorf("%s: given %v late, at most %v", step.name, given[0].Sub(deadline), step.late)
		}
	}
}
