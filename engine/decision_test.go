package engine_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
)

// recorded is a rig whose campaign posts to nobody.
func recorded() rig {
	return rig{
		buyers:    []buyer{{id: "red", caps: []string{"total 20"}}},
		campaigns: []campaign{{method: market.RoundRobin, duplicates: anyOf, seats: []seat{{buyer: "red", states: "CA"}}}},
	}
}

// A request that was decided is not needed any more, and neither is the
// workspace: while the log is slow others use both, and what becomes durable is
// what was decided.
func TestWhatIsDecidedNeedsNothingOfItsRequest(t *testing.T) {
	bubble(t, "while the log is slow", func(t *testing.T) {
		x := begin(t, recorded())
		x.log.slow(time.Second)
		start := time.Now()
		type under struct {
			decision *engine.Decision
			want     string
		}
		var all []under
		for i := range 12 {
			r, want := person(i).withKey("k"+string(rune('a'+i))), "red"
			if i%3 == 2 {
				r, want = person(i, "state", "NV"), "no_state_match"
			}
			req := x.ingestOf(r)
			decision, err := x.engine.Decide(req)
			if err != nil {
				t.Fatal(err)
			}
			for m := range req.Members {
				clear(req.Members[m].Text)
			}
			clear(req.Members)
			clear(req.Body)
			clear(req.Key)
			all = append(all, under{decision, want})
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("deciding waited %s for the log", took)
		}
		if n := x.noted.decided.Load(); n != 0 {
			t.Errorf("%d decisions were noted before they were durable", n)
		}
		for i, u := range all {
			answer, err := u.decision.Wait()
			if got := said(answer, err); got != u.want {
				t.Errorf("lead %d: %s, want %s", i, got, u.want)
			}
			lead := x.lead(answer)
			if lead.Request != answer.Request || lead.Payout != answer.Payout {
				t.Errorf("lead %d: memory has %+v, and the answer is %+v", i, lead, answer)
			}
		}
		if n := x.noted.decided.Load(); n != int64(len(all)) {
			t.Errorf("%d decisions were noted, of %d", n, len(all))
		}
		if got := x.tell(person(0)); got != "duplicate" {
			t.Errorf("the first lead again: %s", got)
		}
		_, live := x.state.Hash()
		if _, again := replayed(t, x.log.durable()).Hash(); again != live {
			t.Error("a replay makes another state")
		}
	})
}

// A decision that never becomes durable is told to nobody, and holds nothing.
func TestADecisionIsLostWithTheLog(t *testing.T) {
	bubble(t, "while it is in the queue", func(t *testing.T) {
		x := begin(t, recorded())
		x.log.slow(time.Second)
		x.log.die(x.log.len(), nil)
		decision, err := x.engine.Decide(x.ingestOf(person(1).withKey("k")))
		if err != nil {
			t.Fatal(err)
		}
		if answer, err := decision.Wait(); !errors.Is(err, errDead) || answer != (engine.Answer{}) {
			t.Errorf("told %+v, %v", answer, err)
		}
		if _, err := x.engine.Decide(x.ingestOf(person(2).withKey("l"))); !errors.Is(err, errDead) {
			t.Errorf("the next one: %v", err)
		}
		synctest.Wait()
		if n := x.state.ReservationCount(); n != 0 || x.noted.decided.Load() != 0 {
			t.Errorf("%d reservations are left, and %d decisions were noted", n, x.noted.decided.Load())
		}
	})
}
