package exchange

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pingpost/internal/must"
	"pingpost/loadtest/refbuyer"
)

// Credentials of the sandbox. The shared secret is valid in both tenants.
const (
	sandboxSecret = "canary-client-secret-of-the-sandbox"
	sharedSecret  = "canary-client-secret-of-both"

	acmeToken  = "canary-static-token-of-acme"
	otherToken = "canary-static-token-of-other"
)

// seedConfig is a sandbox with campaigns of all kinds, and with an auction for each of two
// verticals. These have the longest time that is allowed, because a seed request holds many at once.
func seedConfig(buyers ...*refbuyer.Buyer) string {
	text := strings.Replace(referenceConfig("ping_post", buyers...), configHead, configHead+"sandbox: true\n", 1)
	text = strings.Replace(text, "    oauth_clients: [{client_id: acme", `    bearer_tokens: [{token: "`+acmeToken+`", scopes: [ping, post]}]
    oauth_clients: [{client_id: acme`, 1)
	text = strings.Replace(text, "buyers:\n", `  - id: sup_other
    ping_rate: 1000000
    bearer_tokens: [{token: "`+otherToken+`", scopes: [webhook]}]
buyers:
  - {id: buy_vault}
`, 1)
	seats := text[strings.LastIndex(text, "    buyers:\n"):]
	return text + `  - id: cmp_auto
    vertical: auto_insurance
    method: ping_post
    bid_timeout: 5s
    post_reserve: 100ms
    floor: 5
    consent_required_sources: [facebook]
    unknown: keep
    duplicates: {window: 0s}
    fields:
      - {name: homeowner, type: boolean, required: true, ping: true, to: owns_home}
      - {name: vehicle_count, type: integer, required: true, min: 0, max: 20, ping: true}
      - {name: driver_age_band, type: enum, required: true, values: ["18-24", "25-34", "35-44", "45-54", "55+"], ping: true}
      - {name: currently_insured, type: boolean, required: true, ping: true}
` + seats + `  - id: cmp_solar
    vertical: solar
    method: ping_post
    bid_timeout: 5s
    post_reserve: 100ms
    duplicates: {window: 0s}
    fields:
      - {name: monthly_bill, type: integer, required: true, min: 0, max: 5000, ping: true}
      - {name: roof, type: enum, required: true, values: [asphalt, tile, metal, flat], ping: true}
` + seats + `  - {id: cmp_vault, method: waterfall, buyers: [{buyer: buy_vault, price: 3}]}
  - {id: cmp_acme, method: waterfall, suppliers: [sup_acme], buyers: [{buyer: buy_vault, price: 3}]}
  - {id: cmp_shut, method: waterfall, paused: true, buyers: [{buyer: buy_vault, price: 3}]}
  - {id: cmp_boats, method: waterfall, fields: [{name: boats, type: integer, required: true}], buyers: [{buyer: buy_vault, price: 3}]}
`
}

// seed requests leads with a token, and repeats the request after a 429.
func (r *testExchange) seed(token, body string) *answer {
	r.t.Helper()
	var a *answer
	eventually(r.t, "the rate limit allows a request", func() bool {
		a = request(r.t, "POST", "http://"+r.PublicAddress()+"/v1/dev/seed", body, "Authorization", "Bearer "+token, "Content-Type", jsonType)
		return a.status != 429
	})
	return a
}

// seedResult is the answer to a seed request.
type seedResult struct {
	Count int
	Leads []struct{ Ping, Lead map[string]any }

	Results []struct {
		ID, Status, Reason, Error string
		Buyer                     *string `json:"buyer_id"`
		Price                     struct{ Amount json.Number }
		Fields                    []struct{ Field, Code string } `json:"field_errors"`
	}
}

func (r *testExchange) mustSeed(token, body string) (*answer, seedResult) {
	r.t.Helper()
	a := r.seed(token, body)
	if a.status != 201 || !requestIDPattern.MatchString(a.requestID()) || a.header.Get("Content-Type") != jsonType {
		r.t.Fatalf("got %d %.500s, want 201", a.status, a.body)
	}
	return a, decode[seedResult](r.t, a)
}

