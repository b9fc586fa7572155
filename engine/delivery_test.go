package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

const ms = time.Millisecond

// history is one lead on its way to endpoints: what blue and then gold answer
// to each try, what the supplier hears and when, when which buyer was tried,
// and where the lead stands in the end.
type history struct {
	what       string
	blue, gold []reply // none: accepts
	want       string
	tried      string
	stands     string
}

var histories = []history{
	{"taken", []reply{accepts.in(120 * ms)}, nil, "blue@120ms", "blue@0s", "ACCEPTED delivered"},
	{"taken in no time", []reply{accepts}, nil, "blue@0s", "blue@0s", "ACCEPTED delivered"},
	{"refused", []reply{refuses.in(300 * ms)}, []reply{accepts.in(200 * ms)}, "gold@500ms", "blue@0s gold@300ms", "ACCEPTED delivered"},
	{"refused without a final word", []reply{forbids}, nil, "gold@0s", "blue@0s gold@0s", "ACCEPTED delivered"},
	{"unreached", []reply{unreached.in(2 * time.Second)}, []reply{accepts.in(ms)}, "gold@2.001s", "blue@0s gold@2s", "ACCEPTED delivered"},
	{"refused by all", []reply{refuses.in(time.Second)}, []reply{refuses.in(time.Second)}, "post_rejected@2s", "blue@0s gold@1s", "UNMATCHED failed post_rejected"},
	{"reached nobody", []reply{unreached}, []reply{unreached}, "post_rejected@0s", "blue@0s gold@0s", "UNMATCHED failed post_rejected"},
	{"refused a moment after the ceiling", []reply{refuses.in(5001 * ms)}, nil, "blue@5s", "blue@0s", "UNMATCHED failed post_rejected"},
	{"refused a moment before", []reply{refuses.in(4999 * ms)}, []reply{accepts.in(ms / 2)}, "gold@4.9995s", "blue@0s gold@4.999s", "ACCEPTED delivered"},
	{"and the next one is not done by then", []reply{refuses.in(4 * time.Second)}, []reply{accepts.in(3 * time.Second)}, "gold@5s", "blue@0s gold@4s", "ACCEPTED delivered"},
	{"and refuses later", []reply{refuses.in(4 * time.Second)}, []reply{refuses.in(3 * time.Second)}, "gold@5s", "blue@0s gold@4s", "UNMATCHED failed post_rejected"},

	{"busy, with time to wait", []reply{busy(2 * time.Second), accepts.in(100 * ms)}, nil, "blue@2.1s", "blue@0s blue@2s", "ACCEPTED delivered"},
	{"busy again and again", []reply{busy(time.Second), busy(time.Second), busy(time.Second), accepts}, nil, "blue@3s", "blue@0s blue@1s blue@2s blue@3s", "ACCEPTED delivered"},
	{"busy for no time at all", []reply{busy(0), accepts}, nil, "blue@50ms", "blue@0s blue@50ms", "ACCEPTED delivered"},
	{"busy for no time, all the time", []reply{busy(0)}, []reply{accepts}, "gold@4.55s", "blue@0s blue@50ms blue@150ms blue@350ms blue@750ms blue@1.55s blue@2.55s blue@3.55s blue@4.55s gold@4.55s", "ACCEPTED delivered"},
	{"busy for too long", []reply{busy(5 * time.Second)}, nil, "gold@0s", "blue@0s gold@0s", "ACCEPTED delivered"},
	{"busy until it is too late", []reply{busy(3 * time.Second)}, []reply{accepts.in(100 * ms)}, "gold@3.1s", "blue@0s blue@3s gold@3s", "ACCEPTED delivered"},
	{"busy, then refused", []reply{busy(time.Second), refuses}, nil, "gold@1s", "blue@0s blue@1s gold@1s", "ACCEPTED delivered"},
	{"busy, then unreached", []reply{busy(time.Second), unreached}, nil, "gold@1s", "blue@0s blue@1s gold@1s", "ACCEPTED delivered"},
	{"busy, then in doubt", []reply{busy(time.Second), breaks, refuses}, nil, "blue@4s", "blue@0s blue@1s blue@2s blue@4s blue@8s blue@16s blue@32s", "ACCEPTED unknown"},
	{"busy with a dated credential", []reply{renews, busy(time.Second), renews, accepts}, nil, "blue@1s", "blue@0s blue@0s blue@1s blue@1s", "ACCEPTED delivered"},
	{"busy at the ceiling", []reply{busy(time.Second).in(6 * time.Second)}, nil, "blue@5s", "blue@0s", "UNMATCHED failed post_rejected"},
	{"all of them busy", []reply{busy(9 * time.Second)}, []reply{busy(9 * time.Second)}, "post_rejected@0s", "blue@0s gold@0s", "UNMATCHED failed post_rejected"},

	{"broken once", []reply{breaks.in(100 * ms), accepts.in(100 * ms)}, nil, "blue@1.2s", "blue@0s blue@1.1s", "ACCEPTED delivered"},
	{"broken twice", []reply{breaks, swallows, accepts}, nil, "blue@3s", "blue@0s blue@1s blue@3s", "ACCEPTED delivered"},
	{"broken three times: the answer does not wait", []reply{breaks, breaks, breaks, accepts}, nil, "blue@3s", "blue@0s blue@1s blue@3s blue@7s", "ACCEPTED delivered"},
	{"broken, then refused for good", []reply{breaks, refuses}, nil, "blue@3s", "blue@0s blue@1s blue@3s blue@7s blue@15s blue@31s", "ACCEPTED unknown"},
	{"swallowed, then refused for good", []reply{swallows, refuses}, nil, "blue@3s", "blue@0s blue@1s blue@3s blue@7s blue@15s blue@31s", "ACCEPTED unknown"},
	{"broken, then refused, then taken", []reply{breaks, refuses, forbids, accepts}, nil, "blue@3s", "blue@0s blue@1s blue@3s blue@7s", "ACCEPTED delivered"},
	{"broken, then refused in a way that says nothing", []reply{breaks, forbids}, nil, "blue@3s", "blue@0s blue@1s blue@3s blue@7s blue@15s blue@31s", "ACCEPTED unknown"},
	{"broken, then the credential is renewed", []reply{breaks, renews, accepts}, nil, "blue@1s", "blue@0s blue@1s blue@1s", "ACCEPTED delivered"},
	{"broken, then the credential is renewed in vain", []reply{breaks, renews, forbids}, nil, "blue@3s", "blue@0s blue@1s blue@1s blue@3s blue@7s blue@15s blue@31s", "ACCEPTED unknown"},
	{"broken, then unreached, then taken", []reply{breaks, unreached, accepts}, nil, "blue@3s", "blue@0s blue@1s blue@3s", "ACCEPTED delivered"},
	{"broken, then busy", []reply{breaks, busy(3 * time.Second), accepts}, nil, "blue@4s", "blue@0s blue@1s blue@4s", "ACCEPTED delivered"},
	{"broken, then busy past the ceiling", []reply{breaks, busy(5 * time.Second), accepts}, nil, "blue@1s", "blue@0s blue@1s blue@6s", "ACCEPTED delivered"},
	{"broken, then busy for a short while: the schedule stands", []reply{breaks, busy(time.Second), accepts}, nil, "blue@3s", "blue@0s blue@1s blue@3s", "ACCEPTED delivered"},
	{"broken for good", []reply{breaks}, nil, "blue@3s", "blue@0s blue@1s blue@3s blue@7s blue@15s blue@31s", "ACCEPTED unknown"},
	{"broken but for the last try", []reply{breaks, breaks, breaks, breaks, breaks, accepts}, nil, "blue@3s", "blue@0s blue@1s blue@3s blue@7s blue@15s blue@31s", "ACCEPTED delivered"},
	{"refused at the last try", []reply{breaks, breaks, breaks, breaks, breaks, refuses}, nil, "blue@3s", "blue@0s blue@1s blue@3s blue@7s blue@15s blue@31s", "ACCEPTED unknown"},

	{"the credential is renewed", []reply{renews.in(ms), accepts.in(ms)}, nil, "blue@2ms", "blue@0s blue@1ms", "ACCEPTED delivered"},
	{"the credential is renewed, and the lead refused", []reply{renews, refuses}, nil, "gold@0s", "blue@0s blue@0s gold@0s", "ACCEPTED delivered"},
	{"the credential is renewed in vain", []reply{renews, forbids}, nil, "gold@0s", "blue@0s blue@0s gold@0s", "ACCEPTED delivered"},
	{"the credential is renewed, and then it is in doubt", []reply{renews, breaks, refuses, accepts}, nil, "blue@3s", "blue@0s blue@0s blue@1s blue@3s", "ACCEPTED delivered"},
	{"the credential is renewed when the answer is due", []reply{renews.in(5 * time.Second), accepts}, nil, "blue@5s", "blue@0s blue@5s", "ACCEPTED delivered"},
	{"the credential is renewed after the answer", []reply{renews.in(6 * time.Second), accepts}, nil, "blue@5s", "blue@0s blue@6s", "ACCEPTED delivered"},

	{"hangs, then takes it", []reply{accepts.in(9999 * ms)}, nil, "blue@5s", "blue@0s", "ACCEPTED delivered"},
	{"hangs, then refuses", []reply{refuses.in(8 * time.Second)}, nil, "blue@5s", "blue@0s", "UNMATCHED failed post_rejected"},
	{"hangs, then refuses in a way that says nothing", []reply{forbids.in(8 * time.Second)}, nil, "blue@5s", "blue@0s", "UNMATCHED failed post_rejected"},
	{"hangs, then was not reached", []reply{unreached.in(8 * time.Second)}, nil, "blue@5s", "blue@0s", "UNMATCHED failed post_rejected"},
	{"hangs to the end, then takes it", []reply{hangs, accepts}, nil, "blue@5s", "blue@0s blue@11s", "ACCEPTED delivered"},
	{"hangs to the end, then refuses", []reply{hangs, refuses}, nil, "blue@5s", "blue@0s blue@11s blue@13s blue@17s blue@25s blue@41s", "ACCEPTED unknown"},
	{"hangs to the end, then refuses in a way that says nothing", []reply{hangs, forbids}, nil, "blue@5s", "blue@0s blue@11s blue@13s blue@17s blue@25s blue@41s", "ACCEPTED unknown"},
	{"hangs each time", []reply{hangs}, nil, "blue@5s", "blue@0s blue@11s blue@23s blue@37s blue@55s blue@1m21s", "ACCEPTED unknown"},
	{"refused, then hangs at the next", []reply{refuses.in(time.Second)}, []reply{hangs, swallows, accepts}, "gold@5s", "blue@0s gold@1s gold@12s gold@14s", "ACCEPTED delivered"},
	{"refused, then broken at the next", []reply{refuses.in(time.Second)}, []reply{breaks, refuses}, "gold@4s", "blue@0s gold@1s gold@2s gold@4s gold@8s gold@16s gold@32s", "ACCEPTED unknown"},
}

