package engine_test

import (
	"slices"
	"testing"
	"time"

	"pingpost/engine/market"
)

// failedThenDelivered accepts the second or third attempt of each webhook.
var failedThenDelivered = []market.WebhookAttemptResult{webhookFailed, webhookTimedOut, webhookDelivered}

// runWebhooksWithCrash delivers a lead and its webhooks, and cuts the power once the log
// has n entries. The next process must deliver exactly the webhooks that the log requires.
func runWebhooksWithCrash(t *testing.T, h deliveryCase, n int, unacknowledged bool) (cut bool) {
	t.Helper()
	x := newFailingExchange(t, withWebhooks(twoPostBuyers()), n, unacknowledged)
	p := &crashRun{testExchange: x, scenario: crashScenario{leads: []deliveryCase{h}}}
	x.buyers.replyTo = p.replyFor
	r := newReceivers(t)
	r.script = failedThenDelivered
	if x.engine.Configure(x.configuration(x.market)) == nil {
		p.calls = append(p.calls, x.startIngest(leadRequest(0).withKey("k")))
		r.sendFor(x, 10*time.Minute)
		<-p.calls[0].done
		p.resolveUnconfirmed()
		r.sendFor(x, 10*time.Minute)
	}
	cut = x.restartAfterCrash()
	r.sendFor(x, 2*day)
	r.checkAllDelivered(x)
	x.closeAndCheck()
	return cut
}

// checkAllDelivered checks that exactly the webhooks required by the log were delivered,
// and that the outbox is empty.
func (r *webhookReceivers) checkAllDelivered(x *testExchange) {
	r.t.Helper()
	delivered := map[string]bool{}
	required := x.requiredWebhooks()
	for _, a := range r.attempts {
		name := a.event + " " + a.lead
		delivered[name] = delivered[name] || a.result.Delivered
		if !slices.Contains(required, name) {
			r.t.Errorf("webhook %s was sent, but no log event requires it", name)
		}
	}
	for i, name := range required {
		if !delivered[name] {
			r.t.Errorf("webhook %s was not delivered", name)
		}
		if slices.Contains(required[:i], name) {
			r.t.Errorf("webhook %s is required twice", name)
		}
	}
	expectEqual(r.t, x.webhookStatus(), "0 pending 0 dead", "final webhook status")
}

// The power fails after each log entry.
func TestWebhooksAreDeliveredAfterPowerCut(t *testing.T) {
	for i, h := range deliveryCases {
		if hasFewPowerCuts() && i%12 != 0 {
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			crashAtEveryEntry(t, func(t *testing.T, n int, unacknowledged bool) bool {
				return runWebhooksWithCrash(t, h, n, unacknowledged)
			})
		})
	}
}
