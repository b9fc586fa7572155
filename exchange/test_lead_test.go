package exchange

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"pingpost/outbound/dial/dialtest"
)

// trial is an exchange in earnest whose first buyer takes tests at an endpoint of
// their own, and whose second takes none.
func trial(own, tests, second *taker) string {
	text := delivered(own, second)
	text = strings.Replace(text, `endpoint: "`+own.URL+`"`, `endpoint: "`+own.URL+`", test_endpoint: "`+tests.URL+`/try"`, 1)
	return strings.Replace(text, "campaigns:", "  - {id: buy_vault}\ncampaigns:", 1) + "      - {buyer: buy_vault, price: 3}\n"
}

var asTest = []string{"X-Pingpost-Test", "1"}

// funds is what the first buyer has.
func (r *running) funds() string {
	r.t.Helper()
	return strings.TrimSpace(r.must(200, "GET", "/admin/v1/buyers/buy_blue/funds", "").body)
}

func (r *running) wantFunds(want string) {
	r.t.Helper()
	if got := r.funds(); got != want {
		r.t.Errorf("the first buyer has %s, want %s", got, want)
	}
}

// TestTestLeadsInProduction: tests go to test endpoints and are explained, leads in
// earnest find caps and money as they would have, over a restart too.
func TestTestLeadsInProduction(t *testing.T) {
	own, tests, second := newTaker(t), newTaker(t), newTaker(t)
	x := start(t, newPlace(t, trial(own, tests, second)))
	for range 5 { // the cap of the first buyer is 3, and they are one person
		a := x.sold(lead(1), asTest...)
		if !strings.Contains(a.body, `"buyer_id":"buy_blue"`) || a.header.Get("X-Pingpost-Test") != "1" {
			t.Errorf("%s %v", a.body, a.header)
		}
	}
	x.wantFunds(`{"balance":1000,"held":0}`)
	for i := range 4 {
		want := `"buyer_id":"buy_blue"`
		if i == 3 {
			want = `"buyer_id":"buy_red"`
		}
		if a := x.sold(lead(10 + i)); !strings.Contains(a.body, want) || a.header.Get("X-Pingpost-Test") != "" {
			t.Errorf("in earnest: %s %v", a.body, a.header)
		}
		x.sold(lead(1), asTest...)
	}
	x.wantFunds(`{"balance":985,"held":0}`)
	for _, seen := range tests.got() {
		if seen.path != "POST /try/v1/post" || seen.header.Get("X-Pingpost-Test") != "1" || seen.header.Get("Authorization") != "Bearer "+bearer {
			t.Errorf("%+v", seen)
		}
	}
	for _, seen := range append(own.got(), second.got()...) {
		if seen.header.Get("X-Pingpost-Test") != "" {
			t.Errorf("%+v", seen)
		}
	}
	if o, n, s := len(own.got()), len(tests.got()), len(second.got()); o != 3 || n != 9 || s != 1 {
		t.Errorf("%d at its own, %d tests, %d at the second", o, n, s)
	}

	tests.mu.Lock()
	tests.plan = []func(http.ResponseWriter, *http.Request){says(422, `{"error":"no"}`)}
	tests.mu.Unlock()
	a := x.sold(lead(1), asTest...)
	told := x.explain(a.leadID())
	if !told.Test || told.Buyer != "buy_vault" || !strings.HasPrefix(told.Why, "A test: ") {
		t.Errorf("%+v", told)
	}
	for _, c := range told.Candidates {
		if want := map[string]string{"buy_blue": "post_rejected", "buy_red": "filtered", "buy_vault": "won"}[c.Buyer]; c.Outcome != want {
			t.Errorf("%s came to %s, want %s", c.Buyer, c.Outcome, want)
		}
	}
	if told := x.explain(x.sold(lead(50)).leadID()); told.Test || strings.Contains(told.Why, "A test") {
		t.Errorf("in earnest: %+v", told)
	}
	x.measures("pingpost_test_leads_total 10", `pingpost_leads_total{status="ACCEPTED",reason=""} 5`, `pingpost_post_attempts_total{verdict="accepted"} 5`)
	hash := x.must(200, "GET", "/admin/v1/hash", "").body
	x = x.again()
	if again := x.must(200, "GET", "/admin/v1/hash", "").body; again != hash || x.funds() != `{"balance":985,"held":0}` {
		t.Errorf("after a restart %s, before %s; %s", again, hash, x.funds())
	}
}

