package engine_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// The results have the order of the reports. One event has all changes.
func TestStatusBatchResults(t *testing.T) {
	runWithExchange(t, "", returnsMarket(returnRule(func(r *market.ReturnRule) { r.Reasons = map[string]struct{}{"wrong number": {}} })), func(t *testing.T, x *testExchange) {
		a, b, c, d := x.soldLead(1), x.soldLead(2), x.soldLead(3), x.soldLead(4)
		x.reportResult(newReport(b, "sold"))
		x.reportResult(newReport(c, "qualified"))
		unknown := newReport(engine.IngestAnswer{Lead: market.LeadID{1}}, "sold")
		reports := []statusReport{
			newReport(d, "contacted").occurredAt("soon"),
			newReport(b, "returned"),
			{lead: "lead_1", status: "sold", reason: "-", occurred: "-"},
			newReport(c, "contacted"),
			unknown,
			newReport(a, "contacted"),
			newReport(b, "contacted"),
			newReport(c, "qualified"),
			{lead: "-", status: "sold", reason: "-", occurred: "-"},
			{lead: " ", status: "sold", reason: "-", occurred: "-"},
			{lead: "#7", status: "-", reason: "-", occurred: "-"},
			newReport(d, "returned").withReason("just so"),
		}
		entries := x.log.len()
		answer, err := x.reportAll(reports...)
		want := strings.Join([]string{
			"invalid_payload occurred_at:invalid_format",
			"returned",
			"not_found",
			"no: further",
			"not_found",
			"contacted",
			"invalid_payload lead_id:not_allowed_value",
			"invalid_payload lead_id:not_allowed_value",
			"invalid_payload lead_id:missing_required",
			"invalid_payload lead_id:missing_required",
			"invalid_payload status:missing_required lead_id:wrong_type",
			"invalid_payload lead_id:not_allowed_value reason:not_allowed_value",
		}, ", ")
		expectEqual(t, describeStatusAnswer(answer, err), want)
		expectEqual(t, x.log.len(), entries+1, "entries in the log")
		for i, want := range []string{d.Lead.String(), b.Lead.String(), "lead_1", c.Lead.String(), unknown.lead, a.Lead.String(), b.Lead.String(), c.Lead.String(), "", " ", "", d.Lead.String()} {
			expectEqual(t, answer.Results[i].Lead, want, "lead of result ", i)
		}
		expectEqual(t, x.leadState(a)+", "+x.leadState(b)+", "+x.leadState(c)+", "+x.leadState(d), "contacted none, returned none, qualified none, ACCEPTED none")
	})
}

// An invalid batch uses no key. A batch of rejected reports does.
func TestInvalidStatusBatchIsRejected(t *testing.T) {
	runWithExchange(t, "", returnsMarket(returnRule(nil)), func(t *testing.T, x *testExchange) {
		a := x.soldLead(1)
		entries := x.log.len()
		unreadable := x.statusRequest([]statusReport{{key: "k"}})
		unreadable.Reports, unreadable.Faults = nil, []market.FieldError{{Field: "changes", Code: errcode.FieldMissingRequired, Expected: "a list"}}
		empty := x.statusRequest([]statusReport{{key: "k"}})
		empty.Reports = nil
		many := make([]statusReport, engine.MaxStatusReports+1)
		for i := range many {
			many[i] = statusReport{lead: market.LeadID{0: 1, 15: byte(i), 14: byte(i >> 8)}.String(), status: "sold", reason: "-", occurred: "-", key: "k"}
		}
		for name, call := range map[string]struct {
			send func() (engine.StatusReportAnswer, error)
			want string
		}{
			"unreadable": {func() (engine.StatusReportAnswer, error) { return x.engine.ProcessStatusReports(unreadable) }, "invalid_payload changes:missing_required"},
			"none":       {func() (engine.StatusReportAnswer, error) { return x.engine.ProcessStatusReports(empty) }, "invalid_payload changes:out_of_range"},
			"too many":   {func() (engine.StatusReportAnswer, error) { return x.reportAll(many...) }, "invalid_payload changes:out_of_range"},
			"no key":     {func() (engine.StatusReportAnswer, error) { return x.reportAll(newReport(a, "sold").withKey("")) }, "invalid_payload Idempotency-Key:missing_required"},
		} {
			expectEqual(t, describeStatusAnswer(call.send()), call.want, name)
		}
		expectEqual(t, x.log.len(), entries, "log entries")
		answer, err := x.reportAll(many[1:]...)
		expectEqual(t, describeStatusAnswer(answer, err), strings.TrimSuffix(strings.Repeat("not_found, ", engine.MaxStatusReports), ", "))
		expectEqual(t, describeStatusAnswer(x.reportAll(newReport(a, "sold").withKey("k"))), "idempotency_key_reused", "key of a batch of rejected reports")
	})
}