// certainHistories are those of buyers that certify a repeat's answer: their final
// refusal of a repeat ends the delivery, and the lead still goes to no other buyer.
var certainHistories = []history{
	{"certified: busy, then in doubt", []reply{busy(time.Second), breaks, refuses}, nil, "post_rejected@2s", "blue@0s blue@1s blue@2s", "UNMATCHED failed post_rejected"},
	{"certified: broken, then refused for good", []reply{breaks, refuses}, nil, "post_rejected@1s", "blue@0s blue@1s", "UNMATCHED failed post_rejected"},
	{"certified: broken, then refused in a way that says nothing", []reply{breaks, forbids}, nil, "blue@3s", "blue@0s blue@1s blue@3s blue@7s blue@15s blue@31s", "ACCEPTED unknown"},
	{"certified: refused at the last try", []reply{breaks, breaks, breaks, breaks, breaks, refuses}, nil, "blue@3s", "blue@0s blue@1s blue@3s blue@7s blue@15s blue@31s", "UNMATCHED failed post_rejected"},
	{"certified: hangs to the end, then refuses", []reply{hangs, refuses}, nil, "blue@5s", "blue@0s blue@11s", "UNMATCHED failed post_rejected"},
	{"certified: refused, then broken at the next", []reply{refuses.in(time.Second)}, []reply{breaks, refuses}, "post_rejected@2s", "blue@0s gold@1s gold@2s", "UNMATCHED failed post_rejected"},
}

