package exchange

import (
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"pingpost/outbound/dial/dialtest"
)

// testEndpointConfig is a production exchange. Its first buyer has a test endpoint, its second one
// has none.
func testEndpointConfig(own, tests, second *fakeBuyer) string {
	text := deliveryConfig(own, second)
	text = strings.Replace(text, `endpoint: "`+own.URL+`"`, `endpoint: "`+own.URL+`", test_endpoint: "`+tests.URL+`/try"`, 1)
	return strings.Replace(text, "campaigns:", "  - {id: buy_vault}\ncampaigns:", 1) + "      - {buyer: buy_vault, price: 3}\n"
}

var testHeader = []string{"X-Pingpost-Test", "1"}

// blueFunds returns the funds of buy_blue.
func (r *testExchange) blueFunds() string {
	r.t.Helper()
	return strings.TrimSpace(r.mustAdmin(200, "GET", "/admin/v1/buyers/buy_blue/funds", "").body)
}

func (r *testExchange) checkBlueFunds(want string) {
	r.t.Helper()
	if got := r.blueFunds(); got != want {
		r.t.Errorf("funds of buy_blue are %s, want %s", got, want)
	}
}

// TestTestLeadsInProduction: test leads go to test endpoints and have explanations. They change no
// cap and no funds, also after a restart.
func TestTestLeadsInProduction(t *testing.T) {
	t.Parallel()
	own, tests, second := newFakeBuyer(t), newFakeBuyer(t), newFakeBuyer(t)
	x := start(t, newTestDir(t, testEndpointConfig(own, tests, second)))
	for range 5 { // more than buy_blue's cap of 3, with the same person
		a := x.mustSell(leadBody(1), testHeader...)
		if !strings.Contains(a.body, `"buyer_id":"buy_blue"`) || a.header.Get("X-Pingpost-Test") != "1" {
			t.Errorf("unexpected answer to a test lead: %s %v", a.body, a.header)
		}
	}
	x.checkBlueFunds(`{"balance":1000,"held":0,"currency":"USD"}`)
	for i := range 4 {
		want := `"buyer_id":"buy_blue"`
		if i == 3 {
			want = `"buyer_id":"buy_red"`
		}
		if a := x.mustSell(leadBody(10 + i)); !strings.Contains(a.body, want) || a.header.Get("X-Pingpost-Test") != "" {
			t.Errorf("production lead: %s %v", a.body, a.header)
		}
		x.mustSell(leadBody(1), testHeader...)
	}
	x.checkBlueFunds(`{"balance":985,"held":0,"currency":"USD"}`)
	for _, post := range tests.received() {
		if post.path != "POST /try/v1/post" || post.header.Get("X-Pingpost-Test") != "1" || post.header.Get("Authorization") != "Bearer "+blueToken {
			t.Errorf("unexpected post to the test endpoint: %+v", post)
		}
	}
	for _, post := range append(own.received(), second.received()...) {
		if post.header.Get("X-Pingpost-Test") != "" {
			t.Errorf("unexpected post to a production endpoint: %+v", post)
		}
	}
	if o, n, s := len(own.received()), len(tests.received()), len(second.received()); o != 3 || n != 9 || s != 1 {
		t.Errorf("got %d posts to the endpoint, %d to the test endpoint, %d to the second buyer, want 3, 9, 1", o, n, s)
	}

	tests.mu.Lock()
	tests.replies = []func(http.ResponseWriter, *http.Request){reply(422, `{"error":"no"}`)}
	tests.mu.Unlock()
	a := x.mustSell(leadBody(1), testHeader...)
	explanation := x.explain(a.leadID())
	if !explanation.Test || explanation.Buyer != "buy_vault" || !strings.HasPrefix(explanation.Why, "A test: ") {
		t.Errorf("unexpected explanation of a test lead: %+v", explanation)
	}
	for _, c := range explanation.Candidates {
		if want := map[string]string{"buy_blue": "post_rejected", "buy_red": "filtered", "buy_vault": "won"}[c.Buyer]; c.Outcome != want {
			t.Errorf("candidate %s: got %s, want %s", c.Buyer, c.Outcome, want)
		}
	}
	if explanation := x.explain(x.mustSell(leadBody(50)).leadID()); explanation.Test || strings.Contains(explanation.Why, "A test") {
		t.Errorf("explanation of a production lead: %+v", explanation)
	}
	x.checkMetrics("pingpost_test_leads_total 10", `pingpost_leads_total{status="ACCEPTED",reason=""} 5`, `pingpost_post_attempts_total{verdict="accepted"} 5`)
	hash := x.mustAdmin(200, "GET", "/admin/v1/hash", "").body
	x = x.restart()
	if again := x.mustAdmin(200, "GET", "/admin/v1/hash", "").body; again != hash || x.blueFunds() != `{"balance":985,"held":0,"currency":"USD"}` {
		t.Errorf("state hash after a restart %s, before %s; funds %s", again, hash, x.blueFunds())
	}
}

