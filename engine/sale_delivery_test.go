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

// saleCase is one post on its way to the buyer that bid: what that one answers to
// each try, what the seller hears and when, when the tries were, where the lead
// stands in the end, and what the same key hears then.
type saleCase struct {
	name      string
	blue      []postReply
	want      string
	attempts  string
	leadState string
	repeat    string // empty: the same
}

const (
	soldToBlue      = "blue theirs 8"
	rejectedByBuyer = "post_rejected post_rejected"
	allAttempts     = "blue@0s blue@1s blue@3s blue@7s blue@15s blue@31s"
)

var saleCases = []saleCase{
	{"taken", []postReply{accepts.after(120 * ms)}, soldToBlue + "@120ms", "blue@0s", "ACCEPTED delivered", ""},
	{"refused", []postReply{refuses.after(300 * ms)}, rejectedByBuyer + "@300ms", "blue@0s", "UNMATCHED failed post_rejected", ""},
	{"refused without a final word", []postReply{refusesNotFinal}, rejectedByBuyer + "@0s", "blue@0s", "UNMATCHED failed post_rejected", ""},
	{"refused a moment before the ceiling", []postReply{refuses.after(4999 * ms)}, rejectedByBuyer + "@4.999s", "blue@0s", "UNMATCHED failed post_rejected", ""},

	{"unreached once", []postReply{unreachable, accepts}, soldToBlue + "@1s", "blue@0s blue@1s", "ACCEPTED delivered", ""},
	{"unreached twice", []postReply{unreachable, unreachable, accepts}, soldToBlue + "@3s", "blue@0s blue@1s blue@3s", "ACCEPTED delivered", ""},
	{"unreached for longer than the answer waits", []postReply{unreachable, unreachable, unreachable, accepts}, "buyer_unavailable@3s", "blue@0s blue@1s blue@3s blue@7s", "ACCEPTED delivered", soldToBlue},
	{"never reached", []postReply{unreachable}, "buyer_unavailable@3s", allAttempts, "UNMATCHED failed post_rejected", rejectedByBuyer},
	{"reached at the last try", []postReply{unreachable, unreachable, unreachable, unreachable, unreachable, accepts}, "buyer_unavailable@3s", allAttempts, "ACCEPTED delivered", soldToBlue},
	{"unreached, then refused", []postReply{unreachable, refuses}, rejectedByBuyer + "@1s", "blue@0s blue@1s", "UNMATCHED failed post_rejected", ""},
	{"unreached, then refused in a way that says nothing", []postReply{unreachable, refusesNotFinal}, rejectedByBuyer + "@1s", "blue@0s blue@1s", "UNMATCHED failed post_rejected", ""},
	{"unreached, then in doubt, then never reached", []postReply{unreachable, serverError, unreachable}, "buyer_unavailable@3s", allAttempts, "ACCEPTED unknown", "buyer_unavailable"},
	{"unreached, then in doubt, then refused for good", []postReply{unreachable, serverError, refuses}, "buyer_unavailable@3s", allAttempts, "ACCEPTED unknown", "buyer_unavailable"},
	{"unreached, then the credential is renewed", []postReply{unreachable, renewsCredential, accepts}, soldToBlue + "@1s", "blue@0s blue@1s blue@1s", "ACCEPTED delivered", ""},
	{"unreached past the ceiling, then refused", []postReply{unreachable, unreachable, unreachable, refuses}, "buyer_unavailable@3s", "blue@0s blue@1s blue@3s blue@7s", "UNMATCHED failed post_rejected", rejectedByBuyer},
	{"unreached after the ceiling", []postReply{unreachable.after(8 * time.Second), accepts}, "buyer_timeout@5s", "blue@0s blue@9s", "ACCEPTED delivered", soldToBlue},
	{"slow to be unreached, again and again", []postReply{unreachable.after(2100 * ms)}, "buyer_timeout@5s", "blue@0s blue@3.1s blue@7.2s blue@13.3s blue@23.4s blue@41.5s", "UNMATCHED failed post_rejected", rejectedByBuyer},

	{"busy, with time to wait", []postReply{busy(2 * time.Second), accepts}, soldToBlue + "@2s", "blue@0s blue@2s", "ACCEPTED delivered", ""},
	{"busy for too long", []postReply{busy(9 * time.Second)}, rejectedByBuyer + "@0s", "blue@0s", "UNMATCHED failed post_rejected", ""},
	{"busy, then unreached", []postReply{busy(time.Second), unreachable, accepts}, soldToBlue + "@2s", "blue@0s blue@1s blue@2s", "ACCEPTED delivered", ""},
	{"unreached, then busy for too long", []postReply{unreachable, busy(9 * time.Second)}, rejectedByBuyer + "@1s", "blue@0s blue@1s", "UNMATCHED failed post_rejected", ""},
	{"unreached past the ceiling, then busy", []postReply{unreachable, unreachable, unreachable, busy(time.Second)}, "buyer_unavailable@3s", "blue@0s blue@1s blue@3s blue@7s", "UNMATCHED failed post_rejected", rejectedByBuyer},

	{"broken once", []postReply{serverError, accepts}, soldToBlue + "@1s", "blue@0s blue@1s", "ACCEPTED delivered", ""},
	{"broken, then refused for good", []postReply{serverError, refuses}, "buyer_unavailable@3s", allAttempts, "ACCEPTED unknown", "buyer_unavailable"},
	{"broken, then refused for good by a buyer that certifies", []postReply{serverError, refuses}, rejectedByBuyer + "@1s", "blue@0s blue@1s", "UNMATCHED failed post_rejected", ""},
	{"broken, then refused, then taken", []postReply{serverError, refuses, refusesNotFinal, accepts}, "buyer_unavailable@3s", "blue@0s blue@1s blue@3s blue@7s", "ACCEPTED delivered", soldToBlue},
	{"broken, then refused in a way that says nothing", []postReply{serverError, refusesNotFinal}, "buyer_unavailable@3s", allAttempts, "ACCEPTED unknown", "buyer_unavailable"},
	{"broken for good", []postReply{serverError}, "buyer_unavailable@3s", allAttempts, "ACCEPTED unknown", "buyer_unavailable"},
	{"broken but for the last try", []postReply{serverError, serverError, serverError, serverError, serverError, accepts}, "buyer_unavailable@3s", allAttempts, "ACCEPTED delivered", soldToBlue},

	{"hangs, then takes it", []postReply{accepts.after(8 * time.Second)}, "buyer_timeout@5s", "blue@0s", "ACCEPTED delivered", soldToBlue},
	{"hangs, then refuses", []postReply{refuses.after(8 * time.Second)}, "buyer_timeout@5s", "blue@0s", "UNMATCHED failed post_rejected", rejectedByBuyer},
	{"hangs to the end, then takes it", []postReply{hangs, accepts}, "buyer_timeout@5s", "blue@0s blue@11s", "ACCEPTED delivered", soldToBlue},
	{"hangs each time", []postReply{hangs}, "buyer_timeout@5s", "blue@0s blue@11s blue@23s blue@37s blue@55s blue@1m21s", "ACCEPTED unknown", "buyer_unavailable"},
}