// onceHistories are those of buyers that take a repeat for a second lead.
var onceHistories = []history{
	{"once: broken", []reply{breaks}, nil, "blue@0s", "blue@0s", "ACCEPTED unknown"},
	{"once: swallowed", []reply{swallows.in(time.Second)}, nil, "blue@1s", "blue@0s", "ACCEPTED unknown"},
	{"once: the credential is renewed, then it is broken", []reply{renews, breaks}, nil, "blue@0s", "blue@0s blue@0s", "ACCEPTED unknown"},
	{"once: refused", []reply{refuses}, nil, "gold@0s", "blue@0s gold@0s", "ACCEPTED delivered"},
	{"once: hangs", []reply{hangs}, nil, "blue@5s", "blue@0s", "ACCEPTED unknown"},
}

// eachHistory calls f with every history and a market for it.
func eachHistory(r rig, f func(h history, r rig)) {
	for _, h := range histories {
		f(h, r)
	}
	for _, h := range certainHistories {
		f(h, r.certain())
	}
	for _, h := range onceHistories {
		f(h, r.once())
	}
}

// once is the same market, where every buyer takes a repeat for a second lead.
func (r rig) once() rig { return r.changeBuyers(func(b *buyer) { b.once = true }) }

// certain is the same market, where every buyer certifies a repeat's answer.
func (r rig) certain() rig { return r.changeBuyers(func(b *buyer) { b.certain = true }) }