func mustJSON(t testing.TB, value any) string {
	t.Helper()
	text := must.Value(json.Marshal(value))(t)
	return string(text)
}

// TestSeededLeadsSellByPingAndPost: with an auction id and a bid token added, each ping gets a bid
// and each lead is sold.
func TestSeededLeadsSellByPingAndPost(t *testing.T) {
	t.Parallel()
	blue := startReferenceBuyer(t, "12.5")
	x := start(t, newTestDir(t, seedConfig(blue)))
	token, sold := x.mustToken("acme", acmeSecret), int64(0)
	for _, order := range []struct{ vertical, state string }{{"auto_insurance", "CA"}, {"auto_insurance", "AE"}, {"solar", "VI"}} {
		_, run := x.mustSeed(acmeToken, fmt.Sprintf(`{"count":100,"vertical":%q,"state":%q,"seed":7}`, order.vertical, order.state))
		if len(run.Leads) != 100 || run.Results != nil {
			t.Fatalf("got %d leads and %d results, want 100 and 0", len(run.Leads), len(run.Results))
		}
		for i, lead := range run.Leads {
			name := fmt.Sprintf("%s-%s-%d", order.vertical, order.state, i)
			lead.Ping["auction_id"] = name
			headers := []string{"Authorization", "Bearer " + token, "Content-Type", jsonType, "Idempotency-Key", name}
			bid := request(t, "POST", "http://"+x.PublicAddress()+"/v1/ping", mustJSON(t, lead.Ping), headers...)
			post := mustJSON(t, map[string]any{"auction_id": name, "bid_token": bidToken(t, bid), "lead": lead.Lead})
			if sale := request(t, "POST", "http://"+x.PublicAddress()+"/v1/post", post, headers...); sale.status != 201 {
				t.Fatalf("got %d %s for %v, want 201", sale.status, sale.body, lead.Lead)
			}
			sold++
		}
	}
	if s := blue.Stats(); s.Won != sold || s.Accepted != sold || s.ContactSeen+s.Invalid+s.DoubleSold != 0 {
		t.Errorf("buyer's counters after %d sold leads: %+v", sold, s)
	}
}

// TestSeedThroughCampaignIsRepeatable: the answer has each lead's result. A repeat creates no lead,
// and a longer request adds the missing ones.
func TestSeedThroughCampaignIsRepeatable(t *testing.T) {
	t.Parallel()
	blue := startReferenceBuyer(t, "12.5")
	x := start(t, newTestDir(t, seedConfig(blue)))
	const order = `{"count":%d,"vertical":"auto_insurance","state":"OH","seed":%d,"campaign_id":%q}`
	first, run := x.mustSeed(acmeToken, fmt.Sprintf(order, 100, 5, "cmp_auto"))
	ids := map[string]bool{}
	for _, result := range run.Results {
		if result.Status != "ACCEPTED" || result.Buyer == nil || *result.Buyer != "buy_1" || result.Price.Amount != "12.5" || !strings.HasPrefix(result.ID, "lead_") {
			t.Fatalf("unexpected result: %+v", result)
		}
		ids[result.ID] = true
	}
	if len(run.Results) != 100 || len(ids) != 100 || x.state.LeadCountWithExpired() != 100 || blue.Stats().Accepted != 100 {
		t.Errorf("got %d results, %d ids, %d leads, buyer %+v; want 100 of each", len(run.Results), len(ids), x.state.LeadCountWithExpired(), blue.Stats())
	}
	again, _ := x.mustSeed(acmeToken, fmt.Sprintf(order, 100, 5, "cmp_auto"))
	if again.body != first.body {
		t.Error("a repeat has a different answer")
	}
	x = x.restart()
	again, _ = x.mustSeed(acmeToken, fmt.Sprintf(order, 100, 5, "cmp_auto"))
	if again.body != first.body || x.state.LeadCountWithExpired() != 100 {
		t.Errorf("after a restart a repeat has a different answer, or %d leads, want 100", x.state.LeadCountWithExpired())
	}
	_, longer := x.mustSeed(acmeToken, fmt.Sprintf(order, 130, 5, "cmp_auto"))
	for i, result := range longer.Results {
		if i < 100 && result.ID != run.Results[i].ID || result.Status != "ACCEPTED" {
			t.Errorf("lead %d: %+v", i, result)
		}
	}
	_, repeated := x.mustSeed(acmeToken, fmt.Sprintf(order, 100, 5, "cmp_vault"))
	_, others := x.mustSeed(otherToken, fmt.Sprintf(order, 100, 5, "cmp_vault"))
	for i := range others.Results {
		if r, o := repeated.Results[i], others.Results[i]; r.Status != "ACCEPTED" || o.Status != "UNMATCHED" || o.Reason != "duplicate" || o.Buyer != nil {
			t.Fatalf("lead %d: got %+v for the first supplier and %+v for the second, want ACCEPTED and duplicate", i, r, o)
		}
	}
	_, boats := x.mustSeed(acmeToken, fmt.Sprintf(order, 100, 5, "cmp_boats"))
	for _, result := range boats.Results {
		if result.Error != "invalid_payload" || len(result.Fields) != 1 || result.Fields[0].Field != "boats" || result.ID != "" {
			t.Fatalf("unexpected result without a required field: %+v", result)
		}
	}
	if n := x.state.LeadCountWithExpired(); n != 130+100+100 {
		t.Errorf("got %d leads, want 330", n)
	}
	x.checkMetrics("pingpost_reservations 0")
}

