package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// A drama is what happens to an exchange until its process dies, and after:
// the same requests, the same buyers, the same operator, with the power cut at
// another entry of the log each time.
type drama struct {
	rig    rig
	people []history
	every  time.Duration // between two people
	acts   func(x *exchange)
}

// played is one performance.
type played struct {
	*exchange
	drama    drama
	requests []request
	heard    []*sent
}

// startDying begins an exchange whose power is cut once the log has n entries; unheard:
// before anybody hears of the last. It is not configured.
func startDying(t *testing.T, r rig, n int, unheard bool) *exchange {
	x := &exchange{t: t, rig: r, log: newMemoryLog(t), world: newWorld(t)}
	x.start()
	x.log.die(n, x.life.die)
	x.log.unheard = unheard
	return x
}

// riseAfterCut starts the next process, and tells whether the power was cut before.
func (x *exchange) riseAfterCut() (cut bool) {
	cut = x.log.died()
	x.life.die()
	x.bury()
	x.rise()
	return cut
}

// perform plays the drama with the power cut once the log has n entries; unheard:
// before anybody hears of the last. A log that never gets there is not cut.
func (d drama) perform(t *testing.T, n int, unheard bool) (cut bool) {
	x := startDying(t, d.rig, n, unheard)
	p := &played{exchange: x, drama: d}
	x.world.behave = p.behave
	if x.engine.Configure(x.configuration(d.rig)) == nil {
		p.firstAct()
	}
	cut = x.riseAfterCut()
	p.secondAct()
	x.finish()
	return cut
}

// behave finds what the person's history has for this try.
func (p *played) behave(post *post) reply {
	for i, h := range p.drama.people {
		if phoneOf(i) != post.person {
			continue
		}
		replies := h.blue
		if post.buyer == "gold" {
			replies = h.gold
		}
		if len(replies) > 0 {
			return replies[min(post.try, len(replies))-1]
		}
	}
	return accepts
}

func (p *played) firstAct() {
	for i := range p.drama.people {
		request := person(i).withKey(fmt.Sprint("k", i))
		p.requests = append(p.requests, request)
		p.heard = append(p.heard, p.goSend(request))
		time.Sleep(p.drama.every)
	}
	if p.drama.acts != nil {
		p.drama.acts(p.exchange)
	}
	for _, s := range p.heard {
		<-s.done
	}
	time.Sleep(2 * time.Minute)
	p.resolve()
	time.Sleep(2 * time.Minute)
}

// resolve is an operator who deals with what is unknown, each in another way.
func (p *played) resolve() {
	ways := []event.PostSettlement{event.SettledResent, event.SettledConfirmed, event.SettledReleased}
	p.state.EachUnfinishedPost(func(post *state.UnfinishedPost) {
		if post.Exhausted {
			how := ways[int(post.Lead[15])%len(ways)]
			_ = p.engine.AsOperator("").ResolveUnconfirmedDelivery(post.Lead, how) // the log may have died
		}
	})
}

func (p *played) secondAct() {
	t := p.t
	time.Sleep(time.Hour)
	expectEqual(t, p.engine.RunningDeliveries(), 0, "deliveries go on an hour after the start")
	p.state.EachUnfinishedPost(func(post *state.UnfinishedPost) {
		if !post.Exhausted {
			t.Errorf("lead %s is still open", post.Lead)
		}
	})
	for i, request := range p.requests {
		first := p.heard[i]
		again, err := p.send(request)
		switch {
		case err != nil:
			t.Errorf("person %d, sent again: %v", i, err)
		case first.err == nil:
			if !again.Replayed {
				t.Errorf("person %d was answered, and the answer is lost", i)
			}
			again.Replayed = first.answer.Replayed
			if again != first.answer {
				t.Errorf("person %d: first %+v, after the restart %+v", i, first.answer, again)
			}
		case !errors.Is(first.err, errDead) && !errors.Is(first.err, engine.ErrUnavailable):
			t.Errorf("person %d: %v", i, first.err)
		}
	}
	time.Sleep(time.Hour)
	for person, buyers := range p.world.takers() {
		if len(buyers) > 1 {
			t.Errorf("%s was sold to %v", person, buyers)
		}
	}
}

// cutStep is the distance between the log entries at which a test cuts the power: it
// tries every entry, and with -short every ninth.
func cutStep() int {
	if testing.Short() {
		return 9
	}
	return 1
}

// everyCut runs a test with the power cut at every entry, until the log has fewer.
func everyCut(t *testing.T, run func(t *testing.T, n int, unheard bool) (cut bool)) {
	t.Helper()
	for n, cut := 1, true; cut; n += cutStep() {
		for _, unheard := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) { cut = run(t, n, unheard) })
			if t.Failed() {
				t.Fatalf("cut at entry %d, unheard=%v", n, unheard)
			}
		}
	}
}

