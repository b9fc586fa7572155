package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/webhook"
	"pingpost/internal/must"
)

// webhookMarket is a market whose one buyer has no endpoint and no limit, and whose
// supplier has a webhook.
func webhookMarket() marketSpec {
	return withWebhooks(marketOf(market.Waterfall, buyer{id: "blue"}))
}

// standing is how it goes with acme's webhooks, in a few words.
func (x *testExchange) webhookStatus() string {
	s := x.state.OutboxStatus(x.state.RefOf(event.ObjectSupplier, "acme"))
	text := fmt.Sprintf("%d pending %d dead", s.Pending, s.Dead)
	if s.FailingSince != 0 {
		text += fmt.Sprintf(" failing since %s", time.Unix(0, s.FailingSince).Sub(virtualStart))
	}
	if s.Off {
		text += " off"
	}
	return text
}

// The whole schedule, through restarts: six attempts inside 24 hours, each with
// the pause before it that it should have, one identifier and one body; then a
// dead letter.
func TestScheduleOfAnEvent(t *testing.T) {
	tests := []struct {
		name      string
		script    []market.WebhookResult
		restart   time.Duration // between two restarts; zero: none
		tries     int
		leadState string
	}{
		{"heard at once", nil, 0, 1, "0 pending 0 dead"},
		{"heard at the second", []market.WebhookResult{webhookFailed, webhookDelivered}, 0, 2, "0 pending 0 dead"},
		{"heard at the last", []market.WebhookResult{webhookFailed, webhookTimedOut, webhookFailed, webhookTimedOut, webhookFailed, webhookDelivered}, 0, 6, "0 pending 0 dead"},
		{"never heard", []market.WebhookResult{webhookFailed}, 0, 6, "0 pending 1 dead failing since 0s"},
		{"never answered", []market.WebhookResult{webhookTimedOut}, 0, 6, "0 pending 1 dead failing since 0s"},
		{"never heard, with a restart every minute", []market.WebhookResult{webhookFailed}, time.Minute, 6, "0 pending 1 dead failing since 0s"},
		{"never heard, with a restart every hour", []market.WebhookResult{webhookFailed}, time.Hour, 6, "0 pending 1 dead failing since 0s"},
		{"heard at the last, with restarts", []market.WebhookResult{webhookFailed, webhookFailed, webhookFailed, webhookFailed, webhookFailed, webhookDelivered}, 50 * time.Minute, 6, "0 pending 0 dead"},
	}
	for _, test := range tests {
		runWithExchange(t, test.name, webhookMarket(), func(t *testing.T, x *testExchange) {
			x.ingestResult(leadRequest(1))
			r := newReceivers(t)
			r.script = test.script
			for end := virtualStart.Add(day); time.Now().Before(end); {
				if test.restart == 0 {
					r.sendFor(x, time.Until(end))
					continue
				}
				r.sendFor(x, min(test.restart, time.Until(end)))
				x.crashAndRestart()
			}
			expectEqual(t, x.webhookStatus(), test.leadState, "after a day")
			expectEqual(t, len(r.attempts), test.tries, "attempts in a day")
			for i := 1; i < len(r.attempts); i++ {
				pause, want := r.attempts[i].at-r.attempts[i-1].at, webhook.PauseAfterAttempt(i)
				if pause < want*9/10 || pause > want*11/10+time.Second {
					t.Errorf("attempt %d comes %s after the one before it, want %s or a tenth to either side", i+1, pause, want)
				}
			}
			r.sendFor(x, 7*day)
			expectEqual(t, len(r.attempts), test.tries, "attempts after the first day")
		})
	}
}