// changeBuyers is a copy of the market in which all buyers are changed.
func (r rig) changeBuyers(change func(*buyer)) rig {
	r.buyers = slices.Clone(r.buyers)
	for i := range r.buyers {
		change(&r.buyers[i])
	}
	return r
}

// two buyers with endpoints, with all that a sale can take.
func two() rig {
	return rig{
		buyers: []buyer{
			{id: "blue", posts: true, funds: "10", caps: []string{"day 1", "total $10"}},
			{id: "gold", posts: true, funds: "10", caps: []string{"day 1"}},
		},
		campaigns: []campaign{{
			method: market.Waterfall, duplicates: anyOf, caps: []string{"month 9"},
			seats: []seat{{buyer: "blue", caps: []string{"hour 1"}}, {buyer: "gold"}},
		}},
	}
}

func TestDelivery(t *testing.T) {
	eachHistory(two(), func(h history, r rig) {
		trading(t, h.what, hooked(r), func(t *testing.T, x *exchange) {
			x.world.script("blue", h.blue...)
			x.world.script("gold", h.gold...)
			s := x.sendInHistory(h, person(1))
			x.hears(s.wait(), s.answer)
			expectEqual(t, x.engine.RunningDeliveries(), 0, "couriers are left")
			expectEqual(t, int(x.noted.posted.Load()), len(strings.Fields(h.tried)), "posts noted of ", h.tried)
			expectEqual(t, x.attemptsLogged(), len(strings.Fields(h.tried)), "attempts in the log, of ", h.tried)
			x.settled(t, h, s)
		})
	})
}

// sendInHistory sends the lead and compares its way with the history.
func (x *exchange) sendInHistory(h history, r request) *sent {
	x.t.Helper()
	s := x.goSend(r)
	expectEqual(x.t, fmt.Sprintf("%s@%s", s.wait(), s.took), h.want, "the supplier hears")
	time.Sleep(10 * time.Minute)
	expectEqual(x.t, strings.Join(x.world.tried(), " "), h.tried, "tried")
	expectEqual(x.t, x.stands(s.answer), h.stands, "stands")
	return s
}

// attemptsLogged counts the sends that the log has: those after which another one
// followed, and those that ended a delivery.
func (x *exchange) attemptsLogged() (n int) {
	x.t.Helper()
	for _, fact := range recordsOf[event.Event](x) {
		switch fact := fact.(type) {
		case *event.PostAttemptFailed:
			n++
		case *event.PostSettled:
			if fact.Settlement != event.SettledPending {
				n++
			}
		}
	}
	return n
}

// settled looks at money and room: taken where a buyer has the lead or may have
// it, free where none has.
func (x *exchange) settled(t *testing.T, h history, s *sent) {
	t.Helper()
	noted := int64(0)
	if strings.HasSuffix(h.stands, "unknown") {
		noted = 1
	}
	expectEqual(t, x.noted.unknown.Load(), noted, "times noted as unknown")
	owner := s.answer.Buyer
	if strings.HasPrefix(h.stands, "UNMATCHED") {
		owner = ""
	}
	for _, buyer := range []string{"blue", "gold"} {
		balance, held := x.state.BuyerBalance(x.state.RefOf(event.ObjectBuyer, buyer))
		want := "10 0"
		switch {
		case buyer == owner && strings.HasSuffix(h.stands, "unknown"):
			want = "10 10"
		case buyer == owner:
			want = "0 0"
		}
		expectEqual(t, balance.String()+" "+held.String(), want, buyer, " has")
	}
	next := "gold" // for another lead: who has room, by caps and money
	if owner != "blue" {
		next = "blue"
	}
	x.world.script("blue")
	x.world.script("gold")
	expectEqual(t, x.tell(person(2)), next, "another lead goes to")
}

