package metrics

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/server/servertest"
)

var _ engine.WebhookObserver = (*Meter)(nil)

// TestWebhookAttemptsAreCounted checks the counters of webhook attempts, and that failures are
// logged once a minute per supplier.
func TestWebhookAttemptsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines bytes.Buffer
		m := NewMeter(func(string, error) {})
		m.SetLogger(slog.New(slog.NewTextHandler(&lines, nil)))
		wantLines := func(level string, want ...string) {
			t.Helper()
			got := strings.Count(lines.String(), "\n")
			for _, line := range want {
				if !strings.Contains(lines.String(), line+"\n") {
					t.Errorf("want the line %s in\n%s", line, lines.String())
				}
			}
			if got != len(want) || strings.Count(lines.String(), "level="+level) != got {
				t.Errorf("%d lines, want %d of level %s:\n%s", got, len(want), level, lines.String())
			}
			lines.Reset()
		}
		m.WebhookAttempted("sup_a", event.WebhookDelivered, &market.WebhookAttemptResult{Delivered: true, Status: 200, Elapsed: 3 * time.Millisecond})
		wantLines("WARN")
		for range 3 {
			m.WebhookAttempted("sup_a", event.WebhookFailed, &market.WebhookAttemptResult{Status: 500, Elapsed: time.Second})
		}
		m.WebhookAttempted("sup_b", event.WebhookDead, &market.WebhookAttemptResult{Fault: market.FaultTLS})
		wantLines("WARN", "supplier_id=sup_a failures=1 outcome=failed fault=none status=500", "supplier_id=sup_b failures=1 outcome=dead fault=tls status=0")
		time.Sleep(throttleFor)
		m.WebhookAttempted("sup_a", event.WebhookFailed, &market.WebhookAttemptResult{Fault: market.FaultTimeout})
		wantLines("WARN", "supplier_id=sup_a failures=3 outcome=failed fault=timeout status=0")
		m.LogWebhooksSwitchedOffAfterFailures("sup_b")
		wantLines("ERROR", "supplier_id=sup_b")

		off := false
		m.AddWebhookOffGauge("sup_b", func() bool { return off })
		m.AddWebhookOffGauge("sup_b", func() bool { return false }) // a later configuration replaces the gauge
		off = true
		servertest.RequireMetrics(
			t, m,
			`pingpost_webhooks_total{outcome="delivered"} 1`, `pingpost_webhooks_total{outcome="failed"} 4`, `pingpost_webhooks_total{outcome="dead"} 1`,
			`pingpost_webhook_seconds_bucket{le="0.005"} 3`, `pingpost_webhook_seconds_count 6`, `pingpost_webhooks_off{supplier="sup_b"} 1`,
		)
	})
}
