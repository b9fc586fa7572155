package engine_test

import (
	"errors"
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

// saleCase is a post to the buyer that bid: the buyer's answers, the supplier's answer
// with its time, the times of the attempts, the final state of the lead, and the answer
// to a repeat after the delivery.
type saleCase struct {
	name      string
	blue      []postReply
	want      string
	attempts  string
	leadState string
	repeat    string // empty: the same answer
}

const (
	soldToBlue      = "blue theirs 8"
	rejectedByBuyer = "post_rejected post_rejected"
	allAttempts     = "blue@0s blue@1s blue@3s blue@7s blue@15s blue@31s"
)

var saleCases = []saleCase{
	{"taken", []postReply{accepts.after(120 * ms)}, soldToBlue + "@120ms", "blue@0s", "ACCEPTED delivered", ""},
	{"refused", []postReply{refuses.after(300 * ms)}, rejectedByBuyer + "@300ms", "blue@0s", "UNMATCHED failed post_rejected", ""},
	{"refused without a final answer", []postReply{refusesNotFinal}, rejectedByBuyer + "@0s", "blue@0s", "UNMATCHED failed post_rejected", ""},
	{"refused a moment before the ceiling", []postReply{refuses.after(4999 * ms)}, rejectedByBuyer + "@4.999s", "blue@0s", "UNMATCHED failed post_rejected", ""},

	{"unreached once", []postReply{unreachable, accepts}, soldToBlue + "@1s", "blue@0s blue@1s", "ACCEPTED delivered", ""},
	{"unreached twice", []postReply{unreachable, unreachable, accepts}, soldToBlue + "@3s", "blue@0s blue@1s blue@3s", "ACCEPTED delivered", ""},
	{"unreached until the answer is due", []postReply{unreachable, unreachable, unreachable, accepts}, "buyer_unavailable@3s", "blue@0s blue@1s blue@3s blue@7s", "ACCEPTED delivered", soldToBlue},
	{"never reached", []postReply{unreachable}, "buyer_unavailable@3s", allAttempts, "UNMATCHED failed post_rejected", rejectedByBuyer},
	{"reached at the last attempt", []postReply{unreachable, unreachable, unreachable, unreachable, unreachable, accepts}, "buyer_unavailable@3s", allAttempts, "ACCEPTED delivered", soldToBlue},
	{"unreached, then refused", []postReply{unreachable, refuses}, rejectedByBuyer + "@1s", "blue@0s blue@1s", "UNMATCHED failed post_rejected", ""},
	{"unreached, then refused without a final answer", []postReply{unreachable, refusesNotFinal}, rejectedByBuyer + "@1s", "blue@0s blue@1s", "UNMATCHED failed post_rejected", ""},
	{"unreached, then in doubt, then never reached", []postReply{unreachable, serverError, unreachable}, "buyer_unavailable@3s", allAttempts, "ACCEPTED unknown", "buyer_unavailable"},
	{"unreached, then in doubt, then refused for good", []postReply{unreachable, serverError, refuses}, "buyer_unavailable@3s", allAttempts, "ACCEPTED unknown", "buyer_unavailable"},
	{"unreached, then renewed credential", []postReply{unreachable, renewsCredential, accepts}, soldToBlue + "@1s", "blue@0s blue@1s blue@1s", "ACCEPTED delivered", ""},
	{"unreached past the ceiling, then refused", []postReply{unreachable, unreachable, unreachable, refuses}, "buyer_unavailable@3s", "blue@0s blue@1s blue@3s blue@7s", "UNMATCHED failed post_rejected", rejectedByBuyer},
	{"unreached after the ceiling", []postReply{unreachable.after(8 * time.Second), accepts}, "buyer_timeout@5s", "blue@0s blue@9s", "ACCEPTED delivered", soldToBlue},
	{"unreached slowly each time", []postReply{unreachable.after(2100 * ms)}, "buyer_timeout@5s", "blue@0s blue@3.1s blue@7.2s blue@13.3s blue@23.4s blue@41.5s", "UNMATCHED failed post_rejected", rejectedByBuyer},

	{"busy, with time to wait", []postReply{busy(2 * time.Second), accepts}, soldToBlue + "@2s", "blue@0s blue@2s", "ACCEPTED delivered", ""},
	{"busy for too long", []postReply{busy(9 * time.Second)}, rejectedByBuyer + "@0s", "blue@0s", "UNMATCHED failed post_rejected", ""},
	{"busy, then unreached", []postReply{busy(time.Second), unreachable, accepts}, soldToBlue + "@2s", "blue@0s blue@1s blue@2s", "ACCEPTED delivered", ""},
	{"unreached, then busy for too long", []postReply{unreachable, busy(9 * time.Second)}, rejectedByBuyer + "@1s", "blue@0s blue@1s", "UNMATCHED failed post_rejected", ""},
	{"unreached past the ceiling, then busy", []postReply{unreachable, unreachable, unreachable, busy(time.Second)}, "buyer_unavailable@3s", "blue@0s blue@1s blue@3s blue@7s", "UNMATCHED failed post_rejected", rejectedByBuyer},

	{"broken once", []postReply{serverError, accepts}, soldToBlue + "@1s", "blue@0s blue@1s", "ACCEPTED delivered", ""},
	{"broken, then refused for good", []postReply{serverError, refuses}, "buyer_unavailable@3s", allAttempts, "ACCEPTED unknown", "buyer_unavailable"},
	{"broken, then refused for good, buyer certifies", []postReply{serverError, refuses}, rejectedByBuyer + "@1s", "blue@0s blue@1s", "UNMATCHED failed post_rejected", ""},
	{"broken, then refused, then taken", []postReply{serverError, refuses, refusesNotFinal, accepts}, "buyer_unavailable@3s", "blue@0s blue@1s blue@3s blue@7s", "ACCEPTED delivered", soldToBlue},
	{"broken, then refused without a final answer", []postReply{serverError, refusesNotFinal}, "buyer_unavailable@3s", allAttempts, "ACCEPTED unknown", "buyer_unavailable"},
	{"broken each time", []postReply{serverError}, "buyer_unavailable@3s", allAttempts, "ACCEPTED unknown", "buyer_unavailable"},
	{"broken until the last attempt", []postReply{serverError, serverError, serverError, serverError, serverError, accepts}, "buyer_unavailable@3s", allAttempts, "ACCEPTED delivered", soldToBlue},

	{"answers late, accepts", []postReply{accepts.after(8 * time.Second)}, "buyer_timeout@5s", "blue@0s", "ACCEPTED delivered", soldToBlue},
	{"answers late, refuses", []postReply{refuses.after(8 * time.Second)}, "buyer_timeout@5s", "blue@0s", "UNMATCHED failed post_rejected", rejectedByBuyer},
	{"times out, then accepts", []postReply{hangs, accepts}, "buyer_timeout@5s", "blue@0s blue@11s", "ACCEPTED delivered", soldToBlue},
	{"times out each time", []postReply{hangs}, "buyer_timeout@5s", "blue@0s blue@11s blue@23s blue@37s blue@55s blue@1m21s", "ACCEPTED unknown", "buyer_unavailable"},
}

// market returns the configuration for the sale.
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
			expectEqual(t, fmt.Sprintf("%s@%s", first.wait(), first.took), d.want, "first answer")
			time.Sleep(5 * time.Minute)
			expectEqual(t, strings.Join(x.buyers.postAttempts(), " "), d.attempts, "attempts")
			x.checkLoggedAnswer(first.wait())
			lead := engine.IngestAnswer{Lead: x.onlyLead()}
			expectEqual(t, x.leadState(lead), d.leadState, "lead")
			for _, a := range x.expectWebhooks(first.wait(), lead).attempts {
				if !strings.Contains(string(a.body), `"lead_uuid":"theirs-1","auction_id":"a1"`) {
					t.Errorf("webhook without the supplier's ids: %s", a.body)
				}
			}
			want := d.repeat
			if want == "" {
				want, _, _ = strings.Cut(d.want, "@")
			}
			expectEqual(t, x.saleResult(p), want, "repeat")
			_, err := x.sellAtBid(p)
			expectEqual(t, isDeliveryStopped(err), d.leadState == "ACCEPTED unknown", "the repeat says that the delivery stopped")
			firstStopped := d.leadState == "ACCEPTED unknown" && !strings.Contains(d.attempts, " ")
			expectEqual(t, isDeliveryStopped(first.err), firstStopped, "the first answer says that the delivery stopped")
			x.checkSaleEffects(d)
		})
	}
}

