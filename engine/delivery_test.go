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

// deliveryCase has the replies of blue and gold to each attempt, and the wanted result: the
// supplier's answer with its time, the attempts by buyer and time, and the lead's final state.
type deliveryCase struct {
	name       string
	blue, gold []postReply // nil: accepts
	want       string
	attempts   string
	leadState  string
}

var deliveryCases = []deliveryCase{
	{"accepted", []postReply{accepts.after(120 * ms)}, nil, "blue@120ms", "blue@0s", "ACCEPTED delivered"},
	{"accepted without delay", []postReply{accepts}, nil, "blue@0s", "blue@0s", "ACCEPTED delivered"},
	{"refused", []postReply{refuses.after(300 * ms)}, []postReply{accepts.after(200 * ms)}, "gold@500ms", "blue@0s gold@300ms", "ACCEPTED delivered"},
	{"refused, not final", []postReply{refusesNotFinal}, nil, "gold@0s", "blue@0s gold@0s", "ACCEPTED delivered"},
	{"unreached", []postReply{unreachable.after(2 * time.Second)}, []postReply{accepts.after(ms)}, "gold@2.001s", "blue@0s gold@2s", "ACCEPTED delivered"},
	{"refused by all", []postReply{refuses.after(time.Second)}, []postReply{refuses.after(time.Second)}, "post_rejected@2s", "blue@0s gold@1s", "UNMATCHED failed post_rejected"},
	{"no buyer reached", []postReply{unreachable}, []postReply{unreachable}, "post_rejected@0s", "blue@0s gold@0s", "UNMATCHED failed post_rejected"},
	{"refused just after the deadline", []postReply{refuses.after(5001 * ms)}, nil, "blue@5s", "blue@0s", "UNMATCHED failed post_rejected"},
	{"refused just before the deadline", []postReply{refuses.after(4999 * ms)}, []postReply{accepts.after(ms / 2)}, "gold@4.9995s", "blue@0s gold@4.999s", "ACCEPTED delivered"},
	{"refused, the next is slower than the deadline", []postReply{refuses.after(4 * time.Second)}, []postReply{accepts.after(3 * time.Second)}, "gold@5s", "blue@0s gold@4s", "ACCEPTED delivered"},
	{"refused, the next refuses after the deadline", []postReply{refuses.after(4 * time.Second)}, []postReply{refuses.after(3 * time.Second)}, "gold@5s", "blue@0s gold@4s", "UNMATCHED failed post_rejected"},

	{"busy, Retry-After before the deadline", []postReply{busy(2 * time.Second), accepts.after(100 * ms)}, nil, "blue@2.1s", "blue@0s blue@2s", "ACCEPTED delivered"},
	{"busy three times", []postReply{busy(time.Second), busy(time.Second), busy(time.Second), accepts}, nil, "blue@3s", "blue@0s blue@1s blue@2s blue@3s", "ACCEPTED delivered"},
	{"busy, Retry-After 0", []postReply{busy(0), accepts}, nil, "blue@50ms", "blue@0s blue@50ms", "ACCEPTED delivered"},
	{"always busy, Retry-After 0", []postReply{busy(0)}, []postReply{accepts}, "gold@4.55s", "blue@0s blue@50ms blue@150ms blue@350ms blue@750ms blue@1.55s blue@2.55s blue@3.55s blue@4.55s gold@4.55s", "ACCEPTED delivered"},
	{"busy for too long", []postReply{busy(5 * time.Second)}, nil, "gold@0s", "blue@0s gold@0s", "ACCEPTED delivered"},
	{"busy until it is too late", []postReply{busy(3 * time.Second)}, []postReply{accepts.after(100 * ms)}, "gold@3.1s", "blue@0s blue@3s gold@3s", "ACCEPTED delivered"},
	{"busy, then refused", []postReply{busy(time.Second), refuses}, nil, "gold@1s", "blue@0s blue@1s gold@1s", "ACCEPTED delivered"},
	{"busy, then unreached", []postReply{busy(time.Second), unreachable}, nil, "gold@1s", "blue@0s blue@1s gold@1s", "ACCEPTED delivered"},
	{"busy, then in doubt", []postReply{busy(time.Second), serverError, refuses}, nil, "blue@4s", "blue@0s blue@1s blue@2s blue@4s blue@8s blue@16s blue@32s", "ACCEPTED unknown"},
	{"busy with an old credential", []postReply{renewsCredential, busy(time.Second), renewsCredential, accepts}, nil, "blue@1s", "blue@0s blue@0s blue@1s blue@1s", "ACCEPTED delivered"},
	{"busy after the deadline", []postReply{busy(time.Second).after(6 * time.Second)}, nil, "blue@5s", "blue@0s", "UNMATCHED failed post_rejected"},
	{"all buyers busy", []postReply{busy(9 * time.Second)}, []postReply{busy(9 * time.Second)}, "post_rejected@0s", "blue@0s gold@0s", "UNMATCHED failed post_rejected"},

	{"broken once", []postReply{serverError.after(100 * ms), accepts.after(100 * ms)}, nil, "blue@1.2s", "blue@0s blue@1.1s", "ACCEPTED delivered"},
	{"broken twice", []postReply{serverError, acceptsSilently, accepts}, nil, "blue@3s", "blue@0s blue@1s blue@3s", "ACCEPTED delivered"},
	{"broken three times, the answer comes before the retry", []postReply{serverError, serverError, serverError, accepts}, nil, "blue@3s", "blue@0s blue@1s blue@3s blue@7s", "ACCEPTED delivered"},
	{"broken, then refused, final", []postReply{serverError, refuses}, nil, "blue@3s", "blue@0s blue@1s blue@3s blue@7s blue@15s blue@31s", "ACCEPTED unknown"},
	{"swallowed, then refused, final", []postReply{acceptsSilently, refuses}, nil, "blue@3s", "blue@0s blue@1s blue@3s blue@7s blue@15s blue@31s", "ACCEPTED unknown"},
	{"broken, then refused, then accepted", []postReply{serverError, refuses, refusesNotFinal, accepts}, nil, "blue@3s", "blue@0s blue@1s blue@3s blue@7s", "ACCEPTED delivered"},
	{"broken, then refused, not final", []postReply{serverError, refusesNotFinal}, nil, "blue@3s", "blue@0s blue@1s blue@3s blue@7s blue@15s blue@31s", "ACCEPTED unknown"},
	{"broken, then the credential is renewed", []postReply{serverError, renewsCredential, accepts}, nil, "blue@1s", "blue@0s blue@1s blue@1s", "ACCEPTED delivered"},
	{"broken, then refused with the renewed credential", []postReply{serverError, renewsCredential, refusesNotFinal}, nil, "blue@3s", "blue@0s blue@1s blue@1s blue@3s blue@7s blue@15s blue@31s", "ACCEPTED unknown"},
	{"broken, then unreached, then accepted", []postReply{serverError, unreachable, accepts}, nil, "blue@3s", "blue@0s blue@1s blue@3s", "ACCEPTED delivered"},
	{"broken, then busy", []postReply{serverError, busy(3 * time.Second), accepts}, nil, "blue@4s", "blue@0s blue@1s blue@4s", "ACCEPTED delivered"},
	{"broken, then busy past the deadline", []postReply{serverError, busy(5 * time.Second), accepts}, nil, "blue@1s", "blue@0s blue@1s blue@6s", "ACCEPTED delivered"},
	{"broken, then busy for a shorter time than the schedule", []postReply{serverError, busy(time.Second), accepts}, nil, "blue@3s", "blue@0s blue@1s blue@3s", "ACCEPTED delivered"},
	{"broken for good", []postReply{serverError}, nil, "blue@3s", "blue@0s blue@1s blue@3s blue@7s blue@15s blue@31s", "ACCEPTED unknown"},
	{"broken until the last attempt", []postReply{serverError, serverError, serverError, serverError, serverError, accepts}, nil, "blue@3s", "blue@0s blue@1s blue@3s blue@7s blue@15s blue@31s", "ACCEPTED delivered"},
	{"refused at the last attempt", []postReply{serverError, serverError, serverError, serverError, serverError, refuses}, nil, "blue@3s", "blue@0s blue@1s blue@3s blue@7s blue@15s blue@31s", "ACCEPTED unknown"},

	{"the credential is renewed", []postReply{renewsCredential.after(ms), accepts.after(ms)}, nil, "blue@2ms", "blue@0s blue@1ms", "ACCEPTED delivered"},
	{"the credential is renewed, and the lead refused", []postReply{renewsCredential, refuses}, nil, "gold@0s", "blue@0s blue@0s gold@0s", "ACCEPTED delivered"},
	{"refused with the renewed credential", []postReply{renewsCredential, refusesNotFinal}, nil, "gold@0s", "blue@0s blue@0s gold@0s", "ACCEPTED delivered"},
	{"the credential is renewed, and then it is in doubt", []postReply{renewsCredential, serverError, refuses, accepts}, nil, "blue@3s", "blue@0s blue@0s blue@1s blue@3s", "ACCEPTED delivered"},
	{"the credential is renewed when the answer is due", []postReply{renewsCredential.after(5 * time.Second), accepts}, nil, "blue@5s", "blue@0s blue@5s", "ACCEPTED delivered"},
	{"the credential is renewed after the answer", []postReply{renewsCredential.after(6 * time.Second), accepts}, nil, "blue@5s", "blue@0s blue@6s", "ACCEPTED delivered"},

	{"hangs, then accepts", []postReply{accepts.after(9999 * ms)}, nil, "blue@5s", "blue@0s", "ACCEPTED delivered"},
	{"hangs, then refuses", []postReply{refuses.after(8 * time.Second)}, nil, "blue@5s", "blue@0s", "UNMATCHED failed post_rejected"},
	{"hangs, then refuses, not final", []postReply{refusesNotFinal.after(8 * time.Second)}, nil, "blue@5s", "blue@0s", "UNMATCHED failed post_rejected"},
	{"hangs, then was not reached", []postReply{unreachable.after(8 * time.Second)}, nil, "blue@5s", "blue@0s", "UNMATCHED failed post_rejected"},
	{"hangs to the end, then accepts", []postReply{hangs, accepts}, nil, "blue@5s", "blue@0s blue@11s", "ACCEPTED delivered"},
	{"hangs to the end, then refuses", []postReply{hangs, refuses}, nil, "blue@5s", "blue@0s blue@11s blue@13s blue@17s blue@25s blue@41s", "ACCEPTED unknown"},
	{"hangs to the end, then refuses, not final", []postReply{hangs, refusesNotFinal}, nil, "blue@5s", "blue@0s blue@11s blue@13s blue@17s blue@25s blue@41s", "ACCEPTED unknown"},
	{"hangs each time", []postReply{hangs}, nil, "blue@5s", "blue@0s blue@11s blue@23s blue@37s blue@55s blue@1m21s", "ACCEPTED unknown"},
	{"refused, then hangs at the next", []postReply{refuses.after(time.Second)}, []postReply{hangs, acceptsSilently, accepts}, "gold@5s", "blue@0s gold@1s gold@12s gold@14s", "ACCEPTED delivered"},
	{"refused, then broken at the next", []postReply{refuses.after(time.Second)}, []postReply{serverError, refuses}, "gold@4s", "blue@0s gold@1s gold@2s gold@4s gold@8s gold@16s gold@32s", "ACCEPTED unknown"},
}

