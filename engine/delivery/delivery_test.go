package delivery

import (
	"testing"
	"testing/synctest"
	"time"

	"pingpost/internal/timer"
)

type bubbleClock struct{}

func (bubbleClock) Now() int64 { return time.Now().UnixNano() }
func (bubbleClock) Timer(d time.Duration) (<-chan time.Time, func() bool) {
	return timer.New(d)
}

// TestStopEndsRetries: a stop ends the wait before the next attempt, also without a pause.
func TestStopEndsRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		registry := NewRunningDeliveries(Options{Clock: bubbleClock{}, Stop: stop})
		for _, pause := range []time.Duration{0, time.Hour} {
			d := &Delivery{all: registry, pause: pause}
			if pause == 0 {
				if !d.waitForRetryOrStop() {
					t.Error("no retry although the exchange runs")
				}
				close(stop)
			}
			if d.waitForRetryOrStop() {
				t.Errorf("retries after the stop, pause %s", pause)
			}
		}
	})
}
