package exchange

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pingpost/internal/must"
	"pingpost/loadtest/refbuyer"
)

// Static tokens of the sandbox's suppliers, and secrets of clients: the sandbox's
// own, and one that both tenants were given.
const (
	sandSecret = "canary-client-secret-of-the-sandbox"
	twinSecret = "canary-client-secret-of-both"

	acmeToken  = "canary-static-token-of-acme"
	otherToken = "canary-static-token-of-other"
)

// seeding is a sandbox with a campaign of every method that leads go through,
// and an auction for each of two verticals.
func seeding(buyers ...*refbuyer.Buyer) string {
	text := strings.Replace(trading("ping_post", buyers...), head, head+"sandbox: true\n", 1)
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

// seed asks for leads with a token; it sends the request again after a 429.
func (r *running) seed(token, body string) *answer {
	r.t.Helper()
	var a *answer
	eventually(r.t, "the bucket has a token", func() bool {
		a = request(r.t, "POST", "http://"+r.PublicAddress()+"/v1/dev/seed", body, "Authorization", "Bearer "+token, "Content-Type", typeIsOwn)
		return a.status != 429
	})
	return a
}

// made is what a seed is answered with.
type made struct {
	Count int
	Leads []struct{ Ping, Lead map[string]any }

	Results []struct {
		ID, Status, Reason, Error string
		Buyer                     *string `json:"buyer_id"`
		Price                     struct{ Amount json.Number }
		Fields                    []struct{ Field, Code string } `json:"field_errors"`
	}
}

func (r *running) made(token, body string) (*answer, made) {
	r.t.Helper()
	a := r.seed(token, body)
	if a.status != 201 || !requestID.MatchString(a.id()) || a.header.Get("Content-Type") != typeIsOwn {
		r.t.Fatalf("%d %.500s", a.status, a.body)
	}
	return a, decode[made](r.t, a)
}

func mustJSON(t testing.TB, value any) string {
	t.Helper()
	text := must.Value(json.Marshal(value))(t)
	return string(text)
}

// TestSeededLeadsArePingedAndPosted: whoever takes the leads as they come, and
// adds what is each auction's own, gets a bid for each ping and sells each lead.
func TestSeededLeadsArePingedAndPosted(t *testing.T) {
	blue := reference(t, "12.5")
	x := start(t, newPlace(t, seeding(blue)))
	token, sold := x.token("acme", acmeSecret), int64(0)
	for _, order := range []struct{ vertical, state string }{{"auto_insurance", "CA"}, {"auto_insurance", "AE"}, {"solar", "VI"}} {
		_, run := x.made(acmeToken, fmt.Sprintf(`{"count":100,"vertical":%q,"state":%q,"seed":7}`, order.vertical, order.state))
		if len(run.Leads) != 100 || run.Results != nil {
			t.Fatalf("%d leads, %d results", len(run.Leads), len(run.Results))
		}
		for i, lead := range run.Leads {
			name := fmt.Sprintf("%s-%s-%d", order.vertical, order.state, i)
			lead.Ping["auction_id"] = name
			headers := []string{"Authorization", "Bearer " + token, "Content-Type", typeIsOwn, "Idempotency-Key", name}
			bid := request(t, "POST", "http://"+x.PublicAddress()+"/v1/ping", mustJSON(t, lead.Ping), headers...)
			post := mustJSON(t, map[string]any{"auction_id": name, "bid_token": bidToken(t, bid), "lead": lead.Lead})
			if sale := request(t, "POST", "http://"+x.PublicAddress()+"/v1/post", post, headers...); sale.status != 201 {
				t.Fatalf("%d %s to %v", sale.status, sale.body, lead.Lead)
			}
			sold++
		}
	}
	if s := blue.Stats(); s.Won != sold || s.Accepted != sold || s.ContactSeen+s.Invalid+s.DoubleSold != 0 {
		t.Errorf("the buyer of %d leads: %+v", sold, s)
	}
}

// TestSeedThroughCampaign: each lead's fate is told, the same request again makes
// no other lead, and a longer one goes on where it ended.
func TestSeedThroughCampaign(t *testing.T) {
	blue := reference(t, "12.5")
	x := start(t, newPlace(t, seeding(blue)))
	const order = `{"count":%d,"vertical":"auto_insurance","state":"OH","seed":%d,"campaign_id":%q}`
	first, run := x.made(acmeToken, fmt.Sprintf(order, 100, 5, "cmp_auto"))
	ids := map[string]bool{}
	for _, result := range run.Results {
		if result.Status != "ACCEPTED" || result.Buyer == nil || *result.Buyer != "buy_1" || result.Price.Amount != "12.5" || !strings.HasPrefix(result.ID, "lead_") {
			t.Fatalf("%+v", result)
		}
		ids[result.ID] = true
	}
	if len(run.Results) != 100 || len(ids) != 100 || x.state.LeadCount() != 100 || blue.Stats().Accepted != 100 {
		t.Errorf("%d results, %d ids, %d leads, %+v", len(run.Results), len(ids), x.state.LeadCount(), blue.Stats())
	}
	again, _ := x.made(acmeToken, fmt.Sprintf(order, 100, 5, "cmp_auto"))
	if again.body != first.body {
		t.Error("the same request was answered otherwise")
	}
	x = x.again()
	again, _ = x.made(acmeToken, fmt.Sprintf(order, 100, 5, "cmp_auto"))
	if again.body != first.body || x.state.LeadCount() != 100 {
		t.Errorf("after a restart it was answered otherwise, and there are %d leads", x.state.LeadCount())
	}
	_, longer := x.made(acmeToken, fmt.Sprintf(order, 130, 5, "cmp_auto"))
	for i, result := range longer.Results {
		if i < 100 && result.ID != run.Results[i].ID || result.Status != "ACCEPTED" {
			t.Errorf("lead %d: %+v", i, result)
		}
	}
	_, repeated := x.made(acmeToken, fmt.Sprintf(order, 100, 5, "cmp_vault"))
	_, others := x.made(otherToken, fmt.Sprintf(order, 100, 5, "cmp_vault"))
	for i := range others.Results {
		if r, o := repeated.Results[i], others.Results[i]; r.Status != "ACCEPTED" || o.Status != "UNMATCHED" || o.Reason != "duplicate" || o.Buyer != nil {
			t.Fatalf("lead %d of the first %+v, of the second %+v", i, r, o)
		}
	}
	_, boats := x.made(acmeToken, fmt.Sprintf(order, 100, 5, "cmp_boats"))
	for _, result := range boats.Results {
		if result.Error != "invalid_payload" || len(result.Fields) != 1 || result.Fields[0].Field != "boats" || result.ID != "" {
			t.Fatalf("%+v", result)
		}
	}
	if n := x.state.LeadCount(); n != 130+100+100 {
		t.Errorf("%d leads", n)
	}
	x.measures("pingpost_reservations 0")
}

// TestSeedRefusesCampaigns that are none, take nothing, or are not the caller's.
func TestSeedRefusesCampaigns(t *testing.T) {
	x := start(t, newPlace(t, seeding(reference(t, "12.5"))))
	for campaign, code := range map[string]string{"cmp_none": "unknown", "cmp_shut": "inactive"} {
		f := x.seed(acmeToken, `{"count":100,"vertical":"auto_insurance","state":"OH","campaign_id":"`+campaign+`"}`).mustFail(t, 422, "invalid_payload")
		if len(f.Fields) != 1 || f.Fields[0].Field != "campaign_id" || f.Fields[0].Code != code {
			t.Errorf("%s: %+v", campaign, f.Fields)
		}
	}
	x.seed(otherToken, `{"count":100,"vertical":"auto_insurance","state":"OH","campaign_id":"cmp_acme"}`).mustFail(t, 403, "forbidden")
	if n := x.state.LeadCount(); n != 0 {
		t.Errorf("%d leads", n)
	}
	f := x.seed(acmeToken, `{"count":"100","vertical":"auto_insurance"}`).mustFail(t, 422, "invalid_payload")
	if len(f.Fields) != 2 || f.Fields[0].Code != "wrong_type" || f.Fields[1].Code != "missing_required" {
		t.Errorf("%+v", f.Fields)
	}
}

// TestTenantsShareNothing: a sandbox beside an exchange in earnest, in one process
// and with the same names in both. What opens the one is worth nothing at the
// other, and what happens in the one is in its own log alone.
func TestTenantsShareNothing(t *testing.T) {
	blue := reference(t, "12.5")
	twins := strings.NewReplacer("oauth_clients: [", `oauth_clients: [{client_id: twin, client_secret: "`+twinSecret+`"}, `)
	sandy := strings.NewReplacer(`"${ACME_KEY}"`, `"${OTHER_KEY}"`, acmeSecret, sandSecret)
	earnest := start(t, newPlace(t, twins.Replace(trading("ping_post", blue))))
	sand := start(t, newPlace(t, twins.Replace(sandy.Replace(seeding(blue)))))
	before := described(t, earnest.data())

	// What each tenant's suppliers show, and what it opens at home and away.
	ours, theirs := earnest.token("acme", acmeSecret), sand.token("acme", sandSecret)
	bearer := func(token string) []string { return []string{"Authorization", "Bearer " + token} }
	for _, row := range []struct {
		what       string
		home, away *running
		path       string
		headers    []string
	}{
		{"an API key in earnest", earnest, sand, "/api/v1/ingest", []string{"X-Api-Key", acmeKey}},
		{"an API key in earnest", earnest, sand, "/api/v1/ping", []string{"X-Api-Key", acmeKey}},
		{"an access token in earnest", earnest, sand, "/v1/ping", bearer(ours)},
		{"an access token in earnest", earnest, sand, "/v1/post", bearer(ours)},
		{"a sandbox's API key", sand, earnest, "/api/v1/ingest", []string{"X-Api-Key", otherKey}},
		{"a sandbox's access token", sand, earnest, "/v1/ping", bearer(theirs)},
		{"a sandbox's access token", sand, earnest, "/v1/post", bearer(theirs)},
		{"an access token of a client that both know", earnest, sand, "/v1/ping", bearer(earnest.token("twin", twinSecret))},
		{"an access token of a client that both know", sand, earnest, "/v1/ping", bearer(sand.token("twin", twinSecret))},
		{"a sandbox's static token", sand, earnest, "/v1/ping", bearer(acmeToken)},
		{"a sandbox's static token", sand, earnest, "/v1/post", bearer(acmeToken)},
	} {
		ask := func(x *running) *answer {
			var a *answer
			eventually(t, "the bucket has a token", func() bool {
				a = request(t, "POST", "http://"+x.PublicAddress()+row.path, "{", append([]string{"Content-Type", typeIsOwn}, row.headers...)...)
				return a.status != 429
			})
			return a
		}
		if a := ask(row.home); a.status != 400 {
			t.Errorf("%s at %s at home: %d %s", row.what, row.path, a.status, a.body)
		}
		ask(row.away).mustFail(t, 401, "unauthorized")
	}
	for _, token := range []string{ours, "canary"} {
		sand.seed(token, `{}`).mustFail(t, 401, "unauthorized")
	}
	if sand.knows("acme", acmeSecret) || earnest.knows("acme", sandSecret) {
		t.Error("one tenant's client got a token of the other")
	}
	for _, token := range []string{theirs, acmeToken, ours} {
		earnest.seed(token, `{"count":100,"vertical":"auto_insurance","state":"CA"}`).mustFail(t, 404, "not_found")
	}

	_, run := sand.made(acmeToken, `{"count":100,"vertical":"auto_insurance","state":"CA","campaign_id":"cmp_auto"}`)
	after := described(t, earnest.data())
	if len(after) != len(before) || strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Errorf("the log in earnest has %d facts, and had %d:\n%s", len(after), len(before), strings.Join(after[len(before):], "\n"))
	}
	if earnest.state.LeadCount() != 0 || earnest.state.AuctionCount() != 0 {
		t.Errorf("%d leads and %d auctions in earnest", earnest.state.LeadCount(), earnest.state.AuctionCount())
	}
	theirLog := strings.Join(described(t, sand.data()), "\n")
	for _, result := range run.Results {
		if !strings.Contains(theirLog, result.ID) {
			t.Errorf("the sandbox's log does not have %s", result.ID)
		}
	}

	// And the reverse: a sale in earnest is in no sandbox's log, and in its own metrics alone.
	id := decode[struct{ Data struct{ ID string } }](t, earnest.sold(lead(1))).Data.ID
	earnest.measures(`pingpost_leads_total{status="ACCEPTED",reason=""} 1`)
	sand.measures(`pingpost_leads_total{status="ACCEPTED",reason=""} 100`)
	if !strings.Contains(strings.Join(described(t, earnest.data()), "\n"), id) || strings.Contains(strings.Join(described(t, sand.data()), "\n"), id) {
		t.Errorf("%s is in the wrong log", id)
	}
	if n := sand.state.LeadCount(); n != 100 {
		t.Errorf("%d leads in the sandbox", n)
	}
}
