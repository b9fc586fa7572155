package engine_test

import (
	"bytes"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/internal/timer"
)

// webhookEndpoint returns the supplier's webhook endpoint.
func webhookEndpoint(supplier string) *market.OutboundEndpoint {
	return &market.OutboundEndpoint{URL: "https://" + supplier + ".example/hooks", Credential: "supplier/" + supplier + "/webhook"}
}

// withWebhooks returns the market with webhooks for its suppliers.
func withWebhooks(r marketSpec) marketSpec { r.webhooks = true; return r }

var (
	webhookDelivered = market.WebhookAttemptResult{Delivered: true, Status: 204}
	webhookFailed    = market.WebhookAttemptResult{Status: 500}
	webhookTimedOut  = market.WebhookAttemptResult{Fault: market.FaultTimeout, Elapsed: time.Second}
)

// webhookReceivers sends due webhooks one at a time and simulates the suppliers' endpoints, across
// restarts. It checks that a webhook keeps its id and body and has no contact data.
type webhookReceivers struct {
	t        testing.TB
	script   []market.WebhookAttemptResult // results by attempt; the last one repeats; empty: all are delivered
	attempts []*receivedWebhook
}

// receivedWebhook is one attempt as the supplier received it.
type receivedWebhook struct {
	at     time.Duration
	id     string
	event  string
	lead   string
	body   []byte
	cause  uint64
	number int // of this webhook's attempt, from 1
	result market.WebhookAttemptResult
}

// record checks and records an attempt, and returns its result.
func (r *webhookReceivers) record(x *testExchange, h *state.OutboxWebhook, m *engine.WebhookMessage) market.WebhookAttemptResult {
	r.t.Helper()
	a := &receivedWebhook{at: time.Since(virtualStart), id: m.ID, event: h.Type.String(), lead: h.Lead.String(), body: bytes.Clone(m.Body), cause: h.Cause, number: 1, result: webhookDelivered}
	if supplier := x.state.NameOf(event.ObjectSupplier, m.Supplier); m.Endpoint.URL != "" && m.Endpoint != *webhookEndpoint(supplier) {
		r.t.Errorf("webhook %s of %s was sent to %+v", a.event, supplier, m.Endpoint)
	}
	if !json.Valid(a.body) {
		r.t.Errorf("body is not JSON: %s", a.body)
	}
	for _, person := range []string{"+1415", "@example.com", "first_name", "Pat", "Doe"} {
		if bytes.Contains(a.body, []byte(person)) {
			r.t.Errorf("webhook has contact data: %s", a.body)
		}
	}
	for _, before := range r.attempts {
		same := before.lead == a.lead && before.event == a.event
		expectEqual(r.t, same, (before.id == a.id), before.event, " of ", before.lead, " is ", before.id, ", ", a.event, " of ", a.lead, " is ", a.id)
		if !same {
			continue
		}
		a.number++
		if !bytes.Equal(before.body, a.body) {
			r.t.Errorf("%s of %s has two bodies:\n%s\n%s", a.event, a.lead, before.body, a.body)
		}
	}
	if len(r.script) > 0 {
		a.result = r.script[min(a.number, len(r.script))-1]
	}
	r.attempts = append(r.attempts, a)
	return a.result
}

// newReceivers returns receivers that accept all webhooks.
func newReceivers(t testing.TB) *webhookReceivers { return &webhookReceivers{t: t} }

// sendDue sends all due webhooks.
func (r *webhookReceivers) sendDue(x *testExchange) {
	r.t.Helper()
	for _, supplier := range x.state.SuppliersWithPendingWebhooks() {
		for {
			h, ok := x.state.ClaimDueWebhook(supplier, time.Now().UnixNano())
			if !ok {
				break
			}
			m, err := x.engine.BuildWebhookMessageOrDeadLetter(&h)
			if err == nil {
				err = x.engine.RecordWebhookAttempt(h, r.record(x, &h, &m))
			}
			if err != nil {
				x.state.UnclaimWebhook(h)
				time.Sleep(time.Second) // it is due again at once
				return
			}
		}
	}
}

// sendFor sends webhooks as they become due, for the duration d.
func (r *webhookReceivers) sendFor(x *testExchange, d time.Duration) {
	r.t.Helper()
	end := time.Now().Add(d)
	for {
		r.sendDue(x)
		next := end
		for _, supplier := range x.state.SuppliersWithPendingWebhooks() {
			if due, ok := x.state.NextWebhookDueTime(supplier); ok && time.Unix(0, due).Before(next) {
				next = time.Unix(0, due)
			}
		}
		select {
		case <-timer.After(time.Until(next)):
		case <-x.state.WebhookMayBeDue():
		}
		if !time.Now().Before(end) {
			return
		}
	}
}

// events returns the types of all attempts.
func (r *webhookReceivers) events() (all []string) {
	for _, a := range r.attempts {
		all = append(all, a.event)
	}
	return all
}

// webhookObserver records the outcomes of webhooks.
type webhookObserver struct {
	*testObserver
	mu          sync.Mutex
	outcomes    []string
	switchedOff []string
}

func (n *webhookObserver) WebhookAttempted(supplier string, outcome event.WebhookOutcomeOrDecision, _ *market.WebhookAttemptResult) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.outcomes = append(n.outcomes, supplier+" "+outcome.String())
}

func (n *webhookObserver) LogWebhooksSwitchedOffAfterFailures(supplier string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.switchedOff = append(n.switchedOff, supplier)
}
