package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Each row has the reports before, and the result of contacted, qualified, sold and
// returned after them: + accepted, = no change, . rejected.
func TestStatusTransitions(t *testing.T) {
	reports := []string{"contacted", "qualified", "sold", "returned"}
	tests := []struct {
		from []string
		want string
	}{
		{nil, "++++"},
		{[]string{"contacted"}, "=+++"},
		{[]string{"qualified"}, ".=++"},
		{[]string{"contacted", "qualified"}, ".=++"},
		{[]string{"sold"}, "..=+"},
		{[]string{"contacted", "qualified", "sold"}, "..=+"},
		{[]string{"returned"}, "...="},
		{[]string{"contacted", "returned"}, "...="},
	}
	for _, test := range tests {
		for i, to := range reports {
			runWithExchange(t, strings.Join(append(test.from, to), " "), returnsMarket(returnRule(nil)), func(t *testing.T, x *testExchange) {
				a := x.soldLead(1)
				for _, status := range test.from {
					expectEqual(t, x.reportResult(newReport(a, status)), status)
				}
				want := map[byte]string{'+': to, '=': to, '.': "no: further"}[test.want[i]]
				entries := x.log.len()
				expectEqual(t, x.reportResult(newReport(a, to).withKey("last")), want)
				if logged := x.log.len() > entries; logged == (test.want[i] == '.') {
					t.Errorf("logged: %v, want %v", logged, !logged)
				}
				if change, ok := x.lastEvent().(*event.LeadStatusChangesDecided); ok && test.want[i] == '=' && change.Changes[0].Result != event.ChangeNone {
					t.Errorf("report without a change is logged as %+v", change)
				}
			})
		}
	}
}

// A report is rejected until the delivery ends. For an unconfirmed delivery it is accepted.
func TestStatusReportDuringDelivery(t *testing.T) {
	tests := []struct {
		name      string
		script    []postReply
		after     time.Duration
		want      string
		leadState string
	}{
		{"before the answer", []postReply{accepts.after(time.Second)}, ms, "no: on its way", "ACCEPTED delivered"},
		{"after the buyer accepted", []postReply{accepts.after(time.Second)}, 2 * time.Second, "contacted", "contacted delivered"},
		{"after the answer, during the attempts", []postReply{hangs, accepts}, 6 * time.Second, "no: on its way", "ACCEPTED delivered"},
		{"after all attempts failed", []postReply{serverError}, 2 * time.Minute, "contacted", "contacted confirmed"},
		{"refused after the answer", []postReply{refuses.after(8 * time.Second)}, time.Minute, "no: not sold", "UNMATCHED failed post_rejected"},
		{"refused before the answer", []postReply{refuses}, time.Minute, "not_found", "UNMATCHED failed post_rejected"},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := returnsMarket(returnRule(nil)).withPostEndpoints()
			r.campaigns[0].filterSets = r.campaigns[0].filterSets[:1]
			x := newExchange(t, r)
			x.buyers.scriptPosts("blue", test.script...)
			sent := x.startIngest(leadRequest(1))
			time.Sleep(test.after)
			a := engine.IngestAnswer{Lead: x.onlyLead()}
			expectEqual(t, x.reportResult(newReport(a, "contacted")), test.want)
			sent.wait()
			time.Sleep(5 * time.Minute)
			expectEqual(t, x.leadState(a), test.leadState)
		})
	}
}

// The buyer of an unconfirmed delivery has the lead if it reports on it, and pays.
func TestStatusReportConfirmsDelivery(t *testing.T) {
	runWithExchange(t, "", returnsMarket(returnRule(nil)).withPostEndpoints(), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue", serverError)
		a := x.soldLead(1)
		time.Sleep(time.Hour)
		expectEqual(t, x.leadState(a)+", "+x.balance("blue"), "ACCEPTED unknown, 100 of which is held 10")
		x.reportResult(newReport(a, "contacted").fromBuyer("gold"))
		x.reportResult(newReport(a, "cold"))
		expectEqual(t, x.leadState(a), "ACCEPTED unknown", "after rejected reports")
		expectEqual(t, x.reportResult(newReport(a, "sold")), "sold")
		expectEqual(t, x.leadState(a)+", "+x.balance("blue"), "sold confirmed, 90")
		expectEqual(t, x.reportResult(newReport(a, "returned"))+", "+x.balance("blue"), "returned, 100")
	})
}

