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

// webhookMarket has one buyer without endpoint and limit, and a supplier with a webhook.
func webhookMarket() marketSpec {
	return withWebhooks(marketOf(market.Waterfall, buyer{id: "blue"}))
}

// webhookStatus describes the state of acme's webhooks.
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

// Six attempts within 24 hours, with the scheduled pauses, also over restarts; then the
// webhook is a dead letter. All attempts have one id and body.
func TestWebhookRetrySchedule(t *testing.T) {
	tests := []struct {
		name     string
		script   []market.WebhookAttemptResult
		restart  time.Duration // time between restarts; 0: no restart
		attempts int
		status   string
	}{
		{"delivered at once", nil, 0, 1, "0 pending 0 dead"},
		{"delivered at the second attempt", []market.WebhookAttemptResult{webhookFailed, webhookDelivered}, 0, 2, "0 pending 0 dead"},
		{"delivered at the last attempt", []market.WebhookAttemptResult{webhookFailed, webhookTimedOut, webhookFailed, webhookTimedOut, webhookFailed, webhookDelivered}, 0, 6, "0 pending 0 dead"},
		{"always rejected", []market.WebhookAttemptResult{webhookFailed}, 0, 6, "0 pending 1 dead failing since 0s"},
		{"always timed out", []market.WebhookAttemptResult{webhookTimedOut}, 0, 6, "0 pending 1 dead failing since 0s"},
		{"always rejected, with a restart every minute", []market.WebhookAttemptResult{webhookFailed}, time.Minute, 6, "0 pending 1 dead failing since 0s"},
		{"always rejected, with a restart every hour", []market.WebhookAttemptResult{webhookFailed}, time.Hour, 6, "0 pending 1 dead failing since 0s"},
		{"delivered at the last attempt, with restarts", []market.WebhookAttemptResult{webhookFailed, webhookFailed, webhookFailed, webhookFailed, webhookFailed, webhookDelivered}, 50 * time.Minute, 6, "0 pending 0 dead"},
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
			expectEqual(t, x.webhookStatus(), test.status, "after a day")
			expectEqual(t, len(r.attempts), test.attempts, "attempts in a day")
			for i := 1; i < len(r.attempts); i++ {
				pause, want := r.attempts[i].at-r.attempts[i-1].at, webhook.PauseAfterAttempt(i)
				if pause < want*9/10 || pause > want*11/10+time.Second {
					t.Errorf("attempt %d comes %s after the previous one, want %s, plus or minus 10%%", i+1, pause, want)
				}
			}
			r.sendFor(x, 7*day)
			expectEqual(t, len(r.attempts), test.attempts, "attempts after the first day")
		})
	}
}

// After five days without a delivery, webhooks are off until an operator turns them on.
func TestFailingWebhookEndpointIsTurnedOff(t *testing.T) {
	runInVirtualTime(t, "no delivery", func(t *testing.T) {
		observer := new(webhookObserver)
		x := newExchange(t, webhookMarket(), func(opt *engine.Options) {
			observer.testObserver = opt.Observer.(*testObserver)
			opt.Observer = observer
		})
		r := newReceivers(t)
		r.script = []market.WebhookAttemptResult{webhookTimedOut}
		time.Sleep(3 * time.Hour)
		for n := range 12 { // one lead every half day
			x.ingestResult(leadRequest(n))
			r.sendFor(x, day/2)
			if n == 8 && (x.webhookStatus() != "1 pending 8 dead failing since 3h0m0s" && x.webhookStatus() != "2 pending 7 dead failing since 3h0m0s") || n == 8 && len(observer.switchedOff) != 0 {
				t.Errorf("after four and a half days: webhooks %s, turned off for %v", x.webhookStatus(), observer.switchedOff)
			}
		}
		if got := x.webhookStatus(); got != "0 pending 12 dead failing since 3h0m0s off" || !slices.Equal(observer.switchedOff, []string{"acme"}) {
			t.Fatalf("after six days: webhooks %s, turned off for %v", got, observer.switchedOff)
		}
		attempts := len(r.attempts)
		if last := r.attempts[attempts-1].at; last < 3*time.Hour+5*day || last > 3*time.Hour+5*day+day/2 {
			t.Errorf("last attempt at %s, want within half a day after five days of failures", last)
		}
		x.crashAndRestart()
		x.ingestResult(leadRequest(20))
		r.sendFor(x, 2*day)
		if got := x.webhookStatus(); got != "0 pending 13 dead failing since 3h0m0s off" || len(r.attempts) != attempts {
			t.Errorf("while off: webhooks %s, %d attempts, want 0", got, len(r.attempts)-attempts)
		}
		must.Succeed(t, x.engine.AsOperator("").SwitchOnWebhooks("acme"))
		r.script = nil
		x.ingestResult(leadRequest(21))
		r.sendFor(x, time.Minute)
		if got := x.webhookStatus(); got != "0 pending 13 dead" || len(r.attempts) != attempts+1 {
			t.Errorf("turned on: webhooks %s, %d attempts, want 1", got, len(r.attempts)-attempts)
		}
		if n, err := x.engine.AsOperator("").ResendDeadLetters("acme"); n != 13 || err != nil {
			t.Errorf("%d resent, want 13; error %v", n, err)
		}
		r.sendFor(x, time.Minute)
		if got := x.webhookStatus(); got != "0 pending 0 dead" || len(r.attempts) != attempts+14 {
			t.Errorf("resent: webhooks %s, %d attempts, want 14", got, len(r.attempts)-attempts)
		}
		if got := len(observer.outcomes); got != len(r.attempts) || observer.outcomes[got-1] != "acme delivered" || observer.outcomes[0] != "acme failed" {
			t.Errorf("%d attempts, %d observed: %v", len(r.attempts), got, observer.outcomes)
		}
	})
	runWithExchange(t, "during two attempts", webhookMarket(), func(t *testing.T, x *testExchange) {
		acme := x.state.RefOf(event.ObjectSupplier, "acme")
		r := newReceivers(t)
		r.script = []market.WebhookAttemptResult{webhookFailed}
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
			t.Errorf("turned off %d times, want 1; webhooks %s", got, x.webhookStatus())
		}
	})
	runWithExchange(t, "occasional delivery", webhookMarket(), func(t *testing.T, x *testExchange) {
		r := newReceivers(t)
		r.script = []market.WebhookAttemptResult{webhookFailed, webhookFailed, webhookFailed, webhookFailed, webhookDelivered}
		for n := range 20 {
			x.ingestResult(leadRequest(n))
			r.sendFor(x, day/2)
		}
		expectEqual(t, x.webhookStatus(), "0 pending 0 dead", "after ten days")
	})
}

// The result is retried until the log's queue accepts it, so the webhook is sent once.
func TestWebhookResultIsLoggedDespiteFullQueue(t *testing.T) {
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
		expectEqual(t, fmt.Sprint(len(r.attempts), " attempts, ", refuse, " refusals left"), "1 attempts, 0 refusals left")
	})
}
