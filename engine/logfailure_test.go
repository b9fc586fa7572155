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

// When the log fails, everyone who waits hears of it, whatever they wait for;
// nothing that was not durable is in memory, and nothing is taken afterwards.
func TestLogThatFails(t *testing.T) {
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
		x.log.setSyncTime(time.Second) // a batch is on its way until the log fails
		x.log.failAfterEntries(x.log.len(), nil)
		waiting["for the log"] = x.startIngest(home(2).withKey("log"))
		synctest.Wait()
		waiting["for room"] = x.startIngest(home(3))
		waiting["for a lead like it"] = x.startIngest(home(2))
		waiting["for the one with its key"] = x.startIngest(home(2).withKey("log"))
		waiting["for a lead at its buyer"] = x.startIngest(leadRequest(1))
		waiting["with it, for its buyer"] = x.startIngest(leadRequest(1).withKey("buyer"))
		waiting["in the queue, refused"] = x.startIngest(leadRequest(4, "state", "-", "flo_campaign_id", "home").withKey("q"))
		synctest.Wait()
		seq, hash := x.state.Hash()
		entries := x.log.len()
		for where, s := range waiting {
			if got := s.wait(); !errors.Is(s.err, errLogFailed) && !errors.Is(s.err, engine.ErrUnavailable) {
				t.Errorf("waiting %s: %s", where, got)
			}
			if s.took > 5*time.Second {
				t.Errorf("waiting %s: heard after %s", where, s.took)
			}
		}
		time.Sleep(time.Minute)
		for i := range 3 {
			expectError(t, errorOf(x.ingest(home(10+i))), errLogFailed, "a lead after the failure")
		}
		for _, err := range []error{
			x.engine.AsOperator("").TopUpBuyer("blue", 1, ""), x.engine.AsOperator("").SetPaused(event.ObjectBuyer, "red", true),
			x.engine.AsOperator("").AddCredential(newAPIKey("acme", 1)), x.engine.AsOperator("").SetOutgoingSecret("s", nil),
			x.engine.Configure(x.configuration(threeBuyers(market.Waterfall))),
		} {
			if !errors.Is(err, errLogFailed) {
				t.Errorf("an operator after the failure: %v", err)
			}
		}
		if again, now := x.state.Hash(); again != seq || now != hash || x.log.len() != entries {
			t.Error("something was applied that is not durable")
		}
	})
	runWithExchange(t, "with deliveries in the background", r, func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue", hangs, serverError, accepts)
		expectEqual(t, x.ingestResult(leadRequest(1)), "blue")
		x.log.failAfterEntries(x.log.len(), nil)
		time.Sleep(time.Hour)
		if x.engine.RunningDeliveries() != 0 || x.observed.faults.Load() == 0 {
			t.Errorf("%d deliveries go on, %d faults were told", x.engine.RunningDeliveries(), x.observed.faults.Load())
		}
		x.abandonProcess()
		x.restart()
		x.buyers.scriptPosts("blue", accepts)
		time.Sleep(time.Hour)
		expectEqual(t, len(x.buyers.buyersByPerson()), 1, "people were sold")
	})
}

// A log that is full for a moment takes no intake, and what was refused so can
// be sent again.
func TestLogThatIsBusy(t *testing.T) {
	runInVirtualTime(t, "refused, and sent again", func(t *testing.T) {
		crowded := errors.New("the queue is full")
		var full error
		x := newExchange(t, threeBuyers(market.Waterfall), logThatRejects(func(event.Kind) error { return full }))
		full = crowded
		expectError(t, errorOf(x.ingest(leadRequest(1).withKey("k"))), crowded)
		expectEqual(t, x.state.ReservationCount(), 0, "reservations")
		full = nil
		expectEqual(t, x.ingestResult(leadRequest(1).withKey("k")), "blue")
	})
}

// When the exchange stops, who waits is told to come again: no lead is refused
// for a reason that is none.
func TestStopDecidesNothing(t *testing.T) {
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
		expectEqual(t, first.wait()+" "+taken.wait(), "blue gold", "those that were decided")
		expectEqual(t, x.log.len()-entries, 2, "entries: the sale and the settlement")
	})
	runInVirtualTime(t, "a delivery begun too late", func(t *testing.T) {
		var x *testExchange
		x = newExchange(t, twoPostBuyers(), func(opt *engine.Options) {
			opt.Admit = func() error { x.engine.Close(); return nil } // between the door and the courier
		})
		expectError(t, errorOf(x.ingest(leadRequest(1).withKey("k"))), engine.ErrUnavailable)
		expectEqual(t, len(x.buyers.postAttempts()), 0, "it was posted")
	})
	runInVirtualTime(t, "again and again", func(t *testing.T) {
		for i := range 20 {
			x := newExchange(t, twoPostBuyers())
			x.buyers.scriptPosts("blue", accepts.after(time.Second))
			s := x.startIngest(leadRequest(1))
			synctest.Wait()
			time.Sleep(time.Duration(i) * 70 * ms)
			x.engine.Close()
			x.engine.Close()
			expectEqual(t, x.engine.RunningDeliveries(), 0, "deliveries after the end")
			if got := s.wait(); got != "blue" {
				t.Error(fmt.Sprint(i, " ", got))
			}
		}
	})
}
