package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// delivery is one post on its way to the buyer that bid: what that one answers to
// each try, what the seller hears and when, when the tries were, where the lead
// stands in the end, and what the same key hears then.
type delivery struct {
	what   string
	blue   []reply
	want   string
	tried  string
	stands string
	again  string // empty: the same
}

const (
	taken    = "blue theirs 8"
	rejected = "post_rejected post_rejected"
	whole    = "blue@0s blue@1s blue@3s blue@7s blue@15s blue@31s"
)

var deliveries = []delivery{
	{"taken", []reply{accepts.in(120 * ms)}, taken + "@120ms", "blue@0s", "ACCEPTED delivered", ""},
	{"refused", []reply{refuses.in(300 * ms)}, rejected + "@300ms", "blue@0s", "UNMATCHED failed post_rejected", ""},
	{"refused without a final word", []reply{forbids}, rejected + "@0s", "blue@0s", "UNMATCHED failed post_rejected", ""},
	{"refused a moment before the ceiling", []reply{refuses.in(4999 * ms)}, rejected + "@4.999s", "blue@0s", "UNMATCHED failed post_rejected", ""},

	{"unreached once", []reply{unreached, accepts}, taken + "@1s", "blue@0s blue@1s", "ACCEPTED delivered", ""},
	{"unreached twice", []reply{unreached, unreached, accepts}, taken + "@3s", "blue@0s blue@1s blue@3s", "ACCEPTED delivered", ""},
	{"unreached for longer than the answer waits", []reply{unreached, unreached, unreached, accepts}, "buyer_unavailable@3s", "blue@0s blue@1s blue@3s blue@7s", "ACCEPTED delivered", taken},
	{"never reached", []reply{unreached}, "buyer_unavailable@3s", whole, "UNMATCHED failed post_rejected", rejected},
	{"reached at the last try", []reply{unreached, unreached, unreached, unreached, unreached, accepts}, "buyer_unavailable@3s", whole, "ACCEPTED delivered", taken},
	{"unreached, then refused", []reply{unreached, refuses}, rejected + "@1s", "blue@0s blue@1s", "UNMATCHED failed post_rejected", ""},
	{"unreached, then refused in a way that says nothing", []reply{unreached, forbids}, rejected + "@1s", "blue@0s blue@1s", "UNMATCHED failed post_rejected", ""},
	{"unreached, then in doubt, then never reached", []reply{unreached, breaks, unreached}, "buyer_unavailable@3s", whole, "ACCEPTED unknown", "buyer_unavailable"},
	{"unreached, then in doubt, then refused for good", []reply{unreached, breaks, refuses}, "buyer_unavailable@3s", whole, "ACCEPTED unknown", "buyer_unavailable"},
	{"unreached, then the credential is renewed", []reply{unreached, renews, accepts}, taken + "@1s", "blue@0s blue@1s blue@1s", "ACCEPTED delivered", ""},
	{"unreached past the ceiling, then refused", []reply{unreached, unreached, unreached, refuses}, "buyer_unavailable@3s", "blue@0s blue@1s blue@3s blue@7s", "UNMATCHED failed post_rejected", rejected},
	{"unreached after the ceiling", []reply{unreached.in(8 * time.Second), accepts}, "buyer_timeout@5s", "blue@0s blue@9s", "ACCEPTED delivered", taken},
	{"slow to be unreached, again and again", []reply{unreached.in(2100 * ms)}, "buyer_timeout@5s", "blue@0s blue@3.1s blue@7.2s blue@13.3s blue@23.4s blue@41.5s", "UNMATCHED failed post_rejected", rejected},

	{"busy, with time to wait", []reply{busy(2 * time.Second), accepts}, taken + "@2s", "blue@0s blue@2s", "ACCEPTED delivered", ""},
	{"busy for too long", []reply{busy(9 * time.Second)}, rejected + "@0s", "blue@0s", "UNMATCHED failed post_rejected", ""},
	{"busy, then unreached", []reply{busy(time.Second), unreached, accepts}, taken + "@2s", "blue@0s blue@1s blue@2s", "ACCEPTED delivered", ""},
	{"unreached, then busy for too long", []reply{unreached, busy(9 * time.Second)}, rejected + "@1s", "blue@0s blue@1s", "UNMATCHED failed post_rejected", ""},
	{"unreached past the ceiling, then busy", []reply{unreached, unreached, unreached, busy(time.Second)}, "buyer_unavailable@3s", "blue@0s blue@1s blue@3s blue@7s", "UNMATCHED failed post_rejected", rejected},

	{"broken once", []reply{breaks, accepts}, taken + "@1s", "blue@0s blue@1s", "ACCEPTED delivered", ""},
	{"broken, then refused for good", []reply{breaks, refuses}, "buyer_unavailable@3s", whole, "ACCEPTED unknown", "buyer_unavailable"},
	{"broken, then refused for good by a buyer that certifies", []reply{breaks, refuses}, rejected + "@1s", "blue@0s blue@1s", "UNMATCHED failed post_rejected", ""},
	{"broken, then refused, then taken", []reply{breaks, refuses, forbids, accepts}, "buyer_unavailable@3s", "blue@0s blue@1s blue@3s blue@7s", "ACCEPTED delivered", taken},
	{"broken, then refused in a way that says nothing", []reply{breaks, forbids}, "buyer_unavailable@3s", whole, "ACCEPTED unknown", "buyer_unavailable"},
	{"broken for good", []reply{breaks}, "buyer_unavailable@3s", whole, "ACCEPTED unknown", "buyer_unavailable"},
	{"broken but for the last try", []reply{breaks, breaks, breaks, breaks, breaks, accepts}, "buyer_unavailable@3s", whole, "ACCEPTED delivered", taken},

	{"hangs, then takes it", []reply{accepts.in(8 * time.Second)}, "buyer_timeout@5s", "blue@0s", "ACCEPTED delivered", taken},
	{"hangs, then refuses", []reply{refuses.in(8 * time.Second)}, "buyer_timeout@5s", "blue@0s", "UNMATCHED failed post_rejected", rejected},
	{"hangs to the end, then takes it", []reply{hangs, accepts}, "buyer_timeout@5s", "blue@0s blue@11s", "ACCEPTED delivered", taken},
	{"hangs each time", []reply{hangs}, "buyer_timeout@5s", "blue@0s blue@11s blue@23s blue@37s blue@55s blue@1m21s", "ACCEPTED unknown", "buyer_unavailable"},
}

