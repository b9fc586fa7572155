package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

const day = 24 * time.Hour

// The return rule in force at the report applies.
func TestReturns(t *testing.T) {
	tests := []struct {
		name     string
		rule     market.ReturnRule
		later    *market.ReturnRule // replaces rule between the sale and the report
		removed  bool               // the campaign is removed
		after    time.Duration
		want     string
		paysBack string // credit, reversed payout
	}{
		{name: "usual rule", rule: returnRule(nil), after: time.Hour, want: "returned", paysBack: "10 8"},
		{name: "payout not reversed", rule: returnRule(func(r *market.ReturnRule) { r.ReversePayout = false }), want: "returned", paysBack: "10 0"},
		{name: "just before the end of the window", rule: returnRule(nil), after: 14*day - 1, want: "returned", paysBack: "10 8"},
		{name: "at the end of the window", rule: returnRule(nil), after: 14 * day, want: "no: late"},
		{name: "no window", rule: returnRule(func(r *market.ReturnRule) { r.Window = 0 }), want: "no: late"},
		{name: "window longer than the default retention", rule: returnRule(func(r *market.ReturnRule) { r.Window = 90 * day }), after: 89 * day, want: "returned", paysBack: "10 8"},
		{name: "share of zero", rule: returnRule(func(r *market.ReturnRule) { r.MaxShare = 0 }), want: "no: share"},
		{name: "no window and share of zero", rule: returnRule(func(r *market.ReturnRule) { r.Window, r.MaxShare = 0, 0 }), want: "no: late"},
		{name: "window extended after the sale", rule: returnRule(func(r *market.ReturnRule) { r.Window = day }), later: new(returnRule(nil)), after: 2 * day, want: "returned", paysBack: "10 8"},
		{name: "window shortened after the sale", rule: returnRule(nil), later: new(returnRule(func(r *market.ReturnRule) { r.Window = day })), after: 2 * day, want: "no: late"},
		{name: "manual approval since the sale", rule: returnRule(nil), later: new(returnRule(func(r *market.ReturnRule) { r.Manual = true })), want: "ACCEPTED waiting"},
		{name: "campaign removed: default window", rule: returnRule(func(r *market.ReturnRule) { r.Window, r.ReversePayout = 0, false }), removed: true, after: 13 * day, want: "returned", paysBack: "10 8"},
		{name: "campaign removed: default window over", rule: returnRule(func(r *market.ReturnRule) { r.Window = 90 * day }), removed: true, after: 14 * day, want: "no: late"},
	}
	for _, test := range tests {
		runWithExchange(t, test.name, returnsMarket(test.rule), func(t *testing.T, x *testExchange) {
			a := x.soldLead(1)
			if test.later != nil {
				x.configure(returnsMarket(*test.later))
			}
			if test.removed {
				x.configure(marketSpec{buyers: returnsMarket(test.rule).buyers})
			}
			time.Sleep(test.after)
			expectEqual(t, x.reportResult(newReport(a, "returned")), test.want)
			want := "90"
			if test.paysBack != "" {
				back := x.lastEvent().(*event.LeadStatusChangesDecided).Changes[0].Return
				if got := back.Credit.String() + " " + back.Reverse.String(); got != test.paysBack || back.Currency.String() != "USD" || back.Month != virtualStart.UnixNano() {
					t.Errorf("pays back %s, want %s: %+v", got, test.paysBack, back)
				}
				want = "100"
			}
			expectEqual(t, x.balance("blue"), want, "blue's balance")
		})
	}
}

// The minimum is the default retention of all leads.
func TestLeadsStayInMemoryForReturnWindow(t *testing.T) {
	for window, want := range map[time.Duration]time.Duration{0: 45 * day, 14 * day: 45 * day, 90 * day: 90 * day} {
		runWithExchange(t, window.String(), returnsMarket(returnRule(func(r *market.ReturnRule) { r.Window = window })), func(t *testing.T, x *testExchange) {
			expectEqual(t, time.Unix(int64(x.lead(x.soldLead(1)).Keep), 0).Sub(virtualStart), want, "retention")
		})
	}
}

