package server

import (
	"fmt"

	"github.com/VictoriaMetrics/metrics"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// hookMeter is what is counted of webhooks, of all suppliers together.
type hookMeter struct {
	attempts [event.HookDead + 1]*metrics.Counter
	seconds  *metrics.PrometheusHistogram
}

func newHookMeter(set *metrics.Set) (h hookMeter) {
	for outcome := event.HookDelivered; outcome <= event.HookDead; outcome++ {
		h.attempts[outcome] = set.NewCounter(fmt.Sprintf(`pingpost_webhooks_total{outcome=%q}`, outcome))
	}
	h.seconds = set.NewPrometheusHistogramExt(`pingpost_webhook_seconds`, buckets)
	return h
}

// HookTried counts an attempt to tell a supplier of its lead. One that fails is
// told in the log, at most once a minute for each supplier: thousands a second may
// fail in the same way.
func (m *Meter) HookTried(supplier string, outcome event.HookOutcome, result *market.HookResult) {
	m.hooks.attempts[outcome].Inc()
	m.hooks.seconds.Update(result.Elapsed.Seconds())
	if outcome == event.HookDelivered {
		return
	}
	if failures, tell := m.endpoints.of(supplier).again(); tell {
		m.logger.Load().Warn("webhooks to a supplier fail", "supplier_id", supplier, "failures", failures,
			"outcome", outcome.String(), "fault", result.Fault.String(), "status", result.Status)
	}
}

// HooksOff tells that a supplier hears nothing more.
func (m *Meter) HooksOff(supplier string) {
	m.logger.Load().Error("a supplier's webhooks are switched off: its endpoint has failed for days without one event delivered; "+
		"what it is owed are dead letters. Mend the endpoint, switch its webhooks on, and have the dead letters sent again", "supplier_id", supplier)
}

// HookGauge adds what is read of one supplier's webhooks: whether they are off.
func (m *Meter) HookGauge(supplier string, off func() bool) {
	m.set.GetOrCreateGauge(fmt.Sprintf(`pingpost_webhooks_off{supplier=%q}`, supplier), func() float64 {
		if off() {
			return 1
		}
		return 0
	})
}