// certifiedCases are cases of buyers that certify their answers to repeats. Their final refusal of
// a repeat ends the delivery, but the lead goes to no other buyer.
var certifiedCases = []deliveryCase{
	{"certified: busy, then in doubt", []postReply{busy(time.Second), serverError, refuses}, nil, "post_rejected@2s", "blue@0s blue@1s blue@2s", "UNMATCHED failed post_rejected"},
	{"certified: broken, then refused for good", []postReply{serverError, refuses}, nil, "post_rejected@1s", "blue@0s blue@1s", "UNMATCHED failed post_rejected"},
	{"certified: broken, then refused, not final", []postReply{serverError, refusesNotFinal}, nil, "blue@3s", "blue@0s blue@1s blue@3s blue@7s blue@15s blue@31s", "ACCEPTED unknown"},
	{"certified: refused at the last attempt", []postReply{serverError, serverError, serverError, serverError, serverError, refuses}, nil, "blue@3s", "blue@0s blue@1s blue@3s blue@7s blue@15s blue@31s", "UNMATCHED failed post_rejected"},
	{"certified: hangs to the end, then refuses", []postReply{hangs, refuses}, nil, "blue@5s", "blue@0s blue@11s", "UNMATCHED failed post_rejected"},
	{"certified: refused, then broken at the next", []postReply{refuses.after(time.Second)}, []postReply{serverError, refuses}, "post_rejected@2s", "blue@0s gold@1s gold@2s", "UNMATCHED failed post_rejected"},
}