// What the buyer gets.
func TestPostsContent(t *testing.T) {
	trading(t, "body", two(), func(t *testing.T, x *exchange) {
		answer := must.Value(x.send(person(1, "vehicles", "#2", "homeowner", "#true", "zip", "94110", "first_name", `P"at`)))(t)
		id := answer.Lead.String()
		want := `{"auction_id":"` + id + `","lead":{"lead_uuid":"` + id + `","first_name":"P\"at","last_name":"Doe","email":"p1@example.com","phone":"+14152000001",` +
			`"address":{"state":"CA","zip":"94110"},"tcpa":{},"vehicles":2,"owns_home":true}}`
		expectEqual(t, string(x.world.posts[0].body), want)
		expectEqual(t, x.lead(answer).Payout, answer.Payout, "the payout of the answer is another than the lead's")
	})
}

func texts(fields []event.LeadField) (all string) {
	for _, f := range fields {
		all += fmt.Sprintf("%s=%s ", f.Name, f.Text)
	}
	return all
}

// Every buyer in turn, until nobody is left or one has no endpoint.
func TestCascade(t *testing.T) {
	tests := []struct {
		what     string
		recorded string // the buyer without an endpoint
		want     string
		posts    int
	}{
		{"until nobody is left", "", "post_rejected", 5},
		{"until one has it recorded", "b3", "b3", 3},
	}
	for _, method := range []market.BuyerSelectionMethod{market.Waterfall, market.RoundRobin, market.Weighted} {
		for _, test := range tests {
			bubble(t, method.String()+" "+test.what, func(t *testing.T) {
				form := campaign{method: method, duplicates: byBuyer}
				var r rig
				for i := range 5 {
					id := fmt.Sprintf("b%d", i)
					r.buyers = append(r.buyers, buyer{id: id, posts: id != test.recorded, funds: "10"})
					form.seats = append(form.seats, seat{buyer: id, weight: 1 + i})
				}
				r.campaigns = []campaign{form}
				x := begin(t, r)
				x.world.behave = func(*post) reply { return refuses.in(10 * ms) }
				entries := x.log.len()
				answer, err := x.send(person(1))
				expectEqual(t, said(answer, err), test.want)
				posts := len(x.world.tried())
				if method == market.Waterfall && posts != test.posts {
					t.Errorf("%d posts, want %d", posts, test.posts)
				}
				x.nextIntentsHoldBodiesAlone()
				if got := x.log.len() - entries; got != posts+1 && test.recorded == "" || got != max(1, posts+1) {
					t.Errorf("%d entries for %d posts: a refusal and the next intent are one", got, posts)
				}
			})
		}
	}
}

// nextIntentsHoldBodiesAlone: the first intent has the person's fields, so that
// there is one place to forget them in.
func (x *exchange) nextIntentsHoldBodiesAlone() {
	x.t.Helper()
	for _, settled := range recordsOf[*event.PostSettled](x) {
		if settled.Post.URL == "" {
			continue
		}
		contact, err := x.engine.DecryptContact(&event.LeadDecided{Lead: settled.Lead, Slot: settled.Slot, Sealed: settled.Sealed})
		if err != nil || len(contact.Fields) > 0 || len(contact.Body) == 0 {
			x.t.Errorf("the next intent's sealed part: %v, %s, %s", err, texts(contact.Fields), contact.Body)
		}
	}
}

