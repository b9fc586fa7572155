package report

import (
	"testing"
	"testing/synctest"
	"time"
)

// Work is shared out as it says: who serves never waits for more than a stretch of it.
func TestThrottleRestsAfterWork(t *testing.T) {
	for _, c := range []struct {
		name   string
		behind bool
		slept  time.Duration // each rest, as the system has it
		piece  time.Duration
		want   time.Duration // that twenty pieces take in all
	}{
		{"small pieces, nothing left", false, restTime, 100 * time.Microsecond, 20*100*time.Microsecond + 4*restTime},
		{"a piece longer than a stretch", false, restTime, time.Millisecond, 20*time.Millisecond + 20*restTime},
		{"small pieces, much left", true, restTime, 100 * time.Microsecond, 20 * 100 * time.Microsecond},
		{"long pieces, much left", true, restTime, time.Millisecond, 20*time.Millisecond + 5*restTime},
		{"long pieces, much left, others wait", true, contendedRest, time.Millisecond, 20*time.Millisecond + 17*contendedRest},
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
					t.Errorf("twenty pieces of %s took %s, not %s", c.piece, took, c.want)
				}
			})
		})
	}
}