// noRepeatCases are cases of buyers that take a repeat for a second lead.
var noRepeatCases = []deliveryCase{
	{"once: broken", []postReply{serverError}, nil, "blue@0s", "blue@0s", "ACCEPTED unknown"},
	{"once: swallowed", []postReply{acceptsSilently.after(time.Second)}, nil, "blue@1s", "blue@0s", "ACCEPTED unknown"},
	{"once: the credential is renewed, then it is broken", []postReply{renewsCredential, serverError}, nil, "blue@0s", "blue@0s blue@0s", "ACCEPTED unknown"},
	{"once: refused", []postReply{refuses}, nil, "gold@0s", "blue@0s gold@0s", "ACCEPTED delivered"},
	{"once: hangs", []postReply{hangs}, nil, "blue@5s", "blue@0s", "ACCEPTED unknown"},
}

// forEachDeliveryCase calls f with each case and its market.
func forEachDeliveryCase(r marketSpec, f func(h deliveryCase, r marketSpec)) {
	for _, h := range deliveryCases {
		f(h, r)
	}
	for _, h := range certifiedCases {
		f(h, r.withCertifiedAnswers())
	}
	for _, h := range noRepeatCases {
		f(h, r.withoutRepeats())
	}
}

// withoutRepeats returns the market with buyers that take a repeat for a second lead.
func (r marketSpec) withoutRepeats() marketSpec {
	return r.changeBuyers(func(b *buyer) { b.noRepeats = true })
}

