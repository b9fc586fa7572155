package engine_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// recordOnlyMarket returns a market whose buyer has no endpoint.
func recordOnlyMarket() marketSpec {
	return marketSpec{
		buyers:    []buyer{{id: "red", caps: []string{"total 20"}}},
		campaigns: []campaign{{method: market.RoundRobin, duplicates: anyOf, filterSets: []filterSet{{buyer: "red", states: "CA"}}}},
	}
}

// After Decide other requests can reuse the memory of the request and the workspace, even if the
// event is not yet durable.
func TestDecisionDoesNotUseRequestMemory(t *testing.T) {
	runWithExchange(t, "while the log is slow", recordOnlyMarket(), func(t *testing.T, x *testExchange) {
		x.log.setSyncTime(time.Second)
		start := time.Now()
		type under struct {
			decision *engine.PendingLeadDecision
			want     string
		}
		var all []under
		for i := range 12 {
			r, want := leadRequest(i).withKey("k"+string(rune('a'+i))), "red"
			if i%3 == 2 {
				r, want = leadRequest(i, "state", "NV"), "no_state_match"
			}
			req := x.ingestRequest(r)
			decision := must.Value(x.engine.DecideAndDeliver(req))(t)
			for m := range req.Members {
				clear(req.Members[m].Text)
			}
			clear(req.Members)
			clear(req.Body)
			clear(req.Key)
			all = append(all, under{decision, want})
		}
		expectEqual(t, time.Since(start), 0, "duration of Decide, which must not wait for the log")
		expectEqual(t, x.observed.decidedLeads.Load(), 0, "decisions reported before they were durable")
		for i, u := range all {
			answer, err := u.decision.WaitUntilCommitted()
			expectEqual(t, describeIngest(answer, err), u.want, "lead ", i)
			lead := x.lead(answer)
			if lead.Request != answer.Request || lead.Payout != answer.Payout {
				t.Errorf("lead %d: memory has %+v, the answer %+v", i, lead, answer)
			}
		}
		expectEqual(t, x.observed.decidedLeads.Load(), int64(len(all)), "reported decisions of ", len(all))
		expectEqual(t, x.ingestResult(leadRequest(0)), "duplicate", "the first lead again")
		_, live := x.state.Hash()
		if _, again := replayState(t, x.log.durable()).Hash(); again != live {
			t.Error("replay gives another state")
		}
	})
}

// A decision that does not become durable has no answer and no reservations.
func TestDecisionIsLostWhenLogFails(t *testing.T) {
	runWithExchange(t, "while it is in the queue", recordOnlyMarket(), func(t *testing.T, x *testExchange) {
		x.log.setSyncTime(time.Second)
		x.log.failAfterEntries(x.log.len(), nil)
		decision := must.Value(x.engine.DecideAndDeliver(x.ingestRequest(leadRequest(1).withKey("k"))))(t)
		if answer, err := decision.WaitUntilCommitted(); !errors.Is(err, errLogFailed) || answer != (engine.IngestAnswer{}) {
			t.Errorf("answer %+v, error %v", answer, err)
		}
		expectError(t, errorOf(x.engine.DecideAndDeliver(x.ingestRequest(leadRequest(2).withKey("l")))), errLogFailed, "the next one")
		synctest.Wait()
		if n := x.state.ReservationCount(); n != 0 || x.observed.decidedLeads.Load() != 0 {
			t.Errorf("%d reservations are left, and %d decisions were reported", n, x.observed.decidedLeads.Load())
		}
	})
}
