package report

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestThrottleRestsAfterWork checks the rests between pieces of work, so that requests never wait
// longer than one stretch of work.
func TestThrottleRestsAfterWork(t *testing.T) {
	for _, c := range []struct {
		name   string
		behind bool
		slept  time.Duration // real length of a rest
		piece  time.Duration
		want   time.Duration // total of twenty pieces
	}{
		{"small pieces, no backlog", false, restTime, 100 * time.Microsecond, 20*100*time.Microsecond + 4*restTime},
		{"long pieces, no backlog", false, restTime, time.Millisecond, 20*time.Millisecond + 20*restTime},
		{"small pieces, backlog", true, restTime, 100 * time.Microsecond, 20 * 100 * time.Microsecond},
		{"long pieces, backlog", true, restTime, time.Millisecond, 20*time.Millisecond + 5*restTime},
		{"long pieces, backlog, contention", true, contendedRest, time.Millisecond, 20*time.Millisecond + 17*contendedRest},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := writeThrottle{catchingUp: c.behind, sleep: func(time.Duration) { time.Sleep(c.slept) }}
				began := time.Now()
				b.recordWorkStart()
				for range 20 {
					time.Sleep(c.piece)
					b.sleepIfDue()
				}
				if took := time.Since(began); took != c.want {
					t.Errorf("twenty pieces of %s took %s, want %s", c.piece, took, c.want)
				}
			})
		})
	}
}
