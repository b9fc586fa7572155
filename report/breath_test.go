package report

import (
	"testing"
	"testing/synctest"
	"time"
)

// Work is shared out as it says: who serves never waits for more than a stretch of it.
func TestABreathIsTakenAfterAStretch(t *testing.T) {
	for _, c := range []struct {
		name   string
		behind bool
		slept  time.Duration // each rest, as the system has it
		piece  time.Duration
		want   time.Duration // that twenty pieces take in all
	}{
		{"small pieces, nothing left", false, rest, 100 * time.Microsecond, 20*100*time.Microsecond + 4*rest},
		{"a piece longer than a stretch", false, rest, time.Millisecond, 20*time.Millisecond + 20*rest},
		{"small pieces, much left", true, rest, 100 * time.Microsecond, 20 * 100 * time.Microsecond},
		{"long pieces, much left", true, rest, time.Millisecond, 20*time.Millisecond + 5*rest},
		{"long pieces, much left, others wait", true, restBusy, time.Millisecond, 20*time.Millisecond + 17*restBusy},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := breath{behind: c.behind, sleep: func(time.Duration) { time.Sleep(c.slept) }}
				began := time.Now()
				b.draw()
				for range 20 {
					time.Sleep(c.piece)
					b.take()
				}
				if took := time.Since(began); took != c.want {
					t.Errorf("twenty pieces of %s took %s, not %s", c.piece, took, c.want)
				}
			})
		})
	}
}
