package auction

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine/market"
	"pingpost/internal/timer"
)

// testClock is the time of a synctest bubble.
type testClock struct{}

func (testClock) Now() int64 { return time.Now().UnixNano() }
func (testClock) Timer(d time.Duration) (<-chan time.Time, func() bool) {
	return timer.New(d)
}

// slowBuyers answer when the test allows it.
type slowBuyers struct {
	pinged  chan struct{}
	answers chan struct{}
}

func newSlowBuyers() slowBuyers {
	return slowBuyers{pinged: make(chan struct{}), answers: make(chan struct{})}
}

func (b slowBuyers) Ping(*market.BuyerPingRequest) market.BuyerPingResult {
	b.pinged <- struct{}{}
	<-b.answers
	return market.BuyerPingResult{Outcome: market.OutcomeNoBid}
}

// collectPings sends pings, waits until all are in flight, and then lets all return.
func collectPings(t *testing.T, r *Runner, b slowBuyers, pings int) {
	t.Helper()
	c, _ := r.collectors.Get().(*bidCollector)
	c.users.Store(1)
	for range pings {
		c.add()
	}
	ended := make(chan error)
	go func() { ended <- c.sendPingsAndWait(time.Now().Add(time.Hour).UnixNano()) }()
	for range pings {
		<-b.pinged
	}
	for range pings {
		b.answers <- struct{}{}
	}
	if err := <-ended; err != nil || c.answered != pings {
		t.Errorf("%d of %d answers, %v", c.answered, pings, err)
	}
	c.endUseAndRecycleIfLast()
	synctest.Wait()
}

// Workers are reused. Simultaneous pings have a worker each, and at most maxIdleWorkers
// stay.
func TestWorkersAreReused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSlowBuyers()
		r := NewRunner(RunnerOptions{Clock: testClock{}, Buyers: b})
		defer synctest.Wait()
		defer r.Close()
		for _, row := range []struct{ pings, idle int }{
			{1, 1}, {1, 1}, {3, 3}, {2, 3}, {maxIdleWorkers + 20, maxIdleWorkers}, {1, maxIdleWorkers},
		} {
			before := slices.Clone(r.workers.idle)
			collectPings(t, r, b, row.pings)
			if got := len(r.workers.idle); got != row.idle {
				t.Fatalf("%d idle workers after %d pings, want %d", got, row.pings, row.idle)
			}
			if row.pings == 1 && len(before) > 0 && !slices.Equal(before, r.workers.idle) {
				t.Error("the ping did not run on the worker that was used last")
			}
		}
		if n := r.PingsInFlight(); n != 0 {
			t.Errorf("%d pings are in flight", n)
		}
	})
}

// Close ends the idle workers at once, and a busy one after its ping. The bubble fails if
// a worker is left.
func TestCloseEndsWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSlowBuyers()
		r := NewRunner(RunnerOptions{Clock: testClock{}, Buyers: b})
		collectPings(t, r, b, 2)
		c := newBidCollector(r)
		c.users.Store(2)
		c.add()
		r.pings.Add(1)
		r.workers.startOnIdleOrNewWorker(pingJob{c, 0})
		<-b.pinged
		r.Close()
		b.answers <- struct{}{}
		synctest.Wait()
		if len(r.workers.idle) != 0 {
			t.Errorf("%d idle workers", len(r.workers.idle))
		}
	})
}