// isDeliveryStopped reports whether an error says that an operator decides about the delivery.
func isDeliveryStopped(err error) bool {
	var refusal *engine.Refusal
	return errors.As(err, &refusal) && refusal.DeliveryStopped
}

// onlyLead returns the only lead in the log.
func (x *testExchange) onlyLead() (id market.LeadID) {
	x.t.Helper()
	for _, lead := range eventsOf[*event.LeadDecided](x) {
		if !id.IsZero() {
			x.t.Fatal("two leads in the log")
		}
		id = lead.Lead
	}
	return id
}

// checkLoggedAnswer checks an answer that was due before the buyer's: the first failed
// attempt in the log decides between buyer_timeout and buyer_unavailable.
func (x *testExchange) checkLoggedAnswer(got string) {
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
	if got != logged {
		x.t.Errorf("supplier's answer is %s, want %q by the log", got, logged)
	}
}

// checkSaleEffects checks funds, duplicate claims and the auction: used if the buyer has
// the lead or may have it, otherwise released.
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
	expectEqual(x.t, balance.String()+" "+held.String(), money, "buyer's balance and reserved funds")
	a := auctionInfo{id: "a1", token: string(x.loggedToken("a1"))}
	expectEqual(x.t, x.saleResult(postFor(2, a)), auction, "another lead with the same bid")
	x.buyers.scriptPosts("blue", accepts)
	expectEqual(x.t, x.saleResult(postFor(1, x.pingAuction(supplierPing(2))).withKey("next")), person, "the same person with another bid")
}