// market is where the delivery is played.
func (d delivery) market() rig {
	r := bidders()
	r.buyers[0].certain = strings.Contains(d.what, "certifies")
	return r
}

func TestPostDelivery(t *testing.T) {
	for _, d := range deliveries {
		trading(t, d.what, hooked(d.market()), func(t *testing.T, x *exchange) {
			x.world.script("blue", d.blue...)
			p := postOf(1, x.quoted(inquiry(1)))
			first := x.goSell(p)
			expectEqual(t, fmt.Sprintf("%s@%s", first.wait(), first.took), d.want, "the seller hears")
			time.Sleep(5 * time.Minute)
			expectEqual(t, strings.Join(x.world.tried(), " "), d.tried, "tried")
			x.toldAsLogged(first.wait())
			lead := engine.IngestAnswer{Lead: x.onlyLead()}
			expectEqual(t, x.stands(lead), d.stands, "stands")
			for _, a := range x.hears(first.wait(), lead).told {
				if !strings.Contains(string(a.body), `"lead_uuid":"theirs-1","auction_id":"a1"`) {
					t.Errorf("without the seller's own ids: %s", a.body)
				}
			}
			want := d.again
			if want == "" {
				want, _, _ = strings.Cut(d.want, "@")
			}
			expectEqual(t, x.posted(p), want, "the same key hears")
			x.soldOrFree(d)
		})
	}
}

// onlyLead is the lead of the log's only sale, or of its only decision.
func (x *exchange) onlyLead() (id market.LeadID) {
	x.t.Helper()
	for _, lead := range recordsOf[*event.LeadDecided](x) {
		if !id.IsZero() {
			x.t.Fatal("two leads")
		}
		id = lead.Lead
	}
	return id
}

