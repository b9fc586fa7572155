package clock

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestClockIsMonotonic also checks that a timer fires.
func TestClockIsMonotonic(t *testing.T) {
	c := New()
	last := c.Now()
	for range 1000 {
		now := c.Now()
		if now < last {
			t.Fatalf("%d after %d", now, last)
		}
		last = now
	}
	fired, stop := c.Timer(1)
	<-fired
	if stop() {
		t.Error("stop reports true after the timer fired")
	}
}

func TestAdvanceToMovesForwardOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, wall := New(), time.Now()
		checkElapsed := func(want time.Duration) {
			t.Helper()
			if got := time.Duration(c.Now() - wall.UnixNano()); got != want {
				t.Errorf("the clock is %v past its start, want %v", got, want)
			}
		}
		checkElapsed(0)
		time.Sleep(3 * time.Second)
		checkElapsed(3 * time.Second)
		at := func(d time.Duration) int64 { return wall.Add(d).UnixNano() }
		for _, row := range []struct{ to, behind, want time.Duration }{
			{-time.Hour, 0, 3 * time.Second},
			{3 * time.Second, 0, 3 * time.Second},
			{time.Hour, time.Hour - 3*time.Second, time.Hour},
			{time.Minute, 0, time.Hour},
		} {
			if behind := c.AdvanceTo(at(row.to)); behind != row.behind {
				t.Errorf("AdvanceTo(%v): %v behind, want %v", row.to, behind, row.behind)
			}
			checkElapsed(row.want)
		}
		time.Sleep(time.Second)
		checkElapsed(time.Hour + time.Second)
	})
}

// TestClockAheadOfMachine: AheadOfWallClock returns the difference, and ToWallClock keeps the time
// left until a deadline.
func TestClockAheadOfMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		for _, want := range []time.Duration{0, time.Hour} {
			c.AdvanceTo(time.Now().Add(want).UnixNano())
			time.Sleep(time.Minute)
			left := time.Until(c.ToWallClock(time.Unix(0, c.Now()).Add(3 * time.Second)))
			if got := c.AheadOfWallClock(); got != want || left != 3*time.Second {
				t.Errorf("%v ahead, want %v; %v left, want 3s", got, want, left)
			}
		}
	})
}

// TestReusedTimersHaveNoStaleValue stops timers before, at and after their time.
func TestReusedTimersHaveNoStaleValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		for _, slept := range []time.Duration{0, time.Second, time.Minute, time.Hour} {
			fired, stop := c.Timer(time.Minute)
			time.Sleep(slept)
			if !stop() {
				t.Errorf("after %v: stop reports false", slept)
			}
			time.Sleep(time.Hour)
			select {
			case <-fired:
				t.Errorf("after %v: the stopped timer fired", slept)
			default:
			}
			begun := time.Now()
			fired, stop = c.Timer(2 * time.Minute)
			select {
			case <-fired:
				t.Errorf("after %v: the next fired at once", slept)
			default:
			}
			<-fired
			if took := time.Since(begun); took != 2*time.Minute {
				t.Errorf("after %v: the next fired after %v", slept, took)
			}
			stop()
		}
	})
}
