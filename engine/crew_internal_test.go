package engine

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine/market"
)

// patient are buyers that answer when they are told to.
type patient struct {
	Buyers
	asked   chan struct{}
	answers chan struct{}
}

func (h patient) Ping(*market.PingRequest) market.PingResult {
	h.asked <- struct{}{}
	<-h.answers
	return market.PingResult{Outcome: market.OutcomeNoBid}
}

// gatherInCrew asks so many buyers, lets all be asked, and then lets all answer.
func gatherInCrew(t *testing.T, e *Engine, h patient, pings int) {
	t.Helper()
	g, _ := e.gatherings.Get().(*gathering)
	g.users.Store(1)
	for range pings {
		g.add()
	}
	ended := make(chan error)
	go func() { ended <- g.run(time.Now().Add(time.Hour).UnixNano()) }()
	for range pings {
		<-h.asked
	}
	for range pings {
		h.answers <- struct{}{}
	}
	if err := <-ended; err != nil || g.answered != pings {
		t.Errorf("%d of %d answers, %v", g.answered, pings, err)
	}
	g.release()
	synctest.Wait()
}

// A hand that has sent its ping sends others; so many at once have so many
// hands, and no more than are worth keeping stay.
func TestHandsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := patient{asked: make(chan struct{}), answers: make(chan struct{})}
		e := New(Options{Clock: timePorts{}, Buyers: h})
		defer synctest.Wait()
		defer e.Close()
		for _, row := range []struct{ pings, idle int }{
			{1, 1}, {1, 1}, {3, 3}, {2, 3}, {maxIdle + 20, maxIdle}, {1, maxIdle},
		} {
			before := append([]*hand(nil), e.crew.idle...)
			gatherInCrew(t, e, h, row.pings)
			if got := len(e.crew.idle); got != row.idle {
				t.Fatalf("%d hands are idle after %d pings, want %d", got, row.pings, row.idle)
			}
			if row.pings == 1 && len(before) > 0 && !slices.Equal(before, e.crew.idle) {
				t.Error("the hand that was idle for the shortest time was not the one that was taken")
			}
		}
		if n := e.Pings(); n != 0 {
			t.Errorf("%d pings are under way", n)
		}
	})
}

// The end of the exchange ends its hands: those that are idle at once, and one
// with a ping when that has ended. The bubble fails where one is left.
func TestHandsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := patient{asked: make(chan struct{}), answers: make(chan struct{})}
		e := New(Options{Clock: timePorts{}, Buyers: h})
		gatherInCrew(t, e, h, 2)
		g := newGathering(e)
		g.users.Store(2)
		g.add()
		e.pinging.Add(1)
		e.crew.send(job{g, 0})
		<-h.asked
		e.Close()
		h.answers <- struct{}{}
		synctest.Wait()
		if len(e.crew.idle) != 0 {
			t.Errorf("%d hands are idle", len(e.crew.idle))
		}
	})
}