// withCertifiedAnswers returns the market with buyers that certify their answers to repeats.
func (r marketSpec) withCertifiedAnswers() marketSpec {
	return r.changeBuyers(func(b *buyer) { b.certified = true })
}

// changeBuyers returns a copy of the market with the change to all buyers.
func (r marketSpec) changeBuyers(change func(*buyer)) marketSpec {
	r.buyers = slices.Clone(r.buyers)
	for i := range r.buyers {
		change(&r.buyers[i])
	}
	return r
}

// twoPostBuyers returns a market of two buyers with endpoints, funds and all kinds of caps.
func twoPostBuyers() marketSpec {
	return marketSpec{
		buyers: []buyer{
			{id: "blue", postEndpoint: true, funds: "10", caps: []string{"day 1", "total $10"}},
			{id: "gold", postEndpoint: true, funds: "10", caps: []string{"day 1"}},
		},
		campaigns: []campaign{{
			method: market.Waterfall, duplicates: anyOf, caps: []string{"month 9"},
			filterSets: []filterSet{{buyer: "blue", caps: []string{"hour 1"}}, {buyer: "gold"}},
		}},
	}
}

func TestDelivery(t *testing.T) {
	forEachDeliveryCase(twoPostBuyers(), func(h deliveryCase, r marketSpec) {
		runWithExchange(t, h.name, withWebhooks(r), func(t *testing.T, x *testExchange) {
			x.buyers.scriptPosts("blue", h.blue...)
			x.buyers.scriptPosts("gold", h.gold...)
			s := x.runDeliveryCase(h, leadRequest(1))
			x.expectWebhooks(s.wait(), s.answer)
			expectEqual(t, x.engine.RunningDeliveries(), 0, "running deliveries")
			expectEqual(t, int(x.observed.postAttempts.Load()), len(strings.Fields(h.attempts)), "reported posts of ", h.attempts)
			expectEqual(t, x.countLoggedAttempts(), len(strings.Fields(h.attempts)), "logged attempts of ", h.attempts)
			x.checkFundsAndCaps(t, h, s)
		})
	})
}