// TestSeedRejectsUnavailableCampaigns: unknown campaigns, paused campaigns, and campaigns of
// another supplier.
func TestSeedRejectsUnavailableCampaigns(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, seedConfig(startReferenceBuyer(t, "12.5"))))
	for campaign, code := range map[string]string{"cmp_none": "unknown", "cmp_shut": "inactive"} {
		f := x.seed(acmeToken, `{"count":100,"vertical":"auto_insurance","state":"OH","campaign_id":"`+campaign+`"}`).mustFail(t, 422, "invalid_payload")
		if len(f.Fields) != 1 || f.Fields[0].Field != "campaign_id" || f.Fields[0].Code != code {
			t.Errorf("field errors of %s: %+v", campaign, f.Fields)
		}
	}
	x.seed(otherToken, `{"count":100,"vertical":"auto_insurance","state":"OH","campaign_id":"cmp_acme"}`).mustFail(t, 403, "forbidden")
	if n := x.state.LeadCountWithExpired(); n != 0 {
		t.Errorf("got %d leads, want 0", n)
	}
	f := x.seed(acmeToken, `{"count":"100","vertical":"auto_insurance"}`).mustFail(t, 422, "invalid_payload")
	if len(f.Fields) != 2 || f.Fields[0].Code != "wrong_type" || f.Fields[1].Code != "missing_required" {
		t.Errorf("unexpected field errors: %+v", f.Fields)
	}
}

