package engine_test

import (
	"slices"
	"testing"
	"time"

	"pingpost/engine/market"
)

// failedThenDelivered is an endpoint that hears the second or third attempt of each event.
var failedThenDelivered = []market.WebhookResult{webhookFailed, webhookTimedOut, webhookDelivered}

// runWebhooksWithCrash lets a person's lead be delivered and told of with the power cut once
// the log has n entries, and then holds the next process to it: whatever a durable
// event owes is heard, and nothing else.
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

// checkAllDelivered sees that what the log's events owe was heard, that nothing waits, and
// that nobody was told what no event owes.
func (r *webhookReceivers) checkAllDelivered(x *testExchange) {
	r.t.Helper()
	received := map[string]bool{}
	required := x.requiredWebhooks()
	for _, a := range r.attempts {
		name := a.event + " " + a.lead
		received[name] = received[name] || a.result.Delivered
		if !slices.Contains(required, name) {
			r.t.Errorf("told is %s, which nothing owes", name)
		}
	}
	for i, name := range required {
		if !received[name] {
			r.t.Errorf("%s was never heard", name)
		}
		if slices.Contains(required[:i], name) {
			r.t.Errorf("%s is owed twice", name)
		}
	}
	expectEqual(r.t, x.webhookStatus(), "0 pending 0 dead", "in the end")
}

// Whatever two events the power fails between.
func TestEveryEventIsHeardAcrossAPowerCut(t *testing.T) {
	for i, h := range deliveryCases {
		if testing.Short() && i%3 != 0 {
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			crashAtEveryEntry(t, func(t *testing.T, n int, unacknowledged bool) bool {
				return runWebhooksWithCrash(t, h, n, unacknowledged)
			})
		})
	}
}
