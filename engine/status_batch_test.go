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

// Of many reports each comes to its own result, in the order in which they came,
// and one fact has them all.
func TestBatch(t *testing.T) {
	trading(t, "", bought(returns(func(r *market.ReturnRule) { r.Reasons = map[string]struct{}{"wrong number": {}} })), func(t *testing.T, x *exchange) {
		a, b, c, d := x.sold(1), x.sold(2), x.sold(3), x.sold(4)
		x.reported(saying(b, "sold"))
		x.reported(saying(c, "qualified"))
		gone := saying(engine.IngestAnswer{Lead: market.LeadID{1}}, "sold")
		words := []word{
			saying(d, "contacted").happened("soon"),
			saying(b, "returned"),
			{lead: "lead_1", status: "sold", reason: "-", occurred: "-"},
			saying(c, "contacted"),
			gone,
			saying(a, "contacted"),
			saying(b, "contacted"),
			saying(c, "qualified"),
			{lead: "-", status: "sold", reason: "-", occurred: "-"},
			{lead: " ", status: "sold", reason: "-", occurred: "-"},
			{lead: "#7", status: "-", reason: "-", occurred: "-"},
			saying(d, "returned").because("just so"),
		}
		entries := x.log.len()
		answer, err := x.reportAll(words...)
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
		expectEqual(t, saidStatus(answer, err), want)
		expectEqual(t, x.log.len(), entries+1, "entries in the log")
		for i, want := range []string{d.Lead.String(), b.Lead.String(), "lead_1", c.Lead.String(), gone.lead, a.Lead.String(), b.Lead.String(), c.Lead.String(), "", " ", "", d.Lead.String()} {
			expectEqual(t, answer.Results[i].Lead, want, "result ", i, " is of")
		}
		expectEqual(t, x.stands(a)+", "+x.stands(b)+", "+x.stands(c)+", "+x.stands(d), "contacted none, returned none, qualified none, ACCEPTED none")
	})
}

// A batch as a whole is refused where nobody could tell what it says; that uses up
// no key. One whose reports are all refused is answered for good.
func TestBatchAsAWhole(t *testing.T) {
	trading(t, "", bought(returns(nil)), func(t *testing.T, x *exchange) {
		a := x.sold(1)
		entries := x.log.len()
		unreadable := x.statusRequest([]word{{key: "k"}})
		unreadable.Reports, unreadable.Faults = nil, []market.FieldError{{Field: "changes", Code: errcode.FieldMissingRequired, Expected: "a list"}}
		nobody := x.statusRequest([]word{{key: "k"}})
		nobody.Reports = nil
		many := make([]word, engine.MaxReports+1)
		for i := range many {
			many[i] = word{lead: market.LeadID{0: 1, 15: byte(i), 14: byte(i >> 8)}.String(), status: "sold", reason: "-", occurred: "-", key: "k"}
		}
		for what, call := range map[string]struct {
			send func() (engine.StatusAnswer, error)
			want string
		}{
			"unreadable": {func() (engine.StatusAnswer, error) { return x.engine.ProcessStatusReports(unreadable) }, "invalid_payload changes:missing_required"},
			"none":       {func() (engine.StatusAnswer, error) { return x.engine.ProcessStatusReports(nobody) }, "invalid_payload changes:out_of_range"},
			"too many":   {func() (engine.StatusAnswer, error) { return x.reportAll(many...) }, "invalid_payload changes:out_of_range"},
			"no key":     {func() (engine.StatusAnswer, error) { return x.reportAll(saying(a, "sold").withKey("")) }, "invalid_payload Idempotency-Key:missing_required"},
		} {
			expectEqual(t, saidStatus(call.send()), call.want, what)
		}
		expectEqual(t, x.log.len(), entries, "something was logged")
		answer, err := x.reportAll(many[1:]...)
		expectEqual(t, saidStatus(answer, err), strings.TrimSuffix(strings.Repeat("not_found, ", engine.MaxReports), ", "))
		expectEqual(t, saidStatus(x.reportAll(saying(a, "sold").withKey("k"))), "idempotency_key_reused", "all of it refused, and the key is free")
	})
}

// Two batches that name the same leads in opposite orders wait for each other and
// not in a circle.
func TestBatchesCross(t *testing.T) {
	trading(t, "", bought(returns(nil)), func(t *testing.T, x *exchange) {
		var there, back []word
		for n := range 5 {
			w := saying(x.sold(n), "contacted")
			there, back = append(there, w.withKey("there")), append([]word{w.withKey("back")}, back...)
		}
		x.log.slow(time.Second)
		heard := make(chan string, 3)
		for _, words := range [][]word{there, back} {
			go func() { heard <- saidStatus(x.reportAll(words...)) }()
		}
		go func() { heard <- x.reported(there[2].withKey("between")) }()
		for range 3 {
			if got := <-heard; strings.ReplaceAll(strings.ReplaceAll(got, "contacted", ""), ", ", "") != "" {
				t.Error(got)
			}
		}
		done := 0
		for _, fact := range recordsOf[*event.LeadStatusesChanged](x) {
			for _, c := range fact.Changes {
				if c.Result == event.ChangeDone {
					done++
				}
			}
		}
		expectEqual(t, done, 5, "leads were contacted")
	})
}