// An endpoint that has failed for five days without one event heard is told
// nothing more until an operator says so.
func TestEndpointThatFailsForDays(t *testing.T) {
	runInVirtualTime(t, "fails", func(t *testing.T) {
		notes := new(webhookObserver)
		x := newExchange(t, webhookMarket(), func(opt *engine.Options) { notes.testObserver = opt.Observer.(*testObserver); opt.Observer = notes })
		r := newReceivers(t)
		r.script = []market.WebhookResult{webhookTimedOut}
		time.Sleep(3 * time.Hour)
		for n := range 12 { // one lead in half a day
			x.ingestResult(leadRequest(n))
			r.sendFor(x, day/2)
			if n == 8 && (x.webhookStatus() != "1 pending 8 dead failing since 3h0m0s" && x.webhookStatus() != "2 pending 7 dead failing since 3h0m0s") || n == 8 && len(notes.switchedOff) != 0 {
				t.Errorf("after four and a half days: %s, %v", x.webhookStatus(), notes.switchedOff)
			}
		}
		if got := x.webhookStatus(); got != "0 pending 12 dead failing since 3h0m0s off" || !slices.Equal(notes.switchedOff, []string{"acme"}) {
			t.Fatalf("after six days: %s, %v", got, notes.switchedOff)
		}
		attempts := len(r.attempts)
		if last := r.attempts[attempts-1].at; last < 3*time.Hour+5*day || last > 3*time.Hour+5*day+day/2 {
			t.Errorf("given up at %s", last)
		}
		x.crashAndRestart()
		x.ingestResult(leadRequest(20))
		r.sendFor(x, 2*day)
		if got := x.webhookStatus(); got != "0 pending 13 dead failing since 3h0m0s off" || len(r.attempts) != attempts {
			t.Errorf("while it is off: %s, %d attempts", got, len(r.attempts)-attempts)
		}
		must.Succeed(t, x.engine.AsOperator("").SetWebhooksOff("acme", false))
		r.script = nil
		x.ingestResult(leadRequest(21))
		r.sendFor(x, time.Minute)
		if got := x.webhookStatus(); got != "0 pending 13 dead" || len(r.attempts) != attempts+1 {
			t.Errorf("switched on: %s, %d attempts", got, len(r.attempts)-attempts)
		}
		if n, err := x.engine.AsOperator("").ResendDeadLetters("acme"); n != 13 || err != nil {
			t.Errorf("%d resent: %v", n, err)
		}
		r.sendFor(x, time.Minute)
		if got := x.webhookStatus(); got != "0 pending 0 dead" || len(r.attempts) != attempts+14 {
			t.Errorf("resent: %s, %d attempts", got, len(r.attempts)-attempts)
		}
		if got := len(notes.outcomes); got != len(r.attempts) || notes.outcomes[got-1] != "acme delivered" || notes.outcomes[0] != "acme failed" {
			t.Errorf("%d attempts, and noted are %d: %v", len(r.attempts), got, notes.outcomes)
		}
	})
	runWithExchange(t, "with two attempts under way", webhookMarket(), func(t *testing.T, x *testExchange) {
		acme := x.state.RefOf(event.ObjectSupplier, "acme")
		r := newReceivers(t)
		r.script = []market.WebhookResult{webhookFailed}
		x.ingestResult(leadRequest(1))
		r.sendFor(x, 5*day)
		x.ingestResult(leadRequest(2))
		x.ingestResult(leadRequest(3))
		one, _ := x.state.ClaimDueWebhook(acme, time.Now().UnixNano())
		two, ok := x.state.ClaimDueWebhook(acme, time.Now().UnixNano())
		if err := errors.Join(x.engine.RecordWebhookAttempt(one, webhookFailed), x.engine.RecordWebhookAttempt(two, webhookFailed)); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if got := x.countSwitches(); got != 1 || x.webhookStatus() != "0 pending 3 dead failing since 0s off" {
			t.Errorf("switched off %d times: %s", got, x.webhookStatus())
		}
	})
	runWithExchange(t, "is heard once in a while", webhookMarket(), func(t *testing.T, x *testExchange) {
		r := newReceivers(t)
		r.script = []market.WebhookResult{webhookFailed, webhookFailed, webhookFailed, webhookFailed, webhookDelivered}
		for n := range 20 {
			x.ingestResult(leadRequest(n))
			r.sendFor(x, day/2)
		}
		expectEqual(t, x.webhookStatus(), "0 pending 0 dead", "after ten days")
	})
}

// The result of an attempt is recorded although the log's queue is full at first, so the webhook
// is sent once.
func TestWebhookResultOutlastsAFullQueue(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		refuse := 100
		x := newExchange(t, webhookMarket(), logThatRejects(func(kind event.Kind) error {
			if kind == event.KindWebhookAttempted && refuse > 0 {
				refuse--
				return engine.ErrBusy
			}
			return nil
		}))
		r := newReceivers(t)
		x.ingestResult(leadRequest(1))
		r.sendFor(x, time.Hour)
		expectEqual(t, x.webhookStatus(), "0 pending 0 dead")
		expectEqual(t, fmt.Sprint(len(r.attempts), " told, ", refuse, " refusals left"), "1 told, 0 refusals left")
	})
}
