package metrics

import (
	"fmt"

	"github.com/VictoriaMetrics/metrics"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// webhookMeter counts the attempts to send webhooks, and their durations, for all suppliers
// together.
type webhookMeter struct {
	attempts [event.WebhookDead + 1]*metrics.Counter
	seconds  *metrics.PrometheusHistogram
}

func newWebhookMeter(set *metrics.Set) (h webhookMeter) {
	for outcome := event.WebhookDelivered; outcome <= event.WebhookDead; outcome++ {
		h.attempts[outcome] = set.NewCounter(fmt.Sprintf(`pingpost_webhooks_total{outcome=%q}`, outcome))
	}
	h.seconds = set.NewPrometheusHistogramExt(`pingpost_webhook_seconds`, buckets)
	return h
}

// WebhookAttempted counts an attempt to send a webhook to a supplier. It logs failed attempts
// at most once a minute per supplier, because thousands per second may fail in the same way.
// The engine calls it.
func (m *Meter) WebhookAttempted(supplier string, outcome event.WebhookOutcomeOrDecision, result *market.WebhookAttemptResult) {
	m.hooks.attempts[outcome].Inc()
	m.hooks.seconds.Update(result.Elapsed.Seconds())
	if outcome == event.WebhookDelivered {
		return
	}
	if failures, tell := m.endpoints.getOrCreate(supplier).CountEvent(); tell {
		m.logger.Load().Warn("webhooks to a supplier fail; its endpoint must be repaired", "supplier_id", supplier, "failures", failures,
			"outcome", outcome.String(), "fault", result.Fault.String(), "status", result.Status)
	}
}

// LogWebhooksSwitchedOffAfterFailures logs that the exchange has switched a supplier's webhooks off, because
// all attempts failed for days. The engine calls it.
func (m *Meter) LogWebhooksSwitchedOffAfterFailures(supplier string) {
	m.logger.Load().Error("a supplier's webhooks were switched off, because all attempts failed for days; "+
		"the pending webhooks are dead letters now. Repair the endpoint, switch the webhooks on, and resend the dead letters", "supplier_id", supplier)
}

// AddWebhookOffGauge adds a metric for a supplier that is 1 while its webhooks are switched
// off, and 0 otherwise. isOff returns the current state.
func (m *Meter) AddWebhookOffGauge(supplier string, isOff func() bool) {
	m.set.GetOrCreateGauge(fmt.Sprintf(`pingpost_webhooks_off{supplier=%q}`, supplier), func() float64 {
		if isOff() {
			return 1
		}
		return 0
	})
}
