package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// manualReturnRule returns the usual return rule, with approval by an operator.
func manualReturnRule(change func(*market.ReturnRule)) market.ReturnRule {
	return returnRule(func(r *market.ReturnRule) {
		r.Manual = true
		if change != nil {
			change(r)
		}
	})
}

// Each row lists the steps, the answer to each, and the final lead and balance.
func TestOperatorDecidesReturns(t *testing.T) {
	tests := []struct {
		name      string
		steps     string // report a status; approve, refuse; crash; later: after the window
		want      string
		leadState string
		balance   string
	}{
		{"pending", "returned", "ACCEPTED waiting", "ACCEPTED none", "90"},
		{"reported again", "contacted returned returned", "contacted, contacted waiting, contacted waiting", "contacted none", "90"},
		{"no other status while pending", "contacted returned sold contacted", "contacted, contacted waiting, no: waits, contacted", "contacted none", "90"},
		{"earlier status while pending", "qualified returned contacted", "qualified, qualified waiting, no: waits", "qualified none", "90"},
		{"approved", "sold returned approve returned", "sold, sold waiting, ok, returned", "returned none", "100"},
		{"approved after a restart", "returned crash approve sold", "ACCEPTED waiting, ok, no: further", "returned none", "100"},
		{"approved twice", "returned approve approve", "ACCEPTED waiting, ok, conflict", "returned none", "100"},
		{"refused", "returned refuse", "ACCEPTED waiting, ok", "ACCEPTED none", "90"},
		{"refusal is final", "returned refuse returned crash returned", "ACCEPTED waiting, ok, no: refused, no: refused", "ACCEPTED none", "90"},
		{"refused, and the window is over", "returned refuse later returned", "ACCEPTED waiting, ok, no: refused", "ACCEPTED none", "90"},
		{"other statuses after a refusal", "returned refuse contacted sold", "ACCEPTED waiting, ok, contacted, sold", "sold none", "90"},
		{"refused, then approved", "returned refuse approve", "ACCEPTED waiting, ok, conflict", "ACCEPTED none", "90"},
		{"no return reported", "contacted approve refuse", "contacted, conflict, conflict", "contacted none", "90"},
	}
	for _, test := range tests {
		runWithExchange(t, test.name, returnsMarket(manualReturnRule(nil)), func(t *testing.T, x *testExchange) {
			a := x.soldLead(1)
			var answers []string
			for i, step := range strings.Fields(test.steps) {
				switch step {
				case "approve", "refuse":
					answers = append(answers, describeError(x.engine.AsOperator("").DecideReturn(a.Lead, step == "approve", "as they say")))
				case "crash":
					x.crashAndRestart()
				case "later":
					time.Sleep(20 * day)
				default:
					answers = append(answers, x.reportResult(newReport(a, step).withKey(fmt.Sprint("k", i))))
				}
			}
			expectEqual(t, strings.Join(answers, ", "), test.want)
			expectEqual(t, x.leadState(a)+", "+x.balance("blue"), test.leadState+", "+test.balance)
		})
	}
}

func describeError(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, engine.ErrConflict):
		return "conflict"
	case errors.Is(err, engine.ErrNotFound):
		return "not found"
	}
	return err.Error()
}

// The webhook has the buyer's reason, the event the operator's note.
func TestApprovedReturnUsesRulesOfReport(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := returnsMarket(manualReturnRule(func(r *market.ReturnRule) { r.RestoreCaps = true }))
		r.webhooks, r.buyers[0].caps = true, []string{"total 1"}
		x := newExchange(t, r)
		a := x.soldLead(1)
		x.reportResult(newReport(a, "returned").withReason("no such person").occurredAt("2000-01-01T00:00:00Z"))
		reported := x.lastEvent().(*event.LeadStatusChangesDecided).Changes[0]
		if reported.Webhook != market.WebhookNone || x.ingestResult(leadRequest(2)) != "gold" {
			t.Errorf("webhook sent or cap restored before the approval: %+v", reported)
		}
		r.campaigns[0].returns = new(returnRule(func(r *market.ReturnRule) { r.Window, r.ReversePayout = 0, false }))
		x.configure(r)
		time.Sleep(60 * day) // until the lead has left memory
		x.expireLeadsBeside(a.Lead)
		if _, known := x.state.LeadInMemory(a.Lead); known {
			t.Fatal("the lead is still in memory")
		}
		expectEqual(t, describeError(x.engine.AsOperator("").DecideReturn(a.Lead, true, "fair")), "ok")
		record := x.lastEvent().(*event.LeadStatusChangesDecided)
		want := reported
		want.Result, want.WasPending, want.Webhook = event.ChangeDone, true, market.WebhookReturned
		if got := fmt.Sprintf("%+v", record.Changes[0]); got != fmt.Sprintf("%+v", want) || record.Note != "fair" || record.Buyer == 0 {
			t.Errorf("change %s\nwant %+v, with note and buyer: %+v", got, want, record)
		}
		if want.Reason != "no such person" || want.Occurred != virtualStart.UnixNano() || want.Return.Reverse != 8_000_000 || len(want.Return.Charges) != 1 {
			t.Errorf("pending return is logged as %+v", want)
		}
		expectEqual(t, x.ingestResult(leadRequest(9_000)), "blue", "buyer of the next lead: the cap is restored")
	})
}

