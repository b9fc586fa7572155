package engine_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// All waiting requests get an error, memory has only durable events, and later requests fail.
func TestFailedLogFailsAllRequests(t *testing.T) {
	r := twoPostBuyers()
	r.buyers = append(r.buyers, buyer{id: "red", caps: []string{"total 1"}})
	r.campaigns = append(r.campaigns, campaign{
		id: "home", method: market.RoundRobin, duplicates: anyOf, filterSets: []filterSet{{buyer: "red"}},
	})
	home := func(n int) request { return leadRequest(n, "flo_campaign_id", "home") }
	runWithExchange(t, "with requests at every stage", r, func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue", accepts.after(2*time.Second))
		waiting := map[string]*ingestCall{"for its buyer": x.startIngest(leadRequest(1).withKey("buyer"))}
		time.Sleep(time.Second)
		x.log.setSyncTime(time.Second) // a batch is being written until the log fails
		x.log.failAfterEntries(x.log.len(), nil)
		waiting["for the log"] = x.startIngest(home(2).withKey("log"))
		synctest.Wait()
		waiting["for capacity"] = x.startIngest(home(3))
		waiting["for a possible duplicate"] = x.startIngest(home(2))
		waiting["for the first request with its key"] = x.startIngest(home(2).withKey("log"))
		waiting["for a lead in delivery"] = x.startIngest(leadRequest(1))
		waiting["as a repeat, for its buyer"] = x.startIngest(leadRequest(1).withKey("buyer"))
		waiting["in the queue, refused"] = x.startIngest(leadRequest(4, "state", "-", "flo_campaign_id", "home").withKey("q"))
		synctest.Wait()
		seq, hash := x.state.Hash()
		entries := x.log.len()
		for where, s := range waiting {
			if got := s.wait(); !errors.Is(s.err, errLogFailed) && !errors.Is(s.err, engine.ErrUnavailable) {
				t.Errorf("waiting %s: %s", where, got)
			}
			if s.took > 5*time.Second {
				t.Errorf("waiting %s: answer after %s", where, s.took)
			}
		}
		time.Sleep(time.Minute)
		for i := range 3 {
			expectError(t, errorOf(x.ingest(home(10+i))), errLogFailed, "a lead after the failure")
		}
		for _, err := range []error{
			x.engine.AsOperator("").AdjustBuyerFunds("blue", 1, ""), x.engine.AsOperator("").SetCampaignOrBuyerPaused(event.ObjectBuyer, "red", true),
			x.engine.AsOperator("").AddCredential(newAPIKey("acme", 1)), x.engine.AsOperator("").SetOutgoingSecret("s", nil),
			x.engine.Configure(x.configuration(threeBuyers(market.Waterfall))),
		} {
			if !errors.Is(err, errLogFailed) {
				t.Errorf("operator action after the failure: %v", err)
			}
		}
		if again, now := x.state.Hash(); again != seq || now != hash || x.log.len() != entries {
			t.Error("memory changed after the failure")
		}
	})
	runWithExchange(t, "with deliveries in the background", r, func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue", hangs, serverError, accepts)
		expectEqual(t, x.ingestResult(leadRequest(1)), "blue")
		x.log.failAfterEntries(x.log.len(), nil)
		time.Sleep(time.Hour)
		if x.engine.RunningDeliveries() != 0 || x.observed.faults.Load() == 0 {
			t.Errorf("%d running deliveries, %d reported faults", x.engine.RunningDeliveries(), x.observed.faults.Load())
		}
		x.abandonProcess()
		x.restart()
		x.buyers.scriptPosts("blue", accepts)
		time.Sleep(time.Hour)
		expectEqual(t, len(x.buyers.buyersByPerson()), 1, "sold leads")
	})
}

func TestRequestRejectedByFullLogCanBeRepeated(t *testing.T) {
	runInVirtualTime(t, "repeat", func(t *testing.T) {
		errQueueFull := errors.New("the queue is full")
		var full error
		x := newExchange(t, threeBuyers(market.Waterfall), logThatRejects(func(event.Kind) error { return full }))
		full = errQueueFull
		expectError(t, errorOf(x.ingest(leadRequest(1).withKey("k"))), errQueueFull)
		expectEqual(t, x.state.ReservationCount(), 0, "reservations")
		full = nil
		expectEqual(t, x.ingestResult(leadRequest(1).withKey("k")), "blue")
	})
}

// At Close, waiting requests get ErrUnavailable. No lead gets a false reason.
func TestCloseFailsWaitingRequestsWithoutDecision(t *testing.T) {
	runInVirtualTime(t, "waiting", func(t *testing.T) {
		r := duplicatesMarket(anyOf, true)
		r.buyers[0].caps = []string{"day 9"}
		r.campaigns = append(r.campaigns, campaign{id: "home", method: market.Waterfall, caps: []string{"day 1"}, filterSets: []filterSet{{buyer: "gold"}}})
		r.buyers[1].postEndpoint = false
		x := newExchange(t, r)
		x.buyers.scriptPosts("blue", accepts.after(3*time.Second))
		first := x.startIngest(leadRequest(1).withKey("k"))
		synctest.Wait()
		x.log.setSyncTime(2 * time.Second)
		taken := x.startIngest(leadRequest(2, "flo_campaign_id", "home"))
		synctest.Wait()
		waiting := []*ingestCall{
			x.startIngest(leadRequest(1)), x.startIngest(leadRequest(1).withKey("k")), x.startIngest(leadRequest(3, "flo_campaign_id", "home")),
		}
		synctest.Wait()
		entries := x.log.len()
		x.engine.Close()
		for i, s := range waiting {
			<-s.done
			if !errors.Is(s.err, engine.ErrUnavailable) && !(i == 1 && s.wait() == "blue") {
				t.Errorf("request %d: %s", i, s.wait())
			}
		}
		expectEqual(t, first.wait()+" "+taken.wait(), "blue gold", "decided leads")
		expectEqual(t, x.log.len()-entries, 2, "entries: the sale and the settlement")
	})
	runInVirtualTime(t, "delivery starts after Close", func(t *testing.T) {
		var x *testExchange
		x = newExchange(t, twoPostBuyers(), func(opt *engine.Options) {
			opt.Admit = func() error { x.engine.Close(); return nil } // after admission, before the delivery
		})
		expectError(t, errorOf(x.ingest(leadRequest(1).withKey("k"))), engine.ErrUnavailable)
		expectEqual(t, len(x.buyers.postAttempts()), 0, "posts")
	})
	runInVirtualTime(t, "at different times", func(t *testing.T) {
		for i := range 20 {
			x := newExchange(t, twoPostBuyers())
			x.buyers.scriptPosts("blue", accepts.after(time.Second))
			s := x.startIngest(leadRequest(1))
			synctest.Wait()
			time.Sleep(time.Duration(i) * 70 * ms)
			x.engine.Close()
			x.engine.Close()
			expectEqual(t, x.engine.RunningDeliveries(), 0, "running deliveries after Close")
			if got := s.wait(); got != "blue" {
				t.Error(fmt.Sprint(i, " ", got))
			}
		}
	})
}