// TestTestPostsOutliveACrash: what a crash leaves of a test's delivery goes on as a
// test's, at the test endpoint, with its header.
func TestTestPostsOutliveACrash(t *testing.T) {
	own, tests, second := newTaker(t), newTaker(t, hangs, says(500, ""), says(201, `{"lead_id":"theirs"}`)), newTaker(t)
	x := start(t, newPlace(t, trial(own, tests, second)))
	done := make(chan *answer, 1)
	go func() { done <- x.ingest(lead(1), append([]string{"Idempotency-Key", "k"}, asTest...)...) }()
	eventually(t, "the test is on its way", func() bool { return len(tests.got()) == 1 })
	y := start(t, x.copy(t))
	open := y.must(200, "GET", "/admin/v1/deliveries", "").body
	if !strings.Contains(open, `"total":1`) || !strings.Contains(open, `"test":true`) {
		t.Error(open)
	}
	y.settles()
	for _, seen := range tests.got() {
		if seen.header.Get("X-Pingpost-Test") != "1" || seen.key != tests.got()[0].key {
			t.Errorf("%+v", seen)
		}
	}
	if len(own.got()) != 0 || y.funds() != `{"balance":1000,"held":0}` {
		t.Errorf("%d leads in earnest, %s", len(own.got()), y.funds())
	}
	a := y.ingest(lead(1), append([]string{"Idempotency-Key", "k"}, asTest...)...)
	if a.status != 201 || a.header.Get("Idempotent-Replayed") != "true" || !y.explain(a.leadID()).Test {
		t.Errorf("%d %s %v", a.status, a.body, a.header)
	}
	tests.CloseClientConnections()
	<-done
}

// TestSuppliersThatOnlyTest need no header.
func TestSuppliersThatOnlyTest(t *testing.T) {
	own, tests, second := newTaker(t), newTaker(t), newTaker(t)
	text := strings.Replace(trial(own, tests, second), `api_key: "${ACME_KEY}"`, `test: true, api_key: "${ACME_KEY}"`, 1)
	x := start(t, newPlace(t, text))
	for _, header := range [][]string{nil, asTest, {"X-Pingpost-Test", "0"}} {
		if a := x.sold(lead(1), header...); a.header.Get("X-Pingpost-Test") != "1" || !x.explain(a.leadID()).Test {
			t.Errorf("%v: %s %v", header, a.body, a.header)
		}
	}
	x.ingest(lead(1), "X-Pingpost-Test", "yes").mustFail(t, 422, "invalid_payload")
	if len(own.got()) != 0 || len(tests.got()) != 3 {
		t.Errorf("%d in earnest, %d tests", len(own.got()), len(tests.got()))
	}
}

// TestSupplierHearsOfItsTests: a supplier hears of each of its leads, signed, and of no other
// supplier's. Webhooks of sold and unsold tests say that they are tests.
func TestSupplierHearsOfItsTests(t *testing.T) {
	e := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("204 No Content", ``))
	x := start(t, newPlace(t, telling(e)))
	want := map[string]int{}
	for i, header := range [][]string{nil, asTest} {
		sold, unsold := x.sold(lead(10+i), header...), x.ingest(lead(20+i, "state", `"TX"`), header...)
		want["lead.posted "+sold.leadID()]++
		want["lead.unmatched "+unsold.leadID()+"no_state_match"]++
	}
	request(t, "POST", "http://"+x.PublicAddress()+"/api/v1/ingest", lead(3, "flo_campaign_id", `"cmp_other"`, "flo_supplier_id", `"sup_other"`),
		"X-Api-Key", otherKey, "Content-Type", typeIsOwn)
	eventually(t, "four events are delivered", func() bool {
		return strings.Contains(x.must(200, "GET", "/metrics", "").body, `pingpost_webhooks_total{outcome="delivered"} 4`)
	})
	if got := heard(t, e); !maps.Equal(got, want) {
		t.Errorf("heard %v, want %v", got, want)
	}
	for _, r := range e.Requests() {
		_, rest, _ := strings.Cut(r.Body, `"lead_id":"`)
		id, _, _ := strings.Cut(rest, `"`)
		if told := strings.HasSuffix(r.Body, `,"test":true}}`); told != x.explain(id).Test {
			t.Errorf("a test: %v, by its webhook: %s", !told, r.Body)
		}
	}
	x.measures("pingpost_webhooks_pending 0", "pingpost_webhooks_dead 0", "pingpost_returns_waiting 0", "pingpost_webhooks_dropped_total 0", `pingpost_webhooks_off{supplier="sup_acme"} 0`)
}