// Two batches name the same leads in opposite orders.
func TestCrossingStatusBatchesDoNotDeadlock(t *testing.T) {
	runWithExchange(t, "", returnsMarket(returnRule(nil)), func(t *testing.T, x *testExchange) {
		var forward, backward []statusReport
		for n := range 5 {
			w := newReport(x.soldLead(n), "contacted")
			forward, backward = append(forward, w.withKey("forward")), append([]statusReport{w.withKey("backward")}, backward...)
		}
		x.log.setSyncTime(time.Second)
		answers := make(chan string, 3)
		for _, reports := range [][]statusReport{forward, backward} {
			go func() { answers <- describeStatusAnswer(x.reportAll(reports...)) }()
		}
		go func() { answers <- x.reportResult(forward[2].withKey("between")) }()
		for range 3 {
			if got := <-answers; strings.ReplaceAll(strings.ReplaceAll(got, "contacted", ""), ", ", "") != "" {
				t.Errorf("got %s, want only contacted", got)
			}
		}
		done := 0
		for _, record := range eventsOf[*event.LeadStatusChangesDecided](x) {
			for _, c := range record.Changes {
				if c.Result == event.ChangeDone {
					done++
				}
			}
		}
		expectEqual(t, done, 5, "changed leads")
	})
}

// A repeat gets the first answer, also after a restart and after later changes.
func TestStatusReportReplay(t *testing.T) {
	manual := returnRule(func(r *market.ReturnRule) { r.Manual = true })
	tests := []struct {
		name string
		rule market.ReturnRule
		send func(x *testExchange, a, b engine.IngestAnswer) (engine.StatusReportAnswer, error)
		want string
	}{
		{"done", returnRule(nil), func(x *testExchange, a, _ engine.IngestAnswer) (engine.StatusReportAnswer, error) {
			return x.report(newReport(a, "contacted"))
		}, "contacted"},
		{"pending", manual, func(x *testExchange, a, _ engine.IngestAnswer) (engine.StatusReportAnswer, error) {
			return x.report(newReport(a, "returned"))
		}, "ACCEPTED waiting"},
		{"no change", returnRule(nil), func(x *testExchange, a, _ engine.IngestAnswer) (engine.StatusReportAnswer, error) {
			x.reportResult(newReport(a, "qualified"))
			return x.report(newReport(a, "qualified").withKey("k"))
		}, "qualified"},
		{"already pending", manual, func(x *testExchange, a, _ engine.IngestAnswer) (engine.StatusReportAnswer, error) {
			x.reportResult(newReport(a, "returned"))
			return x.report(newReport(a, "returned").withKey("k"))
		}, "ACCEPTED waiting"},
		{"batch", returnRule(nil), func(x *testExchange, a, b engine.IngestAnswer) (engine.StatusReportAnswer, error) {
			return x.reportAll(newReport(a, "sold"), statusReport{lead: "?", status: "-", reason: "#1", occurred: "2001-01-01T00:00:00Z"}, newReport(b, "returned"), newReport(b, "sold").withKey("k"))
		}, "sold, invalid_payload status:missing_required reason:wrong_type occurred_at:out_of_range, returned, invalid_payload lead_id:not_allowed_value"},
	}
	for _, test := range tests {
		runWithExchange(t, test.name, returnsMarket(test.rule), func(t *testing.T, x *testExchange) {
			a, b := x.soldLead(1), x.soldLead(2)
			first, err := test.send(x, a, b)
			if got := describeStatusAnswer(first, err); got != test.want || first.Replayed {
				t.Fatalf("got %s, want %s; replayed: %v", got, test.want, first.Replayed)
			}
			again := func(when string) {
				t.Helper()
				second, err := test.send(x, a, b)
				if err != nil || !second.Replayed {
					t.Errorf("%s: got %+v, error %v, want a replay", when, second, err)
				}
				second.Replayed = false
				if !reflect.DeepEqual(first, second) {
					t.Errorf("%s: first %+v\nthen  %+v", when, first, second)
				}
			}
			entries := x.log.len()
			again("at once")
			expectEqual(t, x.log.len(), entries, "entries in the log")
			x.crashAndRestart()
			again("after a restart")
			x.reportResult(newReport(a, "returned").withKey("other"))
			x.reportResult(newReport(b, "sold").withKey("other too"))
			sleepUntil(t, "2000-01-30 23:00:00")
			again("after later changes")
		})
	}
}