// toldAsLogged sees that the log tells which of the two a seller heard whose answer
// was due before its buyer's: by the fault of what left the delivery open.
func (x *exchange) toldAsLogged(heard string) {
	x.t.Helper()
	logged := ""
	for _, settled := range recordsOf[*event.PostSettled](x) {
		if logged != "" {
			break
		}
		switch {
		case settled.Settlement != event.SettledPending && settled.Settlement != event.SettledUnknown:
			return
		case settled.Fault == market.FaultTimeout:
			logged = "buyer_timeout"
		case settled.Fault != market.FaultNone || settled.Status != 0:
			logged = "buyer_unavailable"
		}
	}
	if heard != logged {
		x.t.Errorf("the seller heard %s, and the log says %q", heard, logged)
	}
}

// soldOrFree looks at money, at duplicates, and at the auction: used up where the
// buyer has the lead or may have it, given back where it has not.
func (x *exchange) soldOrFree(d delivery) {
	x.t.Helper()
	balance, held := x.state.BuyerBalance(x.state.RefOf(event.ObjectBuyer, "blue"))
	money, person, auction := "90 0", "post_rejected duplicate", "already_sold"
	switch {
	case strings.HasSuffix(d.stands, "unknown"):
		money = "100 10"
	case strings.HasPrefix(d.stands, "UNMATCHED"):
		money, person, auction = "100 0", taken, "bid_expired"
	}
	expectEqual(x.t, balance.String()+" "+held.String(), money, "the buyer has")
	a := told{id: "a1", token: string(x.tokenFor("a1"))}
	expectEqual(x.t, x.posted(postOf(2, a)), auction, "another lead by the same bid")
	x.world.script("blue", accepts)
	expectEqual(x.t, x.posted(postOf(1, x.quoted(inquiry(2))).withKey("next")), person, "the same person by another bid")
}

// Whatever the first one is told, the answer under its key is one and the same
// once there is one: while the delivery goes on, after it, and after restarts.
func TestPostIsAnsweredOnce(t *testing.T) {
	for _, d := range deliveries {
		for _, crashes := range []int{0, 1, 3} {
			trading(t, fmt.Sprintf("%s/%d crashes", d.what, crashes), d.market(), func(t *testing.T, x *exchange) {
				x.world.script("blue", d.blue...)
				p := postOf(1, x.quoted(inquiry(1)))
				heard := []*sale{x.goSell(p)}
				for range 5 {
					time.Sleep(700 * ms)
					heard = append(heard, x.goSell(p))
				}
				heard[0].wait()
				for range crashes {
					time.Sleep(1700 * ms)
					x.crash()
					heard = append(heard, x.goSell(p))
				}
				for _, later := range []time.Duration{5 * time.Minute, time.Hour} {
					time.Sleep(later)
					heard = append(heard, x.goSell(p))
				}
				oneAnswerAKey(t, slices.Repeat([]posting{p}, len(heard)), heard)
			})
		}
	}
}