// A return restores the caps in the windows of the sale, in each form of the sale's event.
func TestReturnsRestoreCaps(t *testing.T) {
	tests := []struct {
		name    string
		posts   string // buyers with an endpoint
		script  []postReply
		buyer   string
		restore bool
		after   time.Duration
		want    string // answer to a second lead
	}{
		{name: "sold without delivery", buyer: "blue", restore: true, want: "blue"},
		{name: "caps not restored", buyer: "blue", want: "gold"},
		{name: "posted", posts: "blue gold", buyer: "blue", restore: true, want: "blue"},
		{name: "refused by the first buyer", posts: "blue gold", script: []postReply{refuses, accepts}, buyer: "gold", restore: true, want: "blue"},
		{name: "refused, then sold without delivery", posts: "blue", script: []postReply{refuses, accepts}, buyer: "gold", restore: true, want: "blue"},
		{name: "delivery confirmed by the report", posts: "blue gold", script: []postReply{serverError}, buyer: "blue", restore: true, want: "blue"},
		{name: "cap window is over", buyer: "blue", restore: true, after: day, want: "blue"},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := returnsMarket(returnRule(func(r *market.ReturnRule) { r.RestoreCaps = test.restore }))
			for i := range r.buyers {
				r.buyers[i].caps = []string{"day 1", "month $60"}
				r.buyers[i].postEndpoint = slices.Contains(strings.Fields(test.posts), r.buyers[i].id)
			}
			x := newExchange(t, r)
			x.buyers.scriptPosts("blue", test.script...)
			a := x.soldLead(1)
			time.Sleep(5*time.Minute + test.after)
			expectEqual(t, x.reportResult(newReport(a, "returned").fromBuyer(test.buyer)), "returned")
			charges := x.lastEvent().(*event.LeadStatusChangesDecided).Changes[0].Return.Charges
			if want := map[bool]int{true: 2}[test.restore]; len(charges) != want {
				t.Errorf("restored charges %+v, want %d", charges, want)
			}
			x.buyers.scriptPosts("blue", accepts)
			expectEqual(t, x.ingestResult(leadRequest(2)), test.want, "answer to the next lead")
		})
	}
}

// If the sale is no longer in the log, money goes back; the cap windows are long over.
func TestReturnWithoutHistory(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := returnsMarket(returnRule(func(r *market.ReturnRule) { r.RestoreCaps = true }))
		r.buyers[0].caps = []string{"total 1"}
		x := newExchange(t, r, failingHistory(&engine.ErrGone))
		a := x.soldLead(1)
		expectEqual(t, x.reportResult(newReport(a, "returned"))+" "+x.balance("blue")+" "+x.ingestResult(leadRequest(2)), "returned 100 gold")
		expectEqual(t, x.observed.faults.Load(), 0, "reported faults")
	})
}

// Concurrent reports over a slow log pay one lead back once, and stay within the share.
func TestConcurrentReturnsPayBackOnce(t *testing.T) {
	tests := []struct {
		name    string
		share   market.ShareInMillionths
		leads   int
		batches bool
		want    string // blue's final balance
		changes int
	}{
		{"one lead", market.WholeShare, 1, false, "100", 1},
		{"two leads", market.WholeShare, 2, false, "100", 2},
		{"a quarter of eight leads", 250_000, 8, false, "40", 2},
		{"a quarter of eight leads, in batches", 250_000, 8, true, "40", 2},
		{"one lead, in batches", market.WholeShare, 1, true, "100", 1},
	}
	for _, test := range tests {
		runWithExchange(t, test.name, returnsMarket(returnRule(func(r *market.ReturnRule) { r.MaxShare = test.share })), func(t *testing.T, x *testExchange) {
			var leads []engine.IngestAnswer
			for n := range test.leads {
				leads = append(leads, x.soldLead(n))
			}
			x.log.setSyncTime(100 * ms)
			var mu sync.Mutex
			done := map[string]int{}
			var all sync.WaitGroup
			for caller := range 6 {
				all.Go(func() {
					var reports []statusReport
					for i := range leads { // each caller has another order
						reports = append(reports, newReport(leads[(i+caller)%len(leads)], "returned").withKey(fmt.Sprint("k", caller)))
					}
					if test.batches {
						if _, err := x.reportAll(reports...); err != nil {
							t.Error(err)
						}
						return
					}
					for i, w := range reports {
						all.Go(func() {
							got := x.reportResult(w.withKey(fmt.Sprint("k", caller, i)))
							mu.Lock()
							defer mu.Unlock()
							done[got]++
						})
					}
				})
			}
			all.Wait()
			expectEqual(t, x.balance("blue"), test.want, "blue's balance; answers ", done)
			changes := 0
			for _, record := range eventsOf[*event.LeadStatusChangesDecided](x) {
				for _, c := range record.Changes {
					if c.Result == event.ChangeDone {
						changes++
					}
				}
			}
			expectEqual(t, changes, test.changes, "returned leads; answers ", done)
		})
	}
}

