package exchange

import (
	"encoding/json"
	"net"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"pingpost/api/contract"
	"pingpost/internal/must"
	"pingpost/outbound/dial/dialtest"
)

// webhookSecret and webhookQuery are canaries, too.
const (
	webhookSecret = "whsec_canarycanarycanarycanary"
	webhookQuery  = "?token=canary-of-the-hook"
)

// webhookConfigFor is baseConfig with a webhook of sup_acme to the endpoint.
func webhookConfigFor(e *dialtest.Endpoint) string {
	return strings.Replace(baseConfig, `"${ACME_KEY}", `, `"${ACME_KEY}", webhook: {url: "http://`+e.Address+`/hooks`+webhookQuery+`", secret: `+webhookSecret+`}, `, 1)
}

// startPatient starts an exchange whose webhook attempts do not time out on a busy machine. The
// retry of a failed attempt comes a minute later, after the end of the tests.
func startPatient(t *testing.T, p testDir) *testExchange {
	t.Helper()
	return startWith(t, p, func(x *Exchange) { x.webhookAttemptTimeout = waitTimeout })
}

// webhookPayload is the part of a payload that tests check.
type webhookPayload struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Data struct {
		Lead   string `json:"lead_id"`
		Reason string `json:"reason"`
	} `json:"data"`
}

// verifyWebhooks verifies all webhooks of an endpoint and counts them by type and lead.
func verifyWebhooks(t *testing.T, e *dialtest.Endpoint) map[string]int {
	t.Helper()
	verifier := must.Value(standardwebhooks.NewWebhook(webhookSecret))(t)
	all := map[string]int{}
	for _, r := range e.Requests() {
		var payload webhookPayload
		if err := verifier.Verify([]byte(r.Body), r.Header); err != nil {
			t.Errorf("invalid signature: %v", err)
		}
		if err := json.Unmarshal([]byte(r.Body), &payload); err != nil || payload.ID != r.Header.Get("webhook-id") {
			t.Errorf("unexpected payload: %v: %s", err, r.Raw)
		}
		if err := contract.Public().CheckWebhookRequest(payload.Type, &contract.Request{Header: r.Header, Body: []byte(r.Body)}); err != nil {
			t.Error(err)
		}
		all[payload.Type+" "+payload.Data.Lead+payload.Data.Reason]++
	}
	return all
}

// TestRestartKeepsPendingWebhooks: after a stop or a crash. A delivered webhook is not sent again.
func TestRestartKeepsPendingWebhooks(t *testing.T) {
	t.Parallel()
	for name, restart := range map[string]func(*testExchange) *testExchange{
		"stopped": (*testExchange).restart,
		"crashed": func(x *testExchange) *testExchange { return start(t, x.copyFiles(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			e := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("200 OK", ``), dialtest.ReplyWithAnswer("500 Internal Server Error", ``))
			x := startPatient(t, newTestDir(t, webhookConfigFor(e)))
			first := x.mustSell(leadBody(1)).leadID()
			eventually(t, "the first is delivered", func() bool { return x.state.OutboxTotals().Pending == 0 && len(e.Requests()) == 1 })
			second := x.mustSell(leadBody(2)).leadID()
			eventually(t, "the second has failed", func() bool {
				return strings.Contains(x.mustAdmin(200, "GET", "/metrics", "").body, `pingpost_webhooks_total{outcome="failed"} 1`)
			})
			y := restart(x)
			if totals := y.state.OutboxTotals(); totals.Pending != 1 {
				t.Errorf("pending webhooks: %+v", totals)
			}
			got := verifyWebhooks(t, e)
			if got["lead.posted "+first] != 1 || got["lead.posted "+second] != 1 {
				t.Errorf("got webhooks %v", got)
			}
		})
	}
}

// TestHangingEndpointDelaysNoSaleOrWebhook: while one endpoint hangs, leads are sold and another
// supplier gets its webhook. The hanging one has a limited number of attempts.
func TestHangingEndpointDelaysNoSaleOrWebhook(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	defer close(end) // ends the hanging attempts, which the stop would wait for
	hanging := dialtest.StartEndpoint(t, func(net.Conn) bool { <-end; return false })
	working := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("204 No Content", ``))
	text := strings.Replace(webhookConfigFor(hanging), `"${OTHER_KEY}", `, `"${OTHER_KEY}", webhook: {url: "http://`+working.Address+`/", secret: `+webhookSecret+`}, `, 1)
	x := startPatient(t, newTestDir(t, text))
	const leads = 60
	for n := range leads {
		x.mustSell(leadBody(n))
	}
	request(t, "POST", "http://"+x.PublicAddress()+"/api/v1/ingest", leadBody(leads, "flo_campaign_id", `"cmp_other"`, "flo_supplier_id", `"sup_other"`),
		"X-Api-Key", otherKey, "Content-Type", jsonType)
	eventually(t, "the other supplier has its webhook", func() bool { return len(working.Requests()) == 1 })
	verifyWebhooks(t, working)
	eventually(t, "the delivery is an event", func() bool { return x.state.OutboxTotals().Pending <= leads })
	if totals := x.state.OutboxTotals(); totals.Pending != leads || totals.Dead != 0 || totals.InFlight > 8 {
		t.Errorf("webhooks of the hanging endpoint: %+v", totals)
	}
}

// TestStopEndsOpenWebhookAttempt: a stop waits for the attempt and its event.
func TestStopEndsOpenWebhookAttempt(t *testing.T) {
	t.Parallel()
	e := dialtest.StartEndpoint(t, dialtest.WriteAndHang(""))
	x := start(t, newTestDir(t, webhookConfigFor(e)))
	x.mustSell(leadBody(1))
	eventually(t, "the attempt is in progress", func() bool { return len(e.Requests()) == 1 })
	x.stop()
	totals := x.state.OutboxTotals()
	due, ok := x.state.NextWebhookDueTime(x.state.SuppliersWithPendingWebhooks()[0])
	if totals.Pending != 1 || totals.InFlight != 0 || !ok || due <= x.clock.Now() {
		t.Errorf("after the stop: %+v, next attempt in the future: %v", totals, due > x.clock.Now())
	}
}