// An operator's word on a delivery whose fate is unknown.
func TestOperatorResolves(t *testing.T) {
	tests := []struct {
		what   string
		how    event.PostSettlement
		later  reply // to the resend
		stands string
		money  string // balance and held of 10
		tried  int
		again  string // the same person
	}{
		{"confirm", event.SettledConfirmed, accepts, "ACCEPTED confirmed", "0 0", 6, "duplicate"},
		{"release", event.SettledReleased, accepts, "UNMATCHED released post_rejected", "10 0", 6, "blue"},
		{"resend, taken", event.SettledResent, accepts.in(2 * time.Second), "ACCEPTED delivered", "0 0", 7, "duplicate"},
		{"resend, refused for good", event.SettledResent, refuses, "ACCEPTED unknown", "10 10", 12, "duplicate"},
		{"resend, refused for good by a buyer that certifies", event.SettledResent, refuses, "UNMATCHED failed post_rejected", "10 0", 7, "blue"},
		{"resend, refused in a way that says nothing", event.SettledResent, forbids, "ACCEPTED unknown", "10 10", 12, "duplicate"},
		{"resend, in vain", event.SettledResent, breaks, "ACCEPTED unknown", "10 10", 12, "duplicate"},
		{"resend, unreached", event.SettledResent, unreached, "ACCEPTED unknown", "10 10", 12, "duplicate"},
		{"resend, busy", event.SettledResent, busy(time.Second), "ACCEPTED unknown", "10 10", 12, "duplicate"},
	}
	for _, test := range tests {
		for _, restart := range []bool{false, true} {
			bubble(t, fmt.Sprintf("%s/restart=%v", test.what, restart), func(t *testing.T) {
				r := hooked(two())
				r.buyers, r.campaigns[0].seats = r.buyers[:1], r.campaigns[0].seats[:1]
				r.buyers[0].certain = strings.Contains(test.what, "certifies")
				x := begin(t, r)
				x.world.script("blue", breaks)
				request := person(1).withKey("k")
				answer, err := x.send(request)
				if err != nil || x.engine.AsOperator("").ResolveUnconfirmedDelivery(answer.Lead, test.how) == nil {
					t.Errorf("resolved while it is tried; %v", err)
				}
				time.Sleep(time.Hour)
				if restart {
					x.crash()
					time.Sleep(time.Hour)
				}
				if got := x.stands(answer); got != "ACCEPTED unknown" || len(x.world.tried()) != 6 {
					t.Fatalf("%s after %v", got, x.world.tried())
				}
				x.hears("blue", answer)
				x.world.script("blue", test.later)
				must.Succeed(t, x.engine.AsOperator("").ResolveUnconfirmedDelivery(answer.Lead, test.how))
				time.Sleep(10 * time.Minute)
				balance, held := x.state.BuyerBalance(1)
				expectEqual(t, x.stands(answer)+", "+balance.String()+" "+held.String(), test.stands+", "+test.money)
				x.hears("blue", answer)
				expectEqual(t, len(x.world.tried()), test.tried, "tries")
				repeated, err := x.send(request)
				if err != nil {
					t.Error(err)
				}
				same(t, answer, repeated)
				at(t, "2000-01-02 00:00:00") // the caps are empty again
				x.world.script("blue", accepts)
				must.Succeed(t, x.engine.AsOperator("").TopUpBuyer("blue", 10_000_000, ""))
				expectEqual(t, x.tell(person(1)), test.again, "the same person again")
			})
		}
	}
	trading(t, "what is not there", two(), func(t *testing.T, x *exchange) {
		answer, _ := x.send(person(1))
		if x.engine.AsOperator("").ResolveUnconfirmedDelivery(answer.Lead, event.SettledConfirmed) == nil || x.engine.AsOperator("").ResolveUnconfirmedDelivery(market.LeadID{1}, event.SettledReleased) == nil {
			t.Error("a delivery that is over, or never was, was resolved")
		}
	})
}

// Stopping waits for attempts under way, leaves what is between two tries to
// the next start, and the next start takes it up where the schedule stood.
func TestStopBetweenTries(t *testing.T) {
	tests := []struct {
		what   string
		script []reply
		stop   time.Duration // after the answer
		took   time.Duration // to stop
		down   time.Duration
		tried  string
	}{
		{"between two tries", []reply{breaks}, 2 * time.Second, 0, 0, "blue@0s blue@1s blue@3s blue@7s blue@15s blue@31s"},
		{"and down for longer than the pause", []reply{breaks}, 2 * time.Second, 0, time.Minute, "blue@0s blue@1s blue@3s blue@1m5s blue@1m13s blue@1m29s"},
		{"during an attempt", []reply{accepts.in(8 * time.Second)}, time.Second, 2 * time.Second, time.Minute, "blue@0s"},
		{"during an attempt that fails", []reply{hangs, accepts}, time.Second, 4 * time.Second, 0, "blue@0s blue@11s"},
	}
	for _, test := range tests {
		trading(t, test.what, two(), func(t *testing.T, x *exchange) {
			x.world.script("blue", test.script...)
			x.tell(person(1))
			time.Sleep(test.stop)
			synctest.Wait()
			start := time.Now()
			x.engine.Close()
			if took := time.Since(start); took != test.took {
				t.Errorf("stopping took %s, want %s", took, test.took)
			}
			time.Sleep(test.down)
			x.crash()
			time.Sleep(10 * time.Minute)
			expectEqual(t, strings.Join(x.world.tried(), " "), test.tried, "tried")
		})
	}
}
