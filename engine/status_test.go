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

// From each status (down) to each that a buyer may report (across): + it is
// taken, = it is there, . it is not.
func TestReportsGoForward(t *testing.T) {
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
			trading(t, strings.Join(append(test.from, to), " "), bought(returns(nil)), func(t *testing.T, x *exchange) {
				a := x.sold(1)
				for _, status := range test.from {
					expectEqual(t, x.reported(saying(a, status)), status)
				}
				want := map[byte]string{'+': to, '=': to, '.': "no: further"}[test.want[i]]
				entries := x.log.len()
				expectEqual(t, x.reported(saying(a, to).withKey("last")), want)
				if logged := x.log.len() > entries; logged == (test.want[i] == '.') {
					t.Errorf("logged: %v", logged)
				}
				if change, ok := x.lastFact().(*event.LeadStatusesChanged); ok && test.want[i] == '=' && change.Changes[0].Result != event.ChangeNone {
					t.Errorf("what was so already is logged as %+v", change)
				}
			})
		}
	}
}

// A report waits for what the lead itself is waiting for: where it is.
func TestReportsOnLeadsOnTheirWay(t *testing.T) {
	tests := []struct {
		what   string
		script []reply
		after  time.Duration
		want   string
		stands string
	}{
		{"before the answer", []reply{accepts.in(time.Second)}, ms, "no: on its way", "ACCEPTED delivered"},
		{"once it was taken", []reply{accepts.in(time.Second)}, 2 * time.Second, "contacted", "contacted delivered"},
		{"after the answer, while it is tried", []reply{hangs, accepts}, 6 * time.Second, "no: on its way", "ACCEPTED delivered"},
		{"after the tries", []reply{breaks}, 2 * time.Minute, "contacted", "contacted confirmed"},
		{"once it was refused after the answer", []reply{refuses.in(8 * time.Second)}, time.Minute, "no: not sold", "UNMATCHED failed post_rejected"},
		{"once it was refused before", []reply{refuses}, time.Minute, "not_found", "UNMATCHED failed post_rejected"},
	}
	for _, test := range tests {
		bubble(t, test.what, func(t *testing.T) {
			r := bought(returns(nil)).posting()
			r.campaigns[0].seats = r.campaigns[0].seats[:1]
			x := begin(t, r)
			x.world.script("blue", test.script...)
			sent := x.goSend(person(1))
			time.Sleep(test.after)
			a := engine.IngestAnswer{Lead: x.onlyLead()}
			expectEqual(t, x.reported(saying(a, "contacted")), test.want)
			sent.wait()
			time.Sleep(5 * time.Minute)
			expectEqual(t, x.stands(a), test.stands)
		})
	}
}

// The buyer of a lead whose delivery nobody knew the end of has it, as it says
// itself: that is a fact first, and it pays.
func TestReportConfirmsADelivery(t *testing.T) {
	trading(t, "", bought(returns(nil)).posting(), func(t *testing.T, x *exchange) {
		x.world.script("blue", breaks)
		a := x.sold(1)
		time.Sleep(time.Hour)
		expectEqual(t, x.stands(a)+", "+x.balance("blue"), "ACCEPTED unknown, 100 of which is held 10")
		x.reported(saying(a, "contacted").by("gold"))
		x.reported(saying(a, "cold"))
		expectEqual(t, x.stands(a), "ACCEPTED unknown", "a report that was not taken made it")
		expectEqual(t, x.reported(saying(a, "sold")), "sold")
		expectEqual(t, x.stands(a)+", "+x.balance("blue"), "sold confirmed, 90")
		expectEqual(t, x.reported(saying(a, "returned"))+", "+x.balance("blue"), "returned, 100")
	})
}