// Under its key a report is answered as it was the first time, whatever has become
// of the lead, at once and in the next process.
func TestReportIsReplayed(t *testing.T) {
	manual := returns(func(r *market.ReturnRule) { r.Manual = true })
	tests := []struct {
		what string
		rule market.ReturnRule
		send func(x *exchange, a, b engine.IngestAnswer) (engine.StatusAnswer, error)
		want string
	}{
		{"done", returns(nil), func(x *exchange, a, _ engine.IngestAnswer) (engine.StatusAnswer, error) {
			return x.report(saying(a, "contacted"))
		}, "contacted"},
		{"waits", manual, func(x *exchange, a, _ engine.IngestAnswer) (engine.StatusAnswer, error) {
			return x.report(saying(a, "returned"))
		}, "ACCEPTED waiting"},
		{"so already", returns(nil), func(x *exchange, a, _ engine.IngestAnswer) (engine.StatusAnswer, error) {
			x.reported(saying(a, "qualified"))
			return x.report(saying(a, "qualified").withKey("k"))
		}, "qualified"},
		{"waits already", manual, func(x *exchange, a, _ engine.IngestAnswer) (engine.StatusAnswer, error) {
			x.reported(saying(a, "returned"))
			return x.report(saying(a, "returned").withKey("k"))
		}, "ACCEPTED waiting"},
		{"many", returns(nil), func(x *exchange, a, b engine.IngestAnswer) (engine.StatusAnswer, error) {
			return x.reportAll(saying(a, "sold"), word{lead: "?", status: "-", reason: "#1", occurred: "2001-01-01T00:00:00Z"}, saying(b, "returned"), saying(b, "sold").withKey("k"))
		}, "sold, invalid_payload status:missing_required reason:wrong_type occurred_at:out_of_range, returned, invalid_payload lead_id:not_allowed_value"},
	}
	for _, test := range tests {
		trading(t, test.what, bought(test.rule), func(t *testing.T, x *exchange) {
			a, b := x.sold(1), x.sold(2)
			first, err := test.send(x, a, b)
			if got := saidStatus(first, err); got != test.want || first.Replayed {
				t.Fatalf("%s, want %s; replayed: %v", got, test.want, first.Replayed)
			}
			again := func(when string) {
				t.Helper()
				second, err := test.send(x, a, b)
				if err != nil || !second.Replayed {
					t.Errorf("%s: %+v, %v", when, second, err)
				}
				second.Replayed = false
				if !reflect.DeepEqual(first, second) {
					t.Errorf("%s: first %+v\nthen  %+v", when, first, second)
				}
			}
			entries := x.log.len()
			again("at once")
			expectEqual(t, x.log.len(), entries, "entries in the log")
			x.crash()
			again("after a restart")
			x.reported(saying(a, "returned").withKey("other"))
			x.reported(saying(b, "sold").withKey("other too"))
			at(t, "2000-01-30 23:00:00")
			again("much later, when the leads stand elsewhere")
		})
	}
}

// A key is its buyer's and its path's; with another body or for another lead it
// was used.
func TestKeysOfReports(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := bought(returns(nil))
		r.buyers[0].caps = []string{"day 2"}
		x := begin(t, r)
		a, b, gold := x.sold(1), x.sold(2), x.sold(3)
		for _, step := range []struct {
			what string
			send func() (engine.StatusAnswer, error)
			want string
		}{
			{"first", func() (engine.StatusAnswer, error) { return x.report(saying(a, "contacted").withKey("k")) }, "contacted"},
			{"another status", func() (engine.StatusAnswer, error) { return x.report(saying(a, "sold").withKey("k")) }, "idempotency_key_reused"},
			{"another lead", func() (engine.StatusAnswer, error) { return x.report(saying(b, "contacted").withKey("k")) }, "idempotency_key_reused"},
			{"another buyer", func() (engine.StatusAnswer, error) {
				return x.report(saying(gold, "contacted").withKey("k").by("gold"))
			}, "contacted"},
			{"the other path", func() (engine.StatusAnswer, error) { return x.reportAll(saying(b, "contacted").withKey("k")) }, "contacted"},
			{"in another order", func() (engine.StatusAnswer, error) {
				return x.reportAll(saying(b, "contacted"), saying(a, "contacted").withKey("k"))
			}, "idempotency_key_reused"},
		} {
			expectEqual(t, saidStatus(step.send()), step.want, step.what)
		}
	})
}

// Whoever comes under a key that is at work waits, and hears the same.
func TestReportsUnderOneKeyAtOnce(t *testing.T) {
	trading(t, "", bought(returns(nil)), func(t *testing.T, x *exchange) {
		a := x.sold(1)
		x.log.slow(time.Second)
		heard := make(chan string, 8)
		for range cap(heard) {
			go func() {
				answer, err := x.report(saying(a, "sold"))
				answer.Replayed = false
				heard <- fmt.Sprintf("%+v %v", answer, err)
			}()
		}
		first := <-heard
		for range cap(heard) - 1 {
			if got := <-heard; got != first || !strings.Contains(got, "<nil>") {
				t.Errorf("%s\nand %s", first, got)
			}
		}
		expectEqual(t, len(recordsOf[*event.LeadStatusesChanged](x)), 1, "facts")
	})
}