// The share counts the leads sold in a calendar month.
func TestReturnSharePerMonth(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := returnsMarket(returnRule(func(r *market.ReturnRule) { r.MaxShare, r.Window = 100_000, 40*day }))
		r.buyers[0].funds = "1000"
		x := newExchange(t, r)
		var january, february []engine.IngestAnswer
		for n := range 62 { // two per day
			if n < 60 {
				january = append(january, x.soldLead(n))
			} else {
				x.soldLead(n)
			}
			time.Sleep(12 * time.Hour)
		}
		for n := range 20 {
			february = append(february, x.soldLead(100+n))
			time.Sleep(time.Hour)
		}
		countReturns := func(leads []engine.IngestAnswer) (returned int) {
			for _, a := range leads {
				switch got := x.reportResult(newReport(a, "returned")); got {
				case "returned":
					returned++
				case "no: share":
				default:
					t.Errorf("got %s, want returned or no: share", got)
				}
			}
			return returned
		}
		expectEqual(t, countReturns(february), 2, "returns of February's 20 leads")
		expectEqual(t, countReturns(january[:10])+countReturns(january[30:]), 6, "returns of January's 62 leads")
		if got := x.balance("blue"); got != "260" { // 1000 - 82 * 10 + 8 * 10
			t.Errorf("blue's balance is %s, want 260", got)
		}
		x.crashAndRestart()
		if got := countReturns(january[20:30]) + countReturns(february); got != 2 { // repeats of accepted returns
			t.Errorf("%d returns accepted after a restart, want 2", got)
		}
		x.configure(returnsMarket(returnRule(func(r *market.ReturnRule) { r.MaxShare, r.Window = 200_000, 40*day })))
		expectEqual(t, countReturns(january[10:20]), 6, "more returns of January's leads with a larger share")
	})
}

// expectedReason returns the expected values of field reason, from the answer to one
// report or to the first of a batch.
func expectedReason(a engine.StatusReportAnswer, err error) string {
	var fields []market.FieldError
	var refusal *engine.Refusal
	if errors.As(err, &refusal) {
		fields = refusal.Fields
	} else if len(a.Results) > 0 {
		fields = a.Results[0].Fields
	}
	for _, f := range fields {
		if f.Field == "reason" {
			return f.Expected
		}
	}
	return fmt.Sprint("no error in field reason: ", describeStatusAnswer(a, err))
}

// A repeat has the same list after the campaign has changed its reasons.
func TestRefusedReturnListsAllowedReasons(t *testing.T) {
	rule := func(reasons ...string) marketSpec {
		return returnsMarket(returnRule(func(r *market.ReturnRule) {
			r.Reasons = map[string]struct{}{}
			for _, reason := range reasons {
				r.Reasons[reason] = struct{}{}
			}
		}))
	}
	runWithExchange(t, "single report and batch", rule("wrong number", "not interested"), func(t *testing.T, x *testExchange) {
		a := x.soldLead(1)
		const want = `one of the reasons for which this campaign takes leads back: "not interested", "wrong number"`
		refused := newReport(a, "returned").withReason("just so")
		expectEqual(t, expectedReason(x.report(refused)), want, "single report")
		expectEqual(t, expectedReason(x.reportAll(refused.withKey("many"))), want, "batch")
		x.configure(rule("moved away"))
		x.crashAndRestart()
		expectEqual(t, expectedReason(x.reportAll(refused.withKey("many"))), want, "repeated batch")
		expectEqual(t, x.reportResult(newReport(a, "returned").withReason("moved away")), "returned")
	})
	runInVirtualTime(t, "long list", func(t *testing.T) {
		var reasons []string
		for n := range 100 {
			reasons = append(reasons, fmt.Sprintf("%02d %s", n, strings.Repeat("x", 50)))
		}
		x := newExchange(t, rule(reasons...))
		got := expectedReason(x.report(newReport(x.soldLead(1), "returned").withReason("just so")))
		if !strings.Contains(got, `"00 x`) || !strings.HasSuffix(got, "x\" and 95 more") || len(got) > 400 {
			t.Errorf("want at most 400 bytes, got %d: %s", len(got), got)
		}
	})
}

// A return report confirms the delivery, so the lead counts among the buyer's leads.
func TestReturnShareCountsUnconfirmedLead(t *testing.T) {
	for _, test := range []struct {
		name  string
		share market.ShareInMillionths
		want  string
	}{
		{"share of half, one of two leads", 500_000, "returned"},
		{"share below half, one of two leads", 499_999, "no: share"},
	} {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := returnsMarket(returnRule(func(r *market.ReturnRule) { r.MaxShare = test.share }))
			r.buyers[0].postEndpoint = true
			x := newExchange(t, r)
			x.soldLead(1)
			x.buyers.scriptPosts("blue", serverError)
			unconfirmed := x.soldLead(2)
			time.Sleep(5 * time.Minute)
			expectEqual(t, x.leadState(unconfirmed), "ACCEPTED unknown")
			expectEqual(t, x.reportResult(newReport(unconfirmed, "returned")), test.want)
		})
	}
}