func TestRefusedReturnFreesReturnShare(t *testing.T) {
	runWithExchange(t, "", returnsMarket(manualReturnRule(func(r *market.ReturnRule) { r.MaxShare = 500_000 })), func(t *testing.T, x *testExchange) {
		a, b := x.soldLead(1), x.soldLead(2)
		for _, step := range []struct{ got, want string }{
			{x.reportResult(newReport(a, "returned")), "ACCEPTED waiting"},
			{x.reportResult(newReport(b, "returned")), "no: share"},
			{describeError(x.engine.AsOperator("").DecideReturn(a.Lead, false, "")), "ok"},
			{x.reportResult(newReport(b, "returned")), "ACCEPTED waiting"},
			{describeError(x.engine.AsOperator("").DecideReturn(b.Lead, true, "")), "ok"},
			{x.balance("blue"), "90"},
		} {
			expectEqual(t, step.got, step.want)
		}
	})
}

// Only one of several concurrent decisions succeeds.
func TestConcurrentReturnDecisions(t *testing.T) {
	runWithExchange(t, "", returnsMarket(manualReturnRule(nil)), func(t *testing.T, x *testExchange) {
		a := x.soldLead(1)
		x.reportResult(newReport(a, "returned"))
		x.log.setSyncTime(time.Second)
		answers := make(chan string, 4)
		var all sync.WaitGroup
		for i := range cap(answers) {
			all.Go(func() { answers <- describeError(x.engine.AsOperator("").DecideReturn(a.Lead, i%2 == 0, "")) })
		}
		all.Wait()
		close(answers)
		counts := map[string]int{}
		for got := range answers {
			counts[got]++
		}
		if counts["ok"] != 1 || counts["conflict"] != 3 {
			t.Errorf("got %v, want 1 ok and 3 conflict", counts)
		}
		expectEqual(t, describeError(x.engine.AsOperator("").DecideReturn(market.LeadID{9}, true, "")), "not found", "unknown lead")
	})
}

// Pages are ordered by lead, the oldest first.
func TestListPendingReturns(t *testing.T) {
	runWithExchange(t, "", returnsMarket(manualReturnRule(nil)), func(t *testing.T, x *testExchange) {
		var leads []engine.IngestAnswer
		for n := range 5 {
			leads = append(leads, x.soldLead(n))
			time.Sleep(time.Second)
		}
		x.reportResult(newReport(leads[3], "sold"))
		for _, i := range []int{3, 0, 4, 1} {
			x.reportResult(newReport(leads[i], "returned").withReason(fmt.Sprint("reason ", i)))
		}
		must.Succeed(t, x.engine.AsOperator("").DecideReturn(leads[4].Lead, false, ""))
		list := func(after market.LeadID, limit int) string {
			page, total, err := x.engine.ListPendingReturns(after, limit)
			text := fmt.Sprint(total, " ", err, ":")
			for _, w := range page {
				if w.Buyer != "blue" || w.Supplier != "acme" || w.Campaign != "auto" || w.Credit.String() != "10" || w.Reverse.String() != "8" || w.Currency.String() != "USD" || w.Requested != virtualStart.Add(5*time.Second).UnixNano() {
					t.Errorf("pending return %+v", w)
				}
				text += " " + w.Reason + " (" + w.Status.String() + ")"
			}
			return text
		}
		x.crashAndRestart()
		for _, page := range []struct{ got, want string }{
			{list(market.LeadID{}, 10), "3 <nil>: reason 0 (ACCEPTED) reason 1 (ACCEPTED) reason 3 (sold)"},
			{list(market.LeadID{}, 2), "3 <nil>: reason 0 (ACCEPTED) reason 1 (ACCEPTED)"},
			{list(leads[1].Lead, 2), "3 <nil>: reason 3 (sold)"},
			{list(leads[3].Lead, 2), "3 <nil>:"},
		} {
			expectEqual(t, page.got, page.want)
		}
	})
}

// A test lead's return is pending like any other, but moves no money.
func TestPendingReturnOfTestLead(t *testing.T) {
	runWithExchange(t, "", returnsMarket(manualReturnRule(nil)), func(t *testing.T, x *testExchange) {
		a := must.Value(x.ingest(leadRequest(1).asTest()))(t)
		x.reportResult(newReport(a, "returned"))
		page, total, err := x.engine.ListPendingReturns(market.LeadID{}, 10)
		if err != nil || total != 1 || len(page) != 1 {
			t.Fatalf("page %+v, total %d, error %v, want one return", page, total, err)
		}
		if w := page[0]; !w.Test || w.Campaign != "auto" || w.Buyer != "blue" || w.Supplier != "acme" || w.Credit != 0 || w.Reverse != 0 {
			t.Errorf("pending return %+v", w)
		}
		before := x.balance("blue")
		expectEqual(t, describeError(x.engine.AsOperator("").DecideReturn(a.Lead, true, ""))+" "+x.balance("blue"), "ok "+before)
	})
}

// If the report is no longer in the log, the lead and the present rules decide.
func TestReturnDecisionWithoutHistory(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		x := newExchange(t, returnsMarket(manualReturnRule(nil)), failingHistory(&engine.ErrGone))
		a := x.soldLead(1)
		x.reportResult(newReport(a, "returned"))
		page, total, err := x.engine.ListPendingReturns(market.LeadID{}, 10)
		if err != nil || total != 1 || len(page) != 1 || page[0].Credit.String() != "10" || page[0].Reason != "" {
			t.Errorf("page %+v, total %d, error %v, want one return", page, total, err)
		}
		expectEqual(t, describeError(x.engine.AsOperator("").DecideReturn(a.Lead, true, ""))+" "+x.balance("blue"), "ok 100")
	})
}