// TestSandboxAndProductionAreSeparate: a sandbox and a production exchange run in one process with
// the same names. Each rejects the other's credentials, and a log has only its own events.
func TestSandboxAndProductionAreSeparate(t *testing.T) {
	t.Parallel()
	blue := startReferenceBuyer(t, "12.5")
	withSharedClient := strings.NewReplacer("oauth_clients: [", `oauth_clients: [{client_id: twin, client_secret: "`+sharedSecret+`"}, `)
	withSandboxSecrets := strings.NewReplacer(`"${ACME_KEY}"`, `"${OTHER_KEY}"`, acmeSecret, sandboxSecret)
	production := start(t, newTestDir(t, withSharedClient.Replace(referenceConfig("ping_post", blue))))
	sandbox := start(t, newTestDir(t, withSharedClient.Replace(withSandboxSecrets.Replace(seedConfig(blue)))))
	before := logAsJSON(t, production.dataDir())

	// Each tenant's credentials at its own address and at the other one's.
	productionToken, sandboxToken := production.mustToken("acme", acmeSecret), sandbox.mustToken("acme", sandboxSecret)
	bearer := func(token string) []string { return []string{"Authorization", "Bearer " + token} }
	for _, row := range []struct {
		name       string
		home, away *testExchange
		path       string
		headers    []string
	}{
		{"an API key of production", production, sandbox, "/api/v1/ingest", []string{"X-Api-Key", acmeKey}},
		{"an API key of production", production, sandbox, "/api/v1/ping", []string{"X-Api-Key", acmeKey}},
		{"an access token of production", production, sandbox, "/v1/ping", bearer(productionToken)},
		{"an access token of production", production, sandbox, "/v1/post", bearer(productionToken)},
		{"a sandbox's API key", sandbox, production, "/api/v1/ingest", []string{"X-Api-Key", otherKey}},
		{"a sandbox's access token", sandbox, production, "/v1/ping", bearer(sandboxToken)},
		{"a sandbox's access token", sandbox, production, "/v1/post", bearer(sandboxToken)},
		{"an access token of a client in both tenants", production, sandbox, "/v1/ping", bearer(production.mustToken("twin", sharedSecret))},
		{"an access token of a client in both tenants", sandbox, production, "/v1/ping", bearer(sandbox.mustToken("twin", sharedSecret))},
		{"a sandbox's static token", sandbox, production, "/v1/ping", bearer(acmeToken)},
		{"a sandbox's static token", sandbox, production, "/v1/post", bearer(acmeToken)},
	} {
		pingOrPost := func(x *testExchange) *answer {
			var a *answer
			eventually(t, "the rate limit allows a request", func() bool {
				a = request(t, "POST", "http://"+x.PublicAddress()+row.path, "{", append([]string{"Content-Type", jsonType}, row.headers...)...)
				return a.status != 429
			})
			return a
		}
		if a := pingOrPost(row.home); a.status != 400 {
			t.Errorf("%s at %s of its own tenant: got %d %s, want 400", row.name, row.path, a.status, a.body)
		}
		pingOrPost(row.away).mustFail(t, 401, "unauthorized")
	}
	for _, token := range []string{productionToken, "canary"} {
		sandbox.seed(token, `{}`).mustFail(t, 401, "unauthorized")
	}
	if sandbox.acceptsSecret("acme", acmeSecret) || production.acceptsSecret("acme", sandboxSecret) {
		t.Error("a tenant accepts a client secret of the other one")
	}
	for _, token := range []string{sandboxToken, acmeToken, productionToken} {
		production.seed(token, `{"count":100,"vertical":"auto_insurance","state":"CA"}`).mustFail(t, 404, "not_found")
	}

	_, run := sandbox.mustSeed(acmeToken, `{"count":100,"vertical":"auto_insurance","state":"CA","campaign_id":"cmp_auto"}`)
	after := logAsJSON(t, production.dataDir())
	if len(after) != len(before) || strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Errorf("production log has %d events, want %d as before:\n%s", len(after), len(before), strings.Join(after[len(before):], "\n"))
	}
	if production.state.LeadCountWithExpired() != 0 || production.state.AuctionCountWithExpired() != 0 {
		t.Errorf("production has %d leads and %d auctions, want none", production.state.LeadCountWithExpired(), production.state.AuctionCountWithExpired())
	}
	sandboxLog := strings.Join(logAsJSON(t, sandbox.dataDir()), "\n")
	for _, result := range run.Results {
		if !strings.Contains(sandboxLog, result.ID) {
			t.Errorf("sandbox log lacks lead %s", result.ID)
		}
	}

	// A production sale appears in neither the log nor the metrics of the sandbox.
	id := decode[struct{ Data struct{ ID string } }](t, production.mustSell(leadBody(1))).Data.ID
	production.checkMetrics(`pingpost_leads_total{status="ACCEPTED",reason=""} 1`)
	sandbox.checkMetrics(`pingpost_leads_total{status="ACCEPTED",reason=""} 100`)
	if !strings.Contains(strings.Join(logAsJSON(t, production.dataDir()), "\n"), id) || strings.Contains(strings.Join(logAsJSON(t, sandbox.dataDir()), "\n"), id) {
		t.Errorf("lead %s is not in the production log alone", id)
	}
	if n := sandbox.state.LeadCountWithExpired(); n != 100 {
		t.Errorf("sandbox has %d leads, want 100", n)
	}
}