// runDeliveryCase ingests the lead and compares the result with the case.
func (x *testExchange) runDeliveryCase(h deliveryCase, r request) *ingestCall {
	x.t.Helper()
	s := x.startIngest(r)
	expectEqual(x.t, fmt.Sprintf("%s@%s", s.wait(), s.took), h.want, "the supplier's answer")
	time.Sleep(10 * time.Minute)
	expectEqual(x.t, strings.Join(x.buyers.postAttempts(), " "), h.attempts, "attempts")
	expectEqual(x.t, x.leadState(s.answer), h.leadState, "lead state")
	return s
}

// countLoggedAttempts counts the logged attempts: failed ones and those that ended a delivery.
func (x *testExchange) countLoggedAttempts() (n int) {
	x.t.Helper()
	for _, record := range eventsOf[event.Event](x) {
		switch record := record.(type) {
		case *event.PostAttemptFailed:
			n++
		case *event.PostSettled:
			if record.Settlement != event.SettledPending {
				n++
			}
		}
	}
	return n
}

// checkFundsAndCaps checks that funds and caps are used if the buyer has or may have the lead, and
// otherwise free.
func (x *testExchange) checkFundsAndCaps(t *testing.T, h deliveryCase, s *ingestCall) {
	t.Helper()
	noted := int64(0)
	if strings.HasSuffix(h.leadState, "unknown") {
		noted = 1
	}
	expectEqual(t, x.observed.unknownDeliveries.Load(), noted, "reports of an unknown delivery")
	sold := int64(0)
	if h.leadState == "ACCEPTED delivered" {
		sold = 1
	}
	expectEqual(t, x.observed.sales.Load(), sold, "reports of a sale")
	owner := s.answer.Buyer
	if strings.HasPrefix(h.leadState, "UNMATCHED") {
		owner = ""
	}
	for _, buyer := range []string{"blue", "gold"} {
		balance, held := x.state.BuyerBalance(x.state.RefOf(event.ObjectBuyer, buyer))
		want := "10 0"
		switch {
		case buyer == owner && strings.HasSuffix(h.leadState, "unknown"):
			want = "10 10"
		case buyer == owner:
			want = "0 0"
		}
		expectEqual(t, balance.String()+" "+held.String(), want, "balance of ", buyer)
	}
	next := "gold" // the buyer with capacity for another lead
	if owner != "blue" {
		next = "blue"
	}
	x.buyers.scriptPosts("blue")
	x.buyers.scriptPosts("gold")
	expectEqual(t, x.ingestResult(leadRequest(2)), next, "buyer of another lead")
}

func TestPostBody(t *testing.T) {
	runWithExchange(t, "body", twoPostBuyers(), func(t *testing.T, x *testExchange) {
		answer := must.Value(x.ingest(leadRequest(1, "vehicles", "#2", "homeowner", "#true", "zip", "94110", "first_name", `P"at`)))(t)
		id := answer.Lead.String()
		want := `{"auction_id":"` + id + `","lead":{"lead_uuid":"` + id + `","first_name":"P\"at","last_name":"Doe","email":"p1@example.com","phone":"+14152000001",` +
			`"address":{"state":"CA","zip":"94110"},"tcpa":{},"vehicles":2,"owns_home":true}}`
		expectEqual(t, string(x.buyers.posts[0].body), want)
		expectEqual(t, x.lead(answer).Payout, answer.Payout, "payout of the lead")
	})
}

func fieldTexts(fields []event.LeadField) (all string) {
	for _, f := range fields {
		all += fmt.Sprintf("%s=%s ", f.Name, f.Text)
	}
	return all
}