// market is where the delivery is played.
func (d saleCase) market() marketSpec {
	r := twoBidders()
	r.buyers[0].certified = strings.Contains(d.name, "certifies")
	return r
}

func TestPostDelivery(t *testing.T) {
	for _, d := range saleCases {
		runWithExchange(t, d.name, withWebhooks(d.market()), func(t *testing.T, x *testExchange) {
			x.buyers.scriptPosts("blue", d.blue...)
			p := postFor(1, x.pingAuction(supplierPing(1)))
			first := x.startSale(p)
			expectEqual(t, fmt.Sprintf("%s@%s", first.wait(), first.took), d.want, "the seller hears")
			time.Sleep(5 * time.Minute)
			expectEqual(t, strings.Join(x.buyers.postAttempts(), " "), d.attempts, "tried")
			x.checkLoggedAnswer(first.wait())
			lead := engine.IngestAnswer{Lead: x.onlyLead()}
			expectEqual(t, x.leadState(lead), d.leadState, "stands")
			for _, a := range x.expectWebhooks(first.wait(), lead).attempts {
				if !strings.Contains(string(a.body), `"lead_uuid":"theirs-1","auction_id":"a1"`) {
					t.Errorf("without the seller's own ids: %s", a.body)
				}
			}
			want := d.repeat
			if want == "" {
				want, _, _ = strings.Cut(d.want, "@")
			}
			expectEqual(t, x.saleResult(p), want, "the same key hears")
			x.checkSaleEffects(d)
		})
	}
}