// A key belongs to a buyer and a path. It is rejected with another body or lead.
func TestStatusReportKeyScope(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := returnsMarket(returnRule(nil))
		r.buyers[0].caps = []string{"day 2"}
		x := newExchange(t, r)
		a, b, gold := x.soldLead(1), x.soldLead(2), x.soldLead(3)
		for _, step := range []struct {
			name string
			send func() (engine.StatusReportAnswer, error)
			want string
		}{
			{"first", func() (engine.StatusReportAnswer, error) { return x.report(newReport(a, "contacted").withKey("k")) }, "contacted"},
			{"another status", func() (engine.StatusReportAnswer, error) { return x.report(newReport(a, "sold").withKey("k")) }, "idempotency_key_reused"},
			{"another lead", func() (engine.StatusReportAnswer, error) { return x.report(newReport(b, "contacted").withKey("k")) }, "idempotency_key_reused"},
			{"another buyer", func() (engine.StatusReportAnswer, error) {
				return x.report(newReport(gold, "contacted").withKey("k").fromBuyer("gold"))
			}, "contacted"},
			{"the other path", func() (engine.StatusReportAnswer, error) { return x.reportAll(newReport(b, "contacted").withKey("k")) }, "contacted"},
			{"in another order", func() (engine.StatusReportAnswer, error) {
				return x.reportAll(newReport(b, "contacted"), newReport(a, "contacted").withKey("k"))
			}, "idempotency_key_reused"},
		} {
			expectEqual(t, describeStatusAnswer(step.send()), step.want, step.name)
		}
	})
}

// All get the same answer from one event.
func TestConcurrentStatusReportsWithSameKey(t *testing.T) {
	runWithExchange(t, "", returnsMarket(returnRule(nil)), func(t *testing.T, x *testExchange) {
		a := x.soldLead(1)
		x.log.setSyncTime(time.Second)
		answers := make(chan string, 8)
		for range cap(answers) {
			go func() {
				answer, err := x.report(newReport(a, "sold"))
				answer.Replayed = false
				answers <- fmt.Sprintf("%+v %v", answer, err)
			}()
		}
		first := <-answers
		for range cap(answers) - 1 {
			if got := <-answers; got != first || !strings.Contains(got, "<nil>") {
				t.Errorf("two answers with one key: %s\nand %s", first, got)
			}
		}
		expectEqual(t, len(eventsOf[*event.LeadStatusChangesDecided](x)), 1, "logged events")
	})
}
