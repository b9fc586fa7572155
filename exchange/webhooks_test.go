package exchange

import (
	"encoding/json"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"pingpost/api/contract"
	"pingpost/internal/must"
	"pingpost/outbound/dial/dialtest"
)

// hookSecret and hookQuery are canaries too: no line and no answer may have them.
const (
	hookSecret = "whsec_canarycanarycanarycanary"
	hookQuery  = "?token=canary-of-the-hook"
)

// telling is the recorded exchange, whose supplier acme hears of its leads at an
// address.
func telling(e *dialtest.Endpoint) string {
	return strings.Replace(recorded, `"${ACME_KEY}", `, `"${ACME_KEY}", webhook: {url: "http://`+e.Address+`/hooks`+hookQuery+`", secret: `+hookSecret+`}, `, 1)
}

// hook is what a webhook says, as far as these tests look.
type hook struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Data struct {
		Lead   string `json:"lead_id"`
		Reason string `json:"reason"`
	} `json:"data"`
}

// heard verifies all that came to an endpoint, and counts it by type and lead.
func heard(t *testing.T, e *dialtest.Endpoint) map[string]int {
	t.Helper()
	verifier := must.Value(standardwebhooks.NewWebhook(hookSecret))(t)
	all := map[string]int{}
	for _, r := range e.Requests() {
		var said hook
		if err := verifier.Verify([]byte(r.Body), r.Header); err != nil {
			t.Errorf("not verified: %v", err)
		}
		if err := json.Unmarshal([]byte(r.Body), &said); err != nil || said.ID != r.Header.Get("webhook-id") {
			t.Errorf("%v: %s", err, r.Raw)
		}
		if err := contract.Public().CheckWebhookRequest(said.Type, &contract.Request{Header: r.Header, Body: []byte(r.Body)}); err != nil {
			t.Error(err)
		}
		all[said.Type+" "+said.Data.Lead+said.Data.Reason]++
	}
	return all
}

// TestOwedOverARestart: what was not delivered is owed still, whether the exchange
// stopped in order or was gone at once; and what was, is not sent again.
func TestOwedOverARestart(t *testing.T) {
	for name, again := range map[string]func(*running) *running{
		"stopped": (*running).again,
		"killed":  func(x *running) *running { return start(t, x.copy(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			e := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("200 OK", ``), dialtest.ReplyWithAnswer("500 Internal Server Error", ``))
			x := start(t, newPlace(t, telling(e)))
			first := x.sold(lead(1)).leadID()
			eventually(t, "the first is delivered", func() bool { return x.state.OutboxTotals().Pending == 0 && len(e.Requests()) == 1 })
			second := x.sold(lead(2)).leadID()
			eventually(t, "the second has failed", func() bool {
				return strings.Contains(x.must(200, "GET", "/metrics", "").body, `pingpost_webhooks_total{outcome="failed"} 1`)
			})
			y := again(x)
			if owed := y.state.OutboxTotals(); owed.Pending != 1 {
				t.Errorf("owed: %+v", owed)
			}
			got := heard(t, e)
			if got["lead.posted "+first] != 1 || got["lead.posted "+second] != 1 {
				t.Errorf("heard %v", got)
			}
		})
	}
}

// TestNoRequestWaits: while an endpoint answers nothing at all, leads are sold and
// another supplier hears of its own; the one has no more attempts under way than it
// may.
func TestNoRequestWaits(t *testing.T) {
	mute, sound := dialtest.StartEndpoint(t, dialtest.WriteAndHang("")), dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("204 No Content", ``))
	text := strings.Replace(telling(mute), `"${OTHER_KEY}", `, `"${OTHER_KEY}", webhook: {url: "http://`+sound.Address+`/", secret: `+hookSecret+`}, `, 1)
	x := start(t, newPlace(t, text))
	const leads = 60
	for n := range leads {
		x.sold(lead(n))
	}
	request(t, "POST", "http://"+x.PublicAddress()+"/api/v1/ingest", lead(leads, "flo_campaign_id", `"cmp_other"`, "flo_supplier_id", `"sup_other"`),
		"X-Api-Key", otherKey, "Content-Type", typeIsOwn)
	eventually(t, "the other supplier has heard", func() bool { return len(sound.Requests()) == 1 })
	heard(t, sound)
	eventually(t, "that is a fact", func() bool { return x.state.OutboxTotals().Pending <= leads })
	if totals := x.state.OutboxTotals(); totals.Pending != leads || totals.Dead != 0 || totals.InFlight > 8 {
		t.Errorf("owed to the one that answers nothing: %+v", totals)
	}
}

// TestStopWhileOneHangs: an attempt under way comes to its end and to its fact.
func TestStopWhileOneHangs(t *testing.T) {
	e := dialtest.StartEndpoint(t, dialtest.WriteAndHang(""))
	x := start(t, newPlace(t, telling(e)))
	x.sold(lead(1))
	eventually(t, "the attempt is under way", func() bool { return len(e.Requests()) == 1 })
	x.stop()
	totals := x.state.OutboxTotals()
	due, ok := x.state.NextWebhookDueTime(x.state.SuppliersWithPendingWebhooks()[0])
	if totals.Pending != 1 || totals.InFlight != 0 || !ok || due <= x.clock.Now() {
		t.Errorf("when it has stopped: %+v, due in the future: %v", totals, due > x.clock.Now())
	}
}