// TestStartFinishesTestPostAfterCrash: at the test endpoint and with the test header.
func TestStartFinishesTestPostAfterCrash(t *testing.T) {
	t.Parallel()
	checked := make(chan struct{})
	check := sync.OnceFunc(func() { close(checked) })
	defer check()
	fail := func(w http.ResponseWriter, r *http.Request) {
		<-checked // the delivery must still be open when the test reads it
		reply(500, "")(w, r)
	}
	own, tests, second := newFakeBuyer(t), newFakeBuyer(t, hang, fail, reply(201, `{"lead_id":"theirs"}`)), newFakeBuyer(t)
	x := start(t, newTestDir(t, testEndpointConfig(own, tests, second)))
	done := make(chan *answer, 1)
	go func() { done <- x.ingest(leadBody(1), append([]string{"Idempotency-Key", "k"}, testHeader...)...) }()
	eventually(t, "the test post is in progress", func() bool { return len(tests.received()) == 1 })
	y := start(t, x.copyFiles(t))
	open := y.mustAdmin(200, "GET", "/admin/v1/deliveries", "").body
	if !strings.Contains(open, `"total":1`) || !strings.Contains(open, `"test":true`) {
		t.Errorf("want one open test delivery, got %v", open)
	}
	check()
	y.waitForDeliveries()
	for _, post := range tests.received() {
		if post.header.Get("X-Pingpost-Test") != "1" || post.key != tests.received()[0].key {
			t.Errorf("unexpected post to the test endpoint: %+v", post)
		}
	}
	if len(own.received()) != 0 || y.blueFunds() != `{"balance":1000,"held":0,"currency":"USD"}` {
		t.Errorf("%d posts to the production endpoint, funds %s", len(own.received()), y.blueFunds())
	}
	a := y.ingest(leadBody(1), append([]string{"Idempotency-Key", "k"}, testHeader...)...)
	if a.status != 201 || a.header.Get("Idempotent-Replayed") != "true" || !y.explain(a.leadID()).Test {
		t.Errorf("repeat: got %d %s %v", a.status, a.body, a.header)
	}
	tests.CloseClientConnections()
	<-done
}

func TestTestSupplierNeedsNoHeader(t *testing.T) {
	t.Parallel()
	own, tests, second := newFakeBuyer(t), newFakeBuyer(t), newFakeBuyer(t)
	text := strings.Replace(testEndpointConfig(own, tests, second), `api_key: "${ACME_KEY}"`, `test: true, api_key: "${ACME_KEY}"`, 1)
	x := start(t, newTestDir(t, text))
	for _, header := range [][]string{nil, testHeader, {"X-Pingpost-Test", "0"}} {
		if a := x.mustSell(leadBody(1), header...); a.header.Get("X-Pingpost-Test") != "1" || !x.explain(a.leadID()).Test {
			t.Errorf("unexpected answer with the header %v: %s %v", header, a.body, a.header)
		}
	}
	x.ingest(leadBody(1), "X-Pingpost-Test", "yes").mustFail(t, 422, "invalid_payload")
	if len(own.received()) != 0 || len(tests.received()) != 3 {
		t.Errorf("%d posts to the production endpoint and %d to the test endpoint, want 0 and 3", len(own.received()), len(tests.received()))
	}
}

// TestWebhooksOfTestLeads: a supplier gets signed webhooks of its own leads only. Those of test
// leads say so.
func TestWebhooksOfTestLeads(t *testing.T) {
	t.Parallel()
	e := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("204 No Content", ``))
	x := startPatient(t, newTestDir(t, webhookConfigFor(e)))
	want := map[string]int{}
	for i, header := range [][]string{nil, testHeader} {
		sold, unsold := x.mustSell(leadBody(10+i), header...), x.ingest(leadBody(20+i, "state", `"TX"`), header...)
		want["lead.posted "+sold.leadID()]++
		want["lead.unmatched "+unsold.leadID()+"no_state_match"]++
	}
	request(t, "POST", "http://"+x.PublicAddress()+"/api/v1/ingest", leadBody(3, "flo_campaign_id", `"cmp_other"`, "flo_supplier_id", `"sup_other"`),
		"X-Api-Key", otherKey, "Content-Type", jsonType)
	eventually(t, "four webhooks are delivered", func() bool {
		return strings.Contains(x.mustAdmin(200, "GET", "/metrics", "").body, `pingpost_webhooks_total{outcome="delivered"} 4`)
	})
	if got := verifyWebhooks(t, e); !maps.Equal(got, want) {
		t.Errorf("got webhooks %v, want %v", got, want)
	}
	for _, r := range e.Requests() {
		_, rest, _ := strings.Cut(r.Body, `"lead_id":"`)
		id, _, _ := strings.Cut(rest, `"`)
		if isTest := strings.HasSuffix(r.Body, `,"test":true}}`); isTest != x.explain(id).Test {
			t.Errorf("test lead %v, webhook: %s", !isTest, r.Body)
		}
	}
	x.checkMetrics("pingpost_webhooks_pending 0", "pingpost_webhooks_dead 0", "pingpost_returns_waiting 0", "pingpost_webhooks_dropped_total 0", `pingpost_webhooks_off{supplier="sup_acme"} 0`)
}