// Everything that can be wrong with a report, and that it uses up nothing.
func TestReportIsChecked(t *testing.T) {
	long := strings.Repeat("é", 256)
	tests := []struct {
		what string
		word func(w word) word
		want string
	}{
		{"no key", func(w word) word { return w.withKey("") }, "invalid_payload Idempotency-Key:missing_required"},
		{"a key that is none", func(w word) word { w.badKey = true; return w }, "invalid_payload Idempotency-Key:invalid_format"},
		{"no status", func(w word) word { w.status = "-"; return w }, "invalid_payload status:missing_required"},
		{"null", func(w word) word { w.status = "#null"; return w }, "invalid_payload status:missing_required"},
		{"a number", func(w word) word { w.status = "#7"; return w }, "invalid_payload status:wrong_type"},
		{"one of ours", func(w word) word { w.status = "ACCEPTED"; return w }, "invalid_payload status:not_allowed_value"},
		{"capital letters", func(w word) word { w.status = "Sold"; return w }, "invalid_payload status:not_allowed_value"},
		{"no reason", func(w word) word { return w.because("-") }, "invalid_payload reason:missing_required"},
		{"a blank one", func(w word) word { return w.because("  ") }, "invalid_payload reason:missing_required"},
		{"no text", func(w word) word { return w.because("#true") }, "invalid_payload reason:wrong_type"},
		{"too long", func(w word) word { return w.because(long) }, "invalid_payload reason:too_long"},
		{"a line break", func(w word) word { return w.because("a\nb") }, "invalid_payload reason:invalid_format"},
		{"not a listed one", func(w word) word { return w.because("just so") }, "invalid_payload reason:not_allowed_value"},
		{"no time", func(w word) word { return w.happened("yesterday") }, "invalid_payload occurred_at:invalid_format"},
		{"a number for a time", func(w word) word { return w.happened("#946684800") }, "invalid_payload occurred_at:wrong_type"},
		{"to come", func(w word) word { return w.happened("2000-01-01T00:05:01Z") }, "invalid_payload occurred_at:out_of_range"},
		{"all of it", func(w word) word { w.status = "lost"; return w.because("#1").happened("now").withKey("") }, "invalid_payload Idempotency-Key:missing_required status:not_allowed_value reason:wrong_type occurred_at:invalid_format"},
		{"another's lead", func(w word) word { return w.by("gold").because("-") }, "not_found"},
		{"no lead", func(w word) word { w.lead = market.LeadID{15: 1}.String(); return w.withKey("") }, "not_found"},
	}
	trading(t, "", bought(returns(func(r *market.ReturnRule) { r.Reasons = map[string]struct{}{"wrong number": {}} })), func(t *testing.T, x *exchange) {
		a := x.sold(1)
		entries := x.log.len()
		for _, test := range tests {
			expectEqual(t, x.reported(test.word(saying(a, "returned").withKey("k"))), test.want, test.what)
		}
		expectEqual(t, x.log.len(), entries, "entries in the log")
		expectEqual(t, x.reported(saying(a, "returned").withKey("k").happened("2000-01-01T00:05:00Z")), "returned", "the key is used up")
	})
}

// What a report says is in the fact, with what it owes a supplier that wants to
// hear.
func TestWhatAReportLogs(t *testing.T) {
	for _, told := range []bool{false, true} {
		bubble(t, fmt.Sprint("told: ", told), func(t *testing.T) {
			r := bought(returns(nil))
			r.told = told
			x := begin(t, r)
			a := x.sold(1)
			time.Sleep(time.Hour)
			answer, err := x.report(saying(a, "contacted").because("by phone").happened("2000-01-01T00:30:00.5Z"))
			if err != nil || answer.Results[0].Lead != a.Lead.String() {
				t.Fatalf("%+v, %v", answer, err)
			}
			fact := x.lastFact().(*event.LeadStatusesChanged)
			want := event.LeadStatusChange{
				Lead: a.Lead, Result: event.ChangeDone, From: market.StatusAccepted, To: market.StatusContacted,
				Reason: "by phone", Occurred: began.Add(30*time.Minute + time.Second/2).UnixNano(), Supplier: x.lead(a).Supplier,
			}
			if told {
				want.Webhook = market.WebhookContacted
			}
			expectEqual(t, fmt.Sprintf("%+v", fact.Changes), fmt.Sprintf("%+v", []event.LeadStatusChange{want}))
			if fact.At != began.Add(time.Hour).UnixNano() || fact.Request != answer.Request || fact.Buyer == 0 || fact.Idempotency.Key == [16]byte{} {
				t.Errorf("%+v", fact)
			}
		})
	}
}

// A log that fails, and an engine that takes nothing, leave no lead taken.
func TestReportWithoutALog(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		x := begin(t, bought(returns(nil)), func(o *engine.Options) {})
		a := x.sold(1)
		x.log.die(x.log.len(), nil)
		if got := x.reported(saying(a, "sold")); !strings.HasPrefix(got, "error") {
			t.Error(got)
		}
		x.bury()
		x.rise()
		expectEqual(t, x.reported(saying(a, "sold")), "sold", "after the restart")
		x.engine.Close()
		expectError(t, errorOf(x.report(saying(a, "returned"))), engine.ErrUnavailable, "after the end")
	})
}