// Each delivery alone.
func TestPowerCutAtEveryEntryOfADelivery(t *testing.T) {
	eachHistory(two(), func(h history, r rig) {
		t.Run(h.what, func(t *testing.T) { everyCut(t, drama{rig: r, people: []history{h}}.perform) })
	})
}

// Many at once, with caps and money that do not suffice for all.
func TestPowerCutAtEveryEntryOfADay(t *testing.T) {
	r := two()
	r.buyers = []buyer{
		{id: "blue", posts: true, funds: "60", caps: []string{"day 7", "hour $70"}},
		{id: "gold", posts: true, funds: "40", credit: "10", caps: []string{"day 9"}},
		{id: "red", caps: []string{"total 3"}},
	}
	r.campaigns[0].method = market.RoundRobin
	r.campaigns[0].caps = []string{"week 12"}
	r.campaigns[0].seats = []seat{{buyer: "blue", caps: []string{"hour 6"}}, {buyer: "gold", price: "4"}, {buyer: "red"}}
	var people []history
	for i := 0; i < len(histories); i += 3 {
		people = append(people, histories[i])
	}
	acts := func(x *exchange) {
		for _, err := range []error{
			x.engine.AsOperator("").SetPaused(event.ObjectBuyer, "gold", true), x.engine.AsOperator("").TopUpBuyer("blue", 5_000_000, "more"), x.engine.AsOperator("").SetPaused(event.ObjectBuyer, "gold", false),
		} {
			if err != nil && !errors.Is(err, errDead) {
				x.t.Error(err)
			}
		}
	}
	everyCut(t, drama{rig: r, people: people, every: 300 * time.Millisecond, acts: acts}.perform)
}

// What was under way when the power went may have reached its buyer: the lead is
// that buyer's from then on, and only a word that settles it takes it back.
func TestRecoveryIsInDoubt(t *testing.T) {
	tests := []struct {
		what   string
		first  reply // under way when the power goes
		script []reply
		tried  string
		stands string
	}{
		{"taken", accepts.in(time.Minute), []reply{accepts}, "blue@0s blue@1s", "ACCEPTED delivered"},
		{"refused for good", refuses.in(time.Minute), []reply{refuses}, "blue@0s blue@1s blue@2s blue@4s blue@8s blue@16s blue@32s", "ACCEPTED unknown"},
		{"refused for good by a buyer that certifies", refuses.in(time.Minute), []reply{refuses}, "blue@0s blue@1s", "UNMATCHED failed post_rejected"},
		{"by a buyer that takes a repeat for a second lead", hangs, []reply{accepts}, "blue@0s", "ACCEPTED unknown"},
		{"refused in a way that says nothing", hangs, []reply{forbids}, "blue@0s blue@1s blue@2s blue@4s blue@8s blue@16s blue@32s", "ACCEPTED unknown"},
		{"unreached, then taken", hangs, []reply{unreached, accepts}, "blue@0s blue@1s blue@2s", "ACCEPTED delivered"},
		{"busy, then taken", hangs, []reply{busy(7 * time.Second), accepts}, "blue@0s blue@1s blue@8s", "ACCEPTED delivered"},
		{"in vain", hangs, []reply{breaks}, "blue@0s blue@1s blue@2s blue@4s blue@8s blue@16s blue@32s", "ACCEPTED unknown"},
	}
	for _, test := range tests {
		bubble(t, test.what, func(t *testing.T) {
			r := two()
			r.buyers[0].certain = strings.Contains(test.what, "certifies")
			r.buyers[0].once = strings.Contains(test.what, "second lead")
			x := begin(t, r)
			x.world.script("blue", append([]reply{test.first}, test.script...)...)
			request := person(1).withKey("k")
			first := x.goSend(request)
			time.Sleep(time.Second)
			x.crash()
			answer, err := x.send(request)
			if got := said(answer, err); got != "blue" || !answer.Replayed {
				t.Errorf("the supplier is told %s", got)
			}
			<-first.done
			time.Sleep(10 * time.Minute)
			expectEqual(t, strings.Join(x.world.tried(), " "), test.tried, "tried")
			expectEqual(t, x.stands(answer), test.stands, "stands")
		})
	}
	trading(t, "on a log that fails at once", two(), func(t *testing.T, x *exchange) {
		x.world.script("blue", hangs)
		first := x.goSend(person(1))
		time.Sleep(time.Second)
		x.life.die()
		x.bury()
		<-first.done
		x.log.reopen()
		x.start()
		x.configure(x.rig)
		x.log.die(x.log.len(), nil)
		expectError(t, x.engine.RecoverErasuresAndDeliveries(), errDead)
		x.engine.Close()
		expectError(t, x.engine.RecoverErasuresAndDeliveries(), engine.ErrUnavailable)
	})
}