func TestReturnedTestLeadsUseNoReturnShare(t *testing.T) {
	runWithExchange(t, "", returnsMarket(returnRule(func(r *market.ReturnRule) { r.MaxShare = 500_000 })).withTestEndpoints(), func(t *testing.T, x *testExchange) {
		testLead := must.Value(x.ingest(leadRequest(1).asTest()))(t)
		a, b := x.soldLead(2), x.soldLead(3)
		expectEqual(t, describeStatusAnswer(x.reportAll(newReport(testLead, "returned"), newReport(a, "returned"), newReport(b, "returned"))), "returned, returned, no: share")
	})
}

// A report with an unknown id claims no lead.
func TestReportsOnUnknownLeadsDoNotBlock(t *testing.T) {
	runWithExchange(t, "", returnsMarket(returnRule(nil)), func(t *testing.T, x *testExchange) {
		var leads []engine.IngestAnswer
		for n := range 5 {
			leads = append(leads, x.soldLead(n))
		}
		x.log.setSyncTime(2 * time.Second)
		var all sync.WaitGroup
		for i, a := range leads {
			all.Go(func() {
				unknown := newReport(a, "sold")
				unknown.lead = fmt.Sprint("lead_", i)
				expectEqual(t, describeStatusAnswer(x.reportAll(unknown, newReport(a, "sold"))), "not_found, sold")
			})
		}
		all.Wait()
	})
}

// A buyer returns an unconfirmed lead while operators settle its delivery. In any
// order, the lead is paid and refunded at most once (see ledger.changed), and each
// webhook is required once, in order.
func TestConcurrentReturnsAndOperatorDecisions(t *testing.T) {
	settlements := []event.PostSettlement{event.SettledConfirmed, event.SettledReleased, event.SettledResent}
	for round := range 24 {
		runInVirtualTime(t, fmt.Sprint(round), func(t *testing.T) {
			r := withWebhooks(returnsMarket(returnRule(nil)))
			r.buyers[0].postEndpoint = true
			if round%2 == 1 {
				r.campaigns[0].returns = new(manualReturnRule(nil))
			}
			x := newExchange(t, r)
			x.buyers.scriptPosts("blue", serverError)
			unconfirmed := x.soldLead(1)
			time.Sleep(5 * time.Minute)
			x.buyers.scriptPosts("blue", []postReply{accepts, refuses, serverError}[round%3])
			var all sync.WaitGroup
			for i := range 3 {
				how := settlements[(round+i)%3]
				all.Go(func() {
					time.Sleep(time.Duration(round/6*i) * ms)
					if err := x.engine.AsOperator("").ResolveUnconfirmedDelivery(unconfirmed.Lead, how); err != nil && !errors.Is(err, engine.ErrConflict) && !errors.Is(err, engine.ErrNotFound) {
						t.Error(err)
					}
				})
				all.Go(func() {
					time.Sleep(time.Duration(round%5*i) * ms)
					x.reportResult(newReport(unconfirmed, []string{"returned", "returned", "sold"}[i]).withKey(fmt.Sprint("k", i)))
				})
				all.Go(func() {
					time.Sleep(time.Duration(round*i%7) * ms)
					_ = x.engine.AsOperator("").DecideReturn(unconfirmed.Lead, true, "")
				})
			}
			all.Wait()
			time.Sleep(10 * time.Minute)
			_ = x.engine.AsOperator("").DecideReturn(unconfirmed.Lead, true, "")
			seen := map[string]bool{}
			var order []string
			for _, required := range x.requiredWebhooks() {
				if seen[required] {
					t.Errorf("webhook %s is required twice", required)
				}
				seen[required] = true
				order = append(order, strings.Fields(required)[0])
			}
			lead := x.lead(unconfirmed)
			want := map[string]string{
				"UNMATCHED": "100", "returned": "100", "sold": "90", "ACCEPTED": "90",
			}[lead.Status.String()]
			if lead.Delivery.String() == "unknown" {
				want = "100 of which is held 10"
			}
			expectEqual(t, x.balance("blue"), want, "blue's balance at ", x.leadState(unconfirmed), "; webhooks ", order)
		})
	}
}