// After each refusal the next buyer gets the lead. A buyer without an endpoint ends the cascade.
func TestCascadeAfterRefusals(t *testing.T) {
	tests := []struct {
		name     string
		recorded string // the buyer without an endpoint
		want     string
		posts    int
	}{
		{"no buyer left", "", "post_rejected", 5},
		{"buyer without an endpoint", "b3", "b3", 3},
	}
	for _, method := range []market.BuyerSelectionMethod{market.Waterfall, market.RoundRobin, market.Weighted} {
		for _, test := range tests {
			runInVirtualTime(t, method.String()+" "+test.name, func(t *testing.T) {
				form := campaign{method: method, duplicates: byBuyer}
				var r marketSpec
				for i := range 5 {
					id := fmt.Sprintf("b%d", i)
					r.buyers = append(r.buyers, buyer{id: id, postEndpoint: id != test.recorded, funds: "10"})
					form.filterSets = append(form.filterSets, filterSet{buyer: id, weight: 1 + i})
				}
				r.campaigns = []campaign{form}
				x := newExchange(t, r)
				x.buyers.replyTo = func(*receivedPost) postReply { return refuses.after(10 * ms) }
				entries := x.log.len()
				answer, err := x.ingest(leadRequest(1))
				expectEqual(t, describeIngest(answer, err), test.want)
				posts := len(x.buyers.postAttempts())
				if method == market.Waterfall && posts != test.posts {
					t.Errorf("%d posts, want %d", posts, test.posts)
				}
				x.checkNextIntentsHaveOnlyBodies()
				if got := x.log.len() - entries; got != posts+1 && test.recorded == "" || got != max(1, posts+1) {
					t.Errorf("%d entries for %d posts, want one per refusal with its next intent", got, posts)
				}
			})
		}
	}
}

// checkNextIntentsHaveOnlyBodies checks that only the first intent has the contact fields, so
// that an erasure has one place to clear.
func (x *testExchange) checkNextIntentsHaveOnlyBodies() {
	x.t.Helper()
	for _, settled := range eventsOf[*event.PostSettled](x) {
		if settled.Post.URL == "" {
			continue
		}
		contact, err := x.engine.DecryptContact(&event.LeadDecided{Lead: settled.Lead, Slot: settled.Slot, Sealed: settled.Sealed})
		if err != nil || len(contact.Fields) > 0 || len(contact.Body) == 0 {
			x.t.Errorf("encrypted part of the next intent: error %v, fields %s, body %s", err, fieldTexts(contact.Fields), contact.Body)
		}
	}
}