// Repeats during the delivery, after it and after restarts get the same final answer.
func TestPostKeyHasOneFinalAnswer(t *testing.T) {
	for _, d := range saleCases {
		for _, crashes := range []int{0, 1, 3} {
			runWithExchange(t, fmt.Sprintf("%s/%d crashes", d.name, crashes), d.market(), func(t *testing.T, x *testExchange) {
				x.buyers.scriptPosts("blue", d.blue...)
				p := postFor(1, x.pingAuction(supplierPing(1)))
				calls := []*saleCall{x.startSale(p)}
				for range 5 {
					time.Sleep(700 * ms)
					calls = append(calls, x.startSale(p))
				}
				calls[0].wait()
				for range crashes {
					time.Sleep(1700 * ms)
					x.crashAndRestart()
					calls = append(calls, x.startSale(p))
				}
				for _, later := range []time.Duration{5 * time.Minute, time.Hour} {
					time.Sleep(later)
					calls = append(calls, x.startSale(p))
				}
				checkOneAnswerPerKey(t, slices.Repeat([]postInput{p}, len(calls)), calls)
			})
		}
	}
}

// The repeat waits for the delivery, at most until its own answer is due.
func TestPostRepeatedDuringDelivery(t *testing.T) {
	tests := []struct {
		name  string
		blue  []postReply
		after time.Duration
		want  string
	}{
		{"at the same time", []postReply{accepts.after(time.Second)}, 0, soldToBlue + "@1s"},
		{"before the first answer", []postReply{accepts.after(3 * time.Second)}, time.Second, soldToBlue + "@2s"},
		{"before the first answer, refused", []postReply{refuses.after(3 * time.Second)}, time.Second, rejectedByBuyer + "@2s"},
		{"after the first answer's ceiling, accepted", []postReply{accepts.after(8 * time.Second)}, 6 * time.Second, soldToBlue + "@2s"},
		{"after the first answer's ceiling, refused", []postReply{refuses.after(8 * time.Second)}, 6 * time.Second, rejectedByBuyer + "@2s"},
		{"across the first answer's ceiling", []postReply{accepts.after(8 * time.Second)}, 4 * time.Second, soldToBlue + "@4s"},
		{"own ceiling during an attempt", []postReply{accepts.after(9 * time.Second)}, 2 * time.Second, "buyer_timeout@5s"},
		{"own ceiling after a timeout", []postReply{hangs, accepts}, 5500 * ms, "buyer_timeout@5s"},
		{"own ceiling between two attempts", []postReply{unreachable}, 8 * time.Second, "buyer_unavailable@5s"},
		{"between two attempts, the next one accepted", []postReply{unreachable, unreachable, unreachable, accepts}, 4 * time.Second, soldToBlue + "@3s"},
	}
	for _, test := range tests {
		runWithExchange(t, test.name, twoBidders(), func(t *testing.T, x *testExchange) {
			x.buyers.scriptPosts("blue", test.blue...)
			p := postFor(1, x.pingAuction(supplierPing(1)))
			first := x.startSale(p)
			time.Sleep(test.after)
			repeat := x.startSale(p)
			expectEqual(t, fmt.Sprintf("%s@%s", repeat.wait(), repeat.took), test.want, "answer to the repeat")
			first.wait()
			if repeat.answer.Replayed == first.answer.Replayed && first.err == nil {
				t.Error("want one of the two answers marked as replayed")
			}
			other := p
			other.supplierLeadID = "another body"
			expectEqual(t, x.saleResult(other), "idempotency_key_reused", "another body")
			time.Sleep(time.Minute)
		})
	}
}

