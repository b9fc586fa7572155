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

// recordOnlyMarket is a rig whose campaign posts to nobody.
func recordOnlyMarket() marketSpec {
	return marketSpec{
		buyers:    []buyer{{id: "red", caps: []string{"total 20"}}},
		campaigns: []campaign{{method: market.RoundRobin, duplicates: anyOf, filterSets: []filterSet{{buyer: "red", states: "CA"}}}},
	}
}

// A request that was decided is not needed any more, and neither is the
// workspace: while the log is slow others use both, and what becomes durable is
// what was decided.
func TestWhatIsDecidedNeedsNothingOfItsRequest(t *testing.T) {
	runWithExchange(t, "while the log is slow", recordOnlyMarket(), func(t *testing.T, x *testExchange) {
		x.log.setSyncTime(time.Second)
		start := time.Now()
		type under struct {
			decision *engine.Decision
			want     string
		}
		var all []under
		for i := range 12 {
			r, want := leadRequest(i).withKey("k"+string(rune('a'+i))), "red"
			if i%3 == 2 {
				r, want = leadRequest(i, "state", "NV"), "no_state_match"
			}
			req := x.ingestRequest(r)
			decision := must.Value(x.engine.Decide(req))(t)
			for m := range req.Members {
				clear(req.Members[m].Text)
			}
			clear(req.Members)
			clear(req.Body)
			clear(req.Key)
			all = append(all, under{decision, want})
		}
		expectEqual(t, time.Since(start), 0, "deciding waited for the log")
		expectEqual(t, x.observed.decidedLeads.Load(), 0, "decisions were noted before they were durable")
		for i, u := range all {
			answer, err := u.decision.Wait()
			expectEqual(t, describeIngest(answer, err), u.want, "lead ", i)
			lead := x.lead(answer)
			if lead.Request != answer.Request || lead.Payout != answer.Payout {
				t.Errorf("lead %d: memory has %+v, and the answer is %+v", i, lead, answer)
			}
		}
		expectEqual(t, x.observed.decidedLeads.Load(), int64(len(all)), "decisions were noted, of ", len(all))
		expectEqual(t, x.ingestResult(leadRequest(0)), "duplicate", "the first lead again")
		_, live := x.state.Hash()
		if _, again := replayState(t, x.log.durable()).Hash(); again != live {
			t.Error("a replay makes another state")
		}
	})
}

// A decision that never becomes durable is told to nobody, and holds nothing.
func TestADecisionIsLostWithTheLog(t *testing.T) {
	runWithExchange(t, "while it is in the queue", recordOnlyMarket(), func(t *testing.T, x *testExchange) {
		x.log.setSyncTime(time.Second)
		x.log.failAfterEntries(x.log.len(), nil)
		decision := must.Value(x.engine.Decide(x.ingestRequest(leadRequest(1).withKey("k"))))(t)
		if answer, err := decision.Wait(); !errors.Is(err, errLogFailed) || answer != (engine.IngestAnswer{}) {
			t.Errorf("told %+v, %v", answer, err)
		}
		expectError(t, errorOf(x.engine.Decide(x.ingestRequest(leadRequest(2).withKey("l")))), errLogFailed, "the next one")
		synctest.Wait()
		if n := x.state.ReservationCount(); n != 0 || x.observed.decidedLeads.Load() != 0 {
			t.Errorf("%d reservations are left, and %d decisions were noted", n, x.observed.decidedLeads.Load())
		}
	})
}
