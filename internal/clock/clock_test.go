package clock

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestClockDoesNotGoBack checks that the time never falls, and that a timer fires.
func TestClockDoesNotGoBack(t *testing.T) {
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
		t.Error("stopped after it had fired")
	}
}

func TestClockIsMovedForwardAndNeverBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, wall := New(), time.Now()
		shows := func(want time.Duration) {
			t.Helper()
			if got := time.Duration(c.Now() - wall.UnixNano()); got != want {
				t.Errorf("the clock is %v past its start, want %v", got, want)
			}
		}
		shows(0)
		time.Sleep(3 * time.Second)
		shows(3 * time.Second)
		at := func(d time.Duration) int64 { return wall.Add(d).UnixNano() }
		for _, row := range []struct{ to, behind, then time.Duration }{
			{-time.Hour, 0, 3 * time.Second},
			{3 * time.Second, 0, 3 * time.Second},
			{time.Hour, time.Hour - 3*time.Second, time.Hour},
			{time.Minute, 0, time.Hour},
		} {
			if behind := c.AdvanceTo(at(row.to)); behind != row.behind {
				t.Errorf("to %v: it was %v behind, want %v", row.to, behind, row.behind)
			}
			shows(row.then)
		}
		time.Sleep(time.Second)
		shows(time.Hour + time.Second)
	})
}

// The clock says how far it is ahead of the machine's, and a deadline by this clock is as far off
// by the machine's.
func TestClockAheadOfMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		for _, want := range []time.Duration{0, time.Hour} {
			c.AdvanceTo(time.Now().Add(want).UnixNano())
			time.Sleep(time.Minute)
			left := time.Until(c.ToWallClock(time.Unix(0, c.Now()).Add(3 * time.Second)))
			if got := c.AheadOfWallClock(); got != want || left != 3*time.Second {
				t.Errorf("%v ahead, want %v; %v are left of 3 s", got, want, left)
			}
		}
	})
}

// A stopped or fired timer leaves no value for its next use.
func TestTimersAreUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New()
		for _, slept := range []time.Duration{0, time.Second, time.Minute, time.Hour} {
			fired, stop := c.Timer(time.Minute)
			time.Sleep(slept)
			if !stop() {
				t.Errorf("after %v: it could not be stopped", slept)
			}
			time.Sleep(time.Hour)
			select {
			case <-fired:
				t.Errorf("after %v: it fired when it had been stopped", slept)
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