// After a refusal, or a release by an operator, the auction can sell another lead.
func TestFailedPostReleasesAuction(t *testing.T) {
	runWithExchange(t, "after a refusal", twoBidders(), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue", refuses.after(time.Second))
		a := x.pingAuction(supplierPing(1))
		expectEqual(t, x.saleResult(postFor(1, a)), rejectedByBuyer)
		x.buyers.scriptPosts("blue", accepts)
		expectEqual(t, x.saleResult(postFor(1, a).withKey("again")), soldToBlue, "the same lead with a new key")
		expectEqual(t, x.saleResult(postFor(1, a)), rejectedByBuyer, "repeat with the first key")
		expectEqual(t, x.saleResult(postFor(2, a)), "already_sold", "another lead")
	})
	newUnconfirmedSale := func(t *testing.T) (*testExchange, auctionInfo) {
		t.Helper()
		x := newExchange(t, twoBidders().withoutRepeats())
		x.buyers.scriptPosts("blue", serverError)
		a := x.pingAuction(supplierPing(1))
		expectEqual(t, x.saleResult(postFor(1, a)), "buyer_unavailable")
		expectEqual(t, x.saleResult(postFor(2, a)), "already_sold", "another lead while the delivery is unconfirmed")
		x.buyers.scriptPosts("blue", accepts)
		return x, a
	}
	runInVirtualTime(t, "released by an operator while the bid is valid", func(t *testing.T) {
		x, a := newUnconfirmedSale(t)
		must.Succeed(t, x.engine.AsOperator("").ResolveUnconfirmedDelivery(x.onlyLead(), event.SettledReleased))
		expectEqual(t, x.saleResult(postFor(3, a)), soldToBlue, "another lead after the release")
		expectEqual(t, x.saleResult(postFor(1, a)), rejectedByBuyer, "repeat with the first key")
	})
	for _, row := range []struct {
		how                   event.PostSettlement
		first, another, funds string
	}{
		{event.SettledReleased, rejectedByBuyer, "bid_expired", "100 0"},
		{event.SettledConfirmed, "blue  8", "already_sold", "90 0"},
		{event.SettledResent, soldToBlue, "already_sold", "90 0"},
	} {
		runInVirtualTime(t, "settled by an operator: "+row.how.String(), func(t *testing.T) {
			x, a := newUnconfirmedSale(t)
			must.Succeed(t, x.engine.AsOperator("").ResolveUnconfirmedDelivery(x.onlyLead(), row.how))
			time.Sleep(time.Minute)
			for _, restart := range []bool{false, true} {
				if restart {
					x.crashAndRestart()
				}
				expectEqual(t, x.saleResult(postFor(1, a)), row.first, "restart=", restart, ": the first lead")
				expectEqual(t, x.saleResult(postFor(2, a)), row.another, "restart=", restart, ": another lead")
				balance, held := x.state.BuyerBalance(x.state.RefOf(event.ObjectBuyer, "blue"))
				expectEqual(t, balance.String()+" "+held.String(), row.funds, "restart=", restart, ": balance and reserved funds")
			}
		})
	}
}
