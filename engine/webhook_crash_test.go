package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
)

// deaf is an endpoint that hears the second or third attempt of each event.
var deaf = []market.WebhookResult{nacks, mutes, acks}

// tellCut lets a person's lead be delivered and told of with the power cut once
// the log has n entries, and then holds the next process to it: whatever a durable
// fact owes is heard, and nothing else.
func tellCut(t *testing.T, h history, n int, unheard bool) (cut bool) {
	t.Helper()
	x := &exchange{t: t, rig: hooked(two()), log: newMemoryLog(t), world: newWorld(t)}
	p := &played{exchange: x, drama: drama{people: []history{h}}}
	x.world.behave = p.behave
	r := mail(t)
	r.script = deaf
	x.start()
	life := x.life
	x.log.die(n, life.die)
	x.log.unheard = unheard
	if x.engine.Configure(x.configuration(x.rig)) == nil {
		p.heard = append(p.heard, x.goSend(person(0).withKey("k")))
		r.sendFor(x, 10*time.Minute)
		<-p.heard[0].done
		p.resolve()
		r.sendFor(x, 10*time.Minute)
	}
	cut = x.log.died()
	x.life.die()
	x.bury()
	x.rise()
	r.sendFor(x, 2*day)
	r.heardAll(x)
	x.finish()
	return cut
}

// heardAll sees that what the log's facts owe was heard, that nothing waits, and
// that nobody was told what no fact owes.
func (r *receivers) heardAll(x *exchange) {
	r.t.Helper()
	heard := map[string]bool{}
	owed := x.owed()
	for _, a := range r.told {
		name := a.what + " " + a.lead
		heard[name] = heard[name] || a.result.Delivered
		if !slices.Contains(owed, name) {
			r.t.Errorf("told is %s, which nothing owes", name)
		}
	}
	for i, name := range owed {
		if !heard[name] {
			r.t.Errorf("%s was never heard", name)
		}
		if slices.Contains(owed[:i], name) {
			r.t.Errorf("%s is owed twice", name)
		}
	}
	if got := x.hooksStand(); got != "0 pending 0 dead" {
		r.t.Errorf("in the end: %s", got)
	}
}

// Whatever two facts the power fails between.
func TestEveryEventIsHeardAcrossAPowerCut(t *testing.T) {
	for i, h := range histories {
		if testing.Short() && i%3 != 0 {
			continue
		}
		t.Run(h.what, func(t *testing.T) {
			for n := 1; ; n += cutStep() {
				cut := false
				for _, unheard := range []bool{false, true} {
					synctest.Test(t, func(t *testing.T) { cut = tellCut(t, h, n, unheard) })
					if t.Failed() {
						t.Fatalf("cut at entry %d, unheard=%v", n, unheard)
					}
				}
				if !cut {
					return
				}
			}
		})
	}
}

// Many leads and reports of them, an endpoint that fails at random, and a process
// that dies again and again: all is heard, the events of each lead in their order
// as long as nothing fails twice.
func TestEveryEventIsHeardThroughPowerThatFailsOften(t *testing.T) {
	for seed := range uint64(20) {
		chance := rand.New(rand.NewPCG(seed, 3))
		bubble(t, fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			x := begin(t, plain())
			r := mail(t)
			var leads []engine.Answer
			for range 30 {
				r.script = []market.WebhookResult{nacks, acks}
				if chance.IntN(2) == 0 {
					r.script = nil
				}
				switch answer, err := x.send(person(len(leads))); {
				case err != nil:
					t.Fatal(err)
				default:
					leads = append(leads, answer)
				}
				status := []string{"contacted", "qualified", "sold", "returned"}[chance.IntN(4)]
				_ = x.reported(saying(leads[chance.IntN(len(leads))], status)) // it may come too late
				if chance.IntN(2) == 0 {
					r.sendFor(x, time.Duration(chance.IntN(400))*time.Second)
				}
				if chance.IntN(3) == 0 {
					x.crash()
				}
			}
			r.script = nil
			r.sendFor(x, day)
			r.heardAll(x)
			r.inOrder()
		})
	}
}

// inOrder sees that what a lead was told first happened first.
func (r *receivers) inOrder() {
	r.t.Helper()
	last := map[string]*attempt{}
	for _, a := range r.told {
		if a.number > 1 {
			continue
		}
		if before := last[a.lead]; before != nil && before.cause > a.cause {
			r.t.Errorf("lead %s: %s of entry %d before %s of entry %d", a.lead, before.what, before.cause, a.what, a.cause)
		}
		last[a.lead] = a
	}
}
