package engine_test

import (
	"slices"
	"testing"
	"time"

	"pingpost/engine/market"
)

// deaf is an endpoint that hears the second or third attempt of each event.
var deaf = []market.WebhookResult{nacks, mutes, acks}

// tellCut lets a person's lead be delivered and told of with the power cut once
// the log has n entries, and then holds the next process to it: whatever a durable
// fact owes is heard, and nothing else.
func tellCut(t *testing.T, h history, n int, unheard bool) (cut bool) {
	t.Helper()
	x := startDying(t, hooked(two()), n, unheard)
	p := &played{exchange: x, drama: drama{people: []history{h}}}
	x.world.behave = p.behave
	r := mail(t)
	r.script = deaf
	if x.engine.Configure(x.configuration(x.rig)) == nil {
		p.heard = append(p.heard, x.goSend(person(0).withKey("k")))
		r.sendFor(x, 10*time.Minute)
		<-p.heard[0].done
		p.resolve()
		r.sendFor(x, 10*time.Minute)
	}
	cut = x.riseAfterCut()
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
	expectEqual(r.t, x.hooksStand(), "0 pending 0 dead", "in the end")
}

// Whatever two facts the power fails between.
func TestEveryEventIsHeardAcrossAPowerCut(t *testing.T) {
	for i, h := range histories {
		if testing.Short() && i%3 != 0 {
			continue
		}
		t.Run(h.what, func(t *testing.T) {
			everyCut(t, func(t *testing.T, n int, unheard bool) bool { return tellCut(t, h, n, unheard) })
		})
	}
}