// A rejected report uses no key.
func TestStatusReportValidation(t *testing.T) {
	long := strings.Repeat("é", 256)
	tests := []struct {
		name string
		word func(w statusReport) statusReport
		want string
	}{
		{"no key", func(w statusReport) statusReport { return w.withKey("") }, "invalid_payload Idempotency-Key:missing_required"},
		{"malformed key", func(w statusReport) statusReport { w.badKey = true; return w }, "invalid_payload Idempotency-Key:invalid_format"},
		{"no status", func(w statusReport) statusReport { w.status = "-"; return w }, "invalid_payload status:missing_required"},
		{"null status", func(w statusReport) statusReport { w.status = "#null"; return w }, "invalid_payload status:missing_required"},
		{"number for the status", func(w statusReport) statusReport { w.status = "#7"; return w }, "invalid_payload status:wrong_type"},
		{"status of the exchange", func(w statusReport) statusReport { w.status = "ACCEPTED"; return w }, "invalid_payload status:not_allowed_value"},
		{"capital letters", func(w statusReport) statusReport { w.status = "Sold"; return w }, "invalid_payload status:not_allowed_value"},
		{"no reason", func(w statusReport) statusReport { return w.withReason("-") }, "invalid_payload reason:missing_required"},
		{"blank reason", func(w statusReport) statusReport { return w.withReason("  ") }, "invalid_payload reason:missing_required"},
		{"reason of the wrong type", func(w statusReport) statusReport { return w.withReason("#true") }, "invalid_payload reason:wrong_type"},
		{"reason too long", func(w statusReport) statusReport { return w.withReason(long) }, "invalid_payload reason:too_long"},
		{"line break in the reason", func(w statusReport) statusReport { return w.withReason("a\nb") }, "invalid_payload reason:invalid_format"},
		{"reason not listed", func(w statusReport) statusReport { return w.withReason("just so") }, "invalid_payload reason:not_allowed_value"},
		{"invalid time", func(w statusReport) statusReport { return w.occurredAt("yesterday") }, "invalid_payload occurred_at:invalid_format"},
		{"number for the time", func(w statusReport) statusReport { return w.occurredAt("#946684800") }, "invalid_payload occurred_at:wrong_type"},
		{"future time", func(w statusReport) statusReport { return w.occurredAt("2000-01-01T00:05:01Z") }, "invalid_payload occurred_at:out_of_range"},
		{"several invalid fields", func(w statusReport) statusReport {
			w.status = "lost"
			return w.withReason("#1").occurredAt("now").withKey("")
		}, "invalid_payload Idempotency-Key:missing_required status:not_allowed_value reason:wrong_type occurred_at:invalid_format"},
		{"another buyer's lead", func(w statusReport) statusReport { return w.fromBuyer("gold").withReason("-") }, "not_found"},
		{"unknown lead", func(w statusReport) statusReport { w.lead = market.LeadID{15: 1}.String(); return w.withKey("") }, "not_found"},
	}
	runWithExchange(t, "", returnsMarket(returnRule(func(r *market.ReturnRule) { r.Reasons = map[string]struct{}{"wrong number": {}} })), func(t *testing.T, x *testExchange) {
		a := x.soldLead(1)
		entries := x.log.len()
		for _, test := range tests {
			expectEqual(t, x.reportResult(test.word(newReport(a, "returned").withKey("k"))), test.want, test.name)
		}
		expectEqual(t, x.log.len(), entries, "entries in the log")
		expectEqual(t, x.reportResult(newReport(a, "returned").withKey("k").occurredAt("2000-01-01T00:05:00Z")), "returned", "valid report with the same key")
	})
}

// The event has the report, and the webhook if the supplier has webhooks.
func TestStatusReportEvent(t *testing.T) {
	for _, webhooks := range []bool{false, true} {
		runInVirtualTime(t, fmt.Sprint("webhooks: ", webhooks), func(t *testing.T) {
			r := returnsMarket(returnRule(nil))
			r.webhooks = webhooks
			x := newExchange(t, r)
			a := x.soldLead(1)
			time.Sleep(time.Hour)
			answer, err := x.report(newReport(a, "contacted").withReason("by phone").occurredAt("2000-01-01T00:30:00.5Z"))
			if err != nil || answer.Results[0].Lead != a.Lead.String() {
				t.Fatalf("answer %+v, error %v", answer, err)
			}
			record := x.lastEvent().(*event.LeadStatusChangesDecided)
			want := event.DecidedLeadStatusChange{
				Lead: a.Lead, Result: event.ChangeDone, From: market.StatusAccepted, To: market.StatusContacted,
				Reason: "by phone", Occurred: virtualStart.Add(30*time.Minute + time.Second/2).UnixNano(), Supplier: x.lead(a).Supplier,
			}
			if webhooks {
				want.Webhook = market.WebhookContacted
			}
			expectEqual(t, fmt.Sprintf("%+v", record.Changes), fmt.Sprintf("%+v", []event.DecidedLeadStatusChange{want}))
			if record.At != virtualStart.Add(time.Hour).UnixNano() || record.Request != answer.Request || record.Buyer == 0 || record.Idempotency.Key == [16]byte{} {
				t.Errorf("event %+v", record)
			}
		})
	}
}

// A failed log or a stopped engine leaves no lead claimed.
func TestStatusReportAfterLogFailure(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		x := newExchange(t, returnsMarket(returnRule(nil)), func(o *engine.Options) {})
		a := x.soldLead(1)
		x.log.failAfterEntries(x.log.len(), nil)
		if got := x.reportResult(newReport(a, "sold")); !strings.HasPrefix(got, "error") {
			t.Errorf("report with a failed log: got %s, want an error", got)
		}
		x.abandonProcess()
		x.restart()
		expectEqual(t, x.reportResult(newReport(a, "sold")), "sold", "after the restart")
		x.engine.Close()
		expectError(t, errorOf(x.report(newReport(a, "returned"))), engine.ErrUnavailable, "after Close")
	})
}