// onlyLead is the lead of the log's only sale, or of its only decision.
func (x *testExchange) onlyLead() (id market.LeadID) {
	x.t.Helper()
	for _, lead := range eventsOf[*event.LeadDecided](x) {
		if !id.IsZero() {
			x.t.Fatal("two leads")
		}
		id = lead.Lead
	}
	return id
}

// checkLoggedAnswer sees that the log tells which of the two a seller heard whose answer
// was due before its buyer's: by the fault of what left the delivery open.
func (x *testExchange) checkLoggedAnswer(received string) {
	x.t.Helper()
	logged := ""
	for _, settled := range eventsOf[*event.PostSettled](x) {
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
	if received != logged {
		x.t.Errorf("the seller heard %s, and the log says %q", received, logged)
	}
}

// checkSaleEffects looks at money, at duplicates, and at the auction: used up where the
// buyer has the lead or may have it, given back where it has not.
func (x *testExchange) checkSaleEffects(d saleCase) {
	x.t.Helper()
	balance, held := x.state.BuyerBalance(x.state.RefOf(event.ObjectBuyer, "blue"))
	money, person, auction := "90 0", "post_rejected duplicate", "already_sold"
	switch {
	case strings.HasSuffix(d.leadState, "unknown"):
		money = "100 10"
	case strings.HasPrefix(d.leadState, "UNMATCHED"):
		money, person, auction = "100 0", soldToBlue, "bid_expired"
	}
	expectEqual(x.t, balance.String()+" "+held.String(), money, "the buyer has")
	a := auctionInfo{id: "a1", token: string(x.loggedToken("a1"))}
	expectEqual(x.t, x.saleResult(postFor(2, a)), auction, "another lead by the same bid")
	x.buyers.scriptPosts("blue", accepts)
	expectEqual(x.t, x.saleResult(postFor(1, x.pingAuction(supplierPing(2))).withKey("next")), person, "the same person by another bid")
}

// Whatever the first one is told, the answer under its key is one and the same
// once there is one: while the delivery goes on, after it, and after restarts.
func TestPostIsAnsweredOnce(t *testing.T) {
	for _, d := range saleCases {
		for _, crashes := range []int{0, 1, 3} {
			runWithExchange(t, fmt.Sprintf("%s/%d crashes", d.name, crashes), d.market(), func(t *testing.T, x *testExchange) {
				x.buyers.scriptPosts("blue", d.blue...)
				p := postFor(1, x.pingAuction(supplierPing(1)))
				received := []*saleCall{x.startSale(p)}
				for range 5 {
					time.Sleep(700 * ms)
					received = append(received, x.startSale(p))
				}
				received[0].wait()
				for range crashes {
					time.Sleep(1700 * ms)
					x.crashAndRestart()
					received = append(received, x.startSale(p))
				}
				for _, later := range []time.Duration{5 * time.Minute, time.Hour} {
					time.Sleep(later)
					received = append(received, x.startSale(p))
				}
				checkOneAnswerPerKey(t, slices.Repeat([]postInput{p}, len(received)), received)
			})
		}
	}
}

// A repetition comes while the delivery goes on: it waits with it, inside its own
// ceiling.
func TestPostRepeatedMeanwhile(t *testing.T) {
	tests := []struct {
		name  string
		blue  []postReply
		after time.Duration
		want  string
	}{
		{"at the same instant", []postReply{accepts.after(time.Second)}, 0, soldToBlue + "@1s"},
		{"before the answer", []postReply{accepts.after(3 * time.Second)}, time.Second, soldToBlue + "@2s"},
		{"and it is refused", []postReply{refuses.after(3 * time.Second)}, time.Second, rejectedByBuyer + "@2s"},
		{"after the first one's ceiling, and it is taken", []postReply{accepts.after(8 * time.Second)}, 6 * time.Second, soldToBlue + "@2s"},
		{"after the first one's ceiling, and it is refused", []postReply{refuses.after(8 * time.Second)}, 6 * time.Second, rejectedByBuyer + "@2s"},
		{"across the first one's ceiling", []postReply{accepts.after(8 * time.Second)}, 4 * time.Second, soldToBlue + "@4s"},
		{"and its own ceiling comes, under a try", []postReply{accepts.after(9 * time.Second)}, 2 * time.Second, "buyer_timeout@5s"},
		{"and its own ceiling comes, after a timeout", []postReply{hangs, accepts}, 5500 * ms, "buyer_timeout@5s"},
		{"and its own ceiling comes, between two tries", []postReply{unreachable}, 8 * time.Second, "buyer_unavailable@5s"},
		{"between two tries, and the next one is taken", []postReply{unreachable, unreachable, unreachable, accepts}, 4 * time.Second, soldToBlue + "@3s"},
	}
	for _, test := range tests {
		runWithExchange(t, test.name, twoBidders(), func(t *testing.T, x *testExchange) {
			x.buyers.scriptPosts("blue", test.blue...)
			p := postFor(1, x.pingAuction(supplierPing(1)))
			first := x.startSale(p)
			time.Sleep(test.after)
			again := x.startSale(p)
			expectEqual(t, fmt.Sprintf("%s@%s", again.wait(), again.took), test.want, "it hears")
			first.wait()
			if again.answer.Replayed == first.answer.Replayed && first.err == nil {
				t.Error("both or neither is a repetition")
			}
			other := p
			other.supplierLeadID = "another body"
			expectEqual(t, x.saleResult(other), "idempotency_key_reused", "another body")
			time.Sleep(time.Minute)
		})
	}
}

// Every row of an auction's way back: refused, it may be posted again; released by
// an operator, it is nobody's.
func TestAuctionIsGivenBack(t *testing.T) {
	runWithExchange(t, "after a refusal", twoBidders(), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue", refuses.after(time.Second))
		a := x.pingAuction(supplierPing(1))
		expectEqual(t, x.saleResult(postFor(1, a)), rejectedByBuyer)
		x.buyers.scriptPosts("blue", accepts)
		expectEqual(t, x.saleResult(postFor(1, a).withKey("again")), soldToBlue, "again")
		expectEqual(t, x.saleResult(postFor(1, a)), rejectedByBuyer, "under the first key")
		expectEqual(t, x.saleResult(postFor(2, a)), "already_sold", "a third one")
	})
	unknown := func(t *testing.T) (*testExchange, auctionInfo) {
		t.Helper()
		x := newExchange(t, twoBidders().withoutRepeats())
		x.buyers.scriptPosts("blue", serverError)
		a := x.pingAuction(supplierPing(1))
		expectEqual(t, x.saleResult(postFor(1, a)), "buyer_unavailable")
		expectEqual(t, x.saleResult(postFor(2, a)), "already_sold", "while it is not known")
		x.buyers.scriptPosts("blue", accepts)
		return x, a
	}
	runInVirtualTime(t, "by an operator, in its window", func(t *testing.T) {
		x, a := unknown(t)
		must.Succeed(t, x.engine.AsOperator("").ResolveUnconfirmedDelivery(x.onlyLead(), event.SettledReleased))
		expectEqual(t, x.saleResult(postFor(3, a)), soldToBlue, "another lead")
		expectEqual(t, x.saleResult(postFor(1, a)), rejectedByBuyer, "under the first key")
	})
	for _, row := range []struct {
		how                   event.PostSettlement
		first, another, money string
	}{
		{event.SettledReleased, rejectedByBuyer, "bid_expired", "100 0"},
		{event.SettledConfirmed, "blue  8", "already_sold", "90 0"},
		{event.SettledResent, soldToBlue, "already_sold", "90 0"},
	} {
		runInVirtualTime(t, "as an operator says: "+row.how.String(), func(t *testing.T) {
			x, a := unknown(t)
			must.Succeed(t, x.engine.AsOperator("").ResolveUnconfirmedDelivery(x.onlyLead(), row.how))
			time.Sleep(time.Minute)
			for _, restart := range []bool{false, true} {
				if restart {
					x.crashAndRestart()
				}
				expectEqual(t, x.saleResult(postFor(1, a)), row.first, "restart=", restart)
				expectEqual(t, x.saleResult(postFor(2, a)), row.another, "restart=", restart, ": another")
				balance, held := x.state.BuyerBalance(x.state.RefOf(event.ObjectBuyer, "blue"))
				expectEqual(t, balance.String()+" "+held.String(), row.money, "restart=", restart, ": money")
			}
		})
	}
}