func TestResolveUnconfirmedDelivery(t *testing.T) {
	tests := []struct {
		name      string
		how       event.PostSettlement
		later     postReply // reply to the resent post
		leadState string
		money     string // balance and amount on hold, of 10
		attempts  int
		again     string // answer to the same person's next lead
	}{
		{"confirm", event.SettledConfirmed, accepts, "ACCEPTED confirmed", "0 0", 6, "duplicate"},
		{"release", event.SettledReleased, accepts, "UNMATCHED released post_rejected", "10 0", 6, "blue"},
		{"resend, accepted", event.SettledResent, accepts.after(2 * time.Second), "ACCEPTED delivered", "0 0", 7, "duplicate"},
		{"resend, refused, final", event.SettledResent, refuses, "ACCEPTED unknown", "10 10", 12, "duplicate"},
		{"resend, refused, final, by a buyer that certifies", event.SettledResent, refuses, "UNMATCHED failed post_rejected", "10 0", 7, "blue"},
		{"resend, refused, not final", event.SettledResent, refusesNotFinal, "ACCEPTED unknown", "10 10", 12, "duplicate"},
		{"resend, broken", event.SettledResent, serverError, "ACCEPTED unknown", "10 10", 12, "duplicate"},
		{"resend, unreached", event.SettledResent, unreachable, "ACCEPTED unknown", "10 10", 12, "duplicate"},
		{"resend, busy", event.SettledResent, busy(time.Second), "ACCEPTED unknown", "10 10", 12, "duplicate"},
	}
	for _, test := range tests {
		for _, restart := range []bool{false, true} {
			runInVirtualTime(t, fmt.Sprintf("%s/restart=%v", test.name, restart), func(t *testing.T) {
				r := withWebhooks(twoPostBuyers())
				r.buyers, r.campaigns[0].filterSets = r.buyers[:1], r.campaigns[0].filterSets[:1]
				r.buyers[0].certified = strings.Contains(test.name, "certifies")
				x := newExchange(t, r)
				x.buyers.scriptPosts("blue", serverError)
				request := leadRequest(1).withKey("k")
				answer, err := x.ingest(request)
				if err != nil || x.engine.AsOperator("").ResolveUnconfirmedDelivery(answer.Lead, test.how) == nil {
					t.Errorf("resolved during an attempt: %v", err)
				}
				time.Sleep(time.Hour)
				if restart {
					x.crashAndRestart()
					time.Sleep(time.Hour)
				}
				if got := x.leadState(answer); got != "ACCEPTED unknown" || len(x.buyers.postAttempts()) != 6 {
					t.Fatalf("%s after %v", got, x.buyers.postAttempts())
				}
				x.expectWebhooks("blue", answer)
				x.buyers.scriptPosts("blue", test.later)
				must.Succeed(t, x.engine.AsOperator("").ResolveUnconfirmedDelivery(answer.Lead, test.how))
				time.Sleep(10 * time.Minute)
				balance, held := x.state.BuyerBalance(1)
				expectEqual(t, x.leadState(answer)+", "+balance.String()+" "+held.String(), test.leadState+", "+test.money)
				x.expectWebhooks("blue", answer)
				expectEqual(t, len(x.buyers.postAttempts()), test.attempts, "attempts")
				sold := int64(0)
				if test.leadState == "ACCEPTED confirmed" || test.leadState == "ACCEPTED delivered" {
					sold = 1
				}
				expectEqual(t, x.observed.sales.Load(), sold, "reports of a sale")
				repeated, err := x.ingest(request)
				if err != nil {
					t.Error(err)
				}
				expectReplay(t, answer, repeated)
				sleepUntil(t, "2000-01-02 00:00:00") // a new cap window
				x.buyers.scriptPosts("blue", accepts)
				must.Succeed(t, x.engine.AsOperator("").AdjustBuyerFunds("blue", 10_000_000, ""))
				expectEqual(t, x.ingestResult(leadRequest(1)), test.again, "the same person again")
			})
		}
	}
	runWithExchange(t, "no unconfirmed delivery", twoPostBuyers(), func(t *testing.T, x *testExchange) {
		answer, _ := x.ingest(leadRequest(1))
		if x.engine.AsOperator("").ResolveUnconfirmedDelivery(answer.Lead, event.SettledConfirmed) == nil || x.engine.AsOperator("").ResolveUnconfirmedDelivery(market.LeadID{1}, event.SettledReleased) == nil {
			t.Error("resolved an ended or unknown delivery")
		}
	})
}

// Close waits for running attempts. A delivery between two attempts continues after the restart on
// its schedule.
func TestCloseBetweenAttempts(t *testing.T) {
	tests := []struct {
		name     string
		script   []postReply
		stop     time.Duration // after the answer
		took     time.Duration // to stop
		down     time.Duration
		attempts string
	}{
		{"between two attempts", []postReply{serverError}, 2 * time.Second, 0, 0, "blue@0s blue@1s blue@3s blue@7s blue@15s blue@31s"},
		{"stopped for longer than the pause", []postReply{serverError}, 2 * time.Second, 0, time.Minute, "blue@0s blue@1s blue@3s blue@1m5s blue@1m13s blue@1m29s"},
		{"during an attempt", []postReply{accepts.after(8 * time.Second)}, time.Second, 2 * time.Second, time.Minute, "blue@0s"},
		{"during an attempt that fails", []postReply{hangs, accepts}, time.Second, 4 * time.Second, 0, "blue@0s blue@11s"},
	}
	for _, test := range tests {
		runWithExchange(t, test.name, twoPostBuyers(), func(t *testing.T, x *testExchange) {
			x.buyers.scriptPosts("blue", test.script...)
			x.ingestResult(leadRequest(1))
			time.Sleep(test.stop)
			synctest.Wait()
			start := time.Now()
			x.engine.Close()
			if took := time.Since(start); took != test.took {
				t.Errorf("Close took %s, want %s", took, test.took)
			}
			time.Sleep(test.down)
			x.crashAndRestart()
			time.Sleep(10 * time.Minute)
			expectEqual(t, strings.Join(x.buyers.postAttempts(), " "), test.attempts, "attempts")
		})
	}
}