// A repetition comes while the delivery goes on: it waits with it, inside its own
// ceiling.
func TestPostRepeatedMeanwhile(t *testing.T) {
	tests := []struct {
		what  string
		blue  []reply
		after time.Duration
		want  string
	}{
		{"at the same instant", []reply{accepts.in(time.Second)}, 0, taken + "@1s"},
		{"before the answer", []reply{accepts.in(3 * time.Second)}, time.Second, taken + "@2s"},
		{"and it is refused", []reply{refuses.in(3 * time.Second)}, time.Second, rejected + "@2s"},
		{"after the first one's ceiling, and it is taken", []reply{accepts.in(8 * time.Second)}, 6 * time.Second, taken + "@2s"},
		{"after the first one's ceiling, and it is refused", []reply{refuses.in(8 * time.Second)}, 6 * time.Second, rejected + "@2s"},
		{"across the first one's ceiling", []reply{accepts.in(8 * time.Second)}, 4 * time.Second, taken + "@4s"},
		{"and its own ceiling comes, under a try", []reply{accepts.in(9 * time.Second)}, 2 * time.Second, "buyer_timeout@5s"},
		{"and its own ceiling comes, after a timeout", []reply{hangs, accepts}, 5500 * ms, "buyer_timeout@5s"},
		{"and its own ceiling comes, between two tries", []reply{unreached}, 8 * time.Second, "buyer_unavailable@5s"},
		{"between two tries, and the next one is taken", []reply{unreached, unreached, unreached, accepts}, 4 * time.Second, taken + "@3s"},
	}
	for _, test := range tests {
		trading(t, test.what, bidders(), func(t *testing.T, x *exchange) {
			x.world.script("blue", test.blue...)
			p := postOf(1, x.quoted(inquiry(1)))
			first := x.goSell(p)
			time.Sleep(test.after)
			again := x.goSell(p)
			expectEqual(t, fmt.Sprintf("%s@%s", again.wait(), again.took), test.want, "it hears")
			first.wait()
			if again.answer.Replayed == first.answer.Replayed && first.err == nil {
				t.Error("both or neither is a repetition")
			}
			other := p
			other.own = "another body"
			expectEqual(t, x.posted(other), "idempotency_key_reused", "another body")
			time.Sleep(time.Minute)
		})
	}
}

// Every row of an auction's way back: refused, it may be posted again; released by
// an operator, it is nobody's.
func TestAuctionIsGivenBack(t *testing.T) {
	trading(t, "after a refusal", bidders(), func(t *testing.T, x *exchange) {
		x.world.script("blue", refuses.in(time.Second))
		a := x.quoted(inquiry(1))
		expectEqual(t, x.posted(postOf(1, a)), rejected)
		x.world.script("blue", accepts)
		expectEqual(t, x.posted(postOf(1, a).withKey("again")), taken, "again")
		expectEqual(t, x.posted(postOf(1, a)), rejected, "under the first key")
		expectEqual(t, x.posted(postOf(2, a)), "already_sold", "a third one")
	})
	unknown := func(t *testing.T) (*exchange, told) {
		t.Helper()
		x := begin(t, bidders().once())
		x.world.script("blue", breaks)
		a := x.quoted(inquiry(1))
		expectEqual(t, x.posted(postOf(1, a)), "buyer_unavailable")
		expectEqual(t, x.posted(postOf(2, a)), "already_sold", "while it is not known")
		x.world.script("blue", accepts)
		return x, a
	}
	bubble(t, "by an operator, in its window", func(t *testing.T) {
		x, a := unknown(t)
		must.Succeed(t, x.engine.AsOperator("").ResolveUnconfirmedDelivery(x.onlyLead(), event.SettledReleased))
		expectEqual(t, x.posted(postOf(3, a)), taken, "another lead")
		expectEqual(t, x.posted(postOf(1, a)), rejected, "under the first key")
	})
	for _, row := range []struct {
		how                   event.PostSettlement
		first, another, money string
	}{
		{event.SettledReleased, rejected, "bid_expired", "100 0"},
		{event.SettledConfirmed, "blue  8", "already_sold", "90 0"},
		{event.SettledResent, taken, "already_sold", "90 0"},
	} {
		bubble(t, "as an operator says: "+row.how.String(), func(t *testing.T) {
			x, a := unknown(t)
			must.Succeed(t, x.engine.AsOperator("").ResolveUnconfirmedDelivery(x.onlyLead(), row.how))
			time.Sleep(time.Minute)
			for _, restart := range []bool{false, true} {
				if restart {
					x.crash()
				}
				expectEqual(t, x.posted(postOf(1, a)), row.first, "restart=", restart)
				expectEqual(t, x.posted(postOf(2, a)), row.another, "restart=", restart, ": another")
				balance, held := x.state.BuyerBalance(x.state.RefOf(event.ObjectBuyer, "blue"))
				expectEqual(t, balance.String()+" "+held.String(), row.money, "restart=", restart, ": money")
			}
		})
	}
}
