package exchange

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pingpost/api/contract"
	"pingpost/internal/must"
	"pingpost/server/instructions"
)

// instructionCampaigns are campaigns whose samples are hard to make up, each with a buyer that
// accepts only some leads.
const instructionCampaigns = `
  - id: cmp_plain
    method: waterfall
    duplicates: {window: 0s}
    buyers: [{buyer: buy_blue, price: 5}]
  - id: cmp_strict
    vertical: home_services
    method: waterfall
    unknown: reject
    duplicates: {fields: [phone], window: 7d}
    consent_required_sources: [facebook, search, partner, email]
    consent_hosts: ["*.proof.example", cert.example]
    fields:
      - {name: postal, type: zip, to: zip, required: true}
      - {name: city, required: true}
      - {name: project, type: enum, values: [roof, windows, "it's a secret"], required: true, ping: true}
      - {name: budget, type: integer, min: 500, max: 90000, required: true}
      - {name: own, type: boolean, required: true, coerce: true}
      - {name: note, type: string, default: none}
      - {name: moved, type: date}
    filters: [{field: budget, min: 1000}, {field: own, in: [true]}]
    buyers: [{buyer: buy_blue, price: 5, states: [NV], filters: [{field: project, in: ["it's a secret"]}, {field: budget, min: 20000, max: 30000}]}]
  - id: cmp_auction
    vertical: auto_insurance
    sub_vertical: new cars
    method: ping_post
    floor: 1
    duplicates: {window: 0s}
    fields:
      - {name: vehicle_count, type: integer, min: 1, max: 20, ping: true, required: true}
      - {name: currently_insured, type: boolean, ping: true}
    buyers: [{buyer: buy_bids, filters: [{field: vehicle_count, min: 2}]}]
`

// startWithInstructionCampaigns starts an exchange whose buyer of auctions bids on each ping.
func startWithInstructionCampaigns(t *testing.T, head string) *testExchange {
	t.Helper()
	bidder := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/v1/post") {
			w.WriteHeader(http.StatusCreated)
			must.Value(w.Write([]byte(`{"lead_id":"theirs"}`)))(t)
			return
		}
		var ping struct {
			Auction string `json:"auction_id"`
		}
		must.Succeed(t, json.NewDecoder(r.Body).Decode(&ping))
		must.Value(w.Write([]byte(`{"auction_id":"` + ping.Auction + `","bid":{"amount":9,"currency":"USD","bid_token":"b1","valid_until":"2099-01-01T00:00:00Z"}}`)))(t)
	}))
	t.Cleanup(bidder.Close)
	return start(t, newTestDir(t, head+strings.Replace(configSuppliers, `sup_acme, `, `sup_acme, oauth_clients: [{client_id: acme, client_secret: acme-client-secret-0123456789, scopes: [ping, post]}], `, 1)+`buyers:
  - {id: buy_blue, states: [CA, NV]}
  - {id: buy_bids, endpoint: "`+bidder.URL+`", test_endpoint: "`+bidder.URL+`"}
campaigns:`+instructionCampaigns))
}

// instructionsFor returns the instructions of sup_acme for a campaign.
func (r *testExchange) instructionsFor(campaign string) *instructions.Document {
	r.t.Helper()
	d := new(instructions.Document)
	must.Succeed(r.t, json.Unmarshal([]byte(r.mustAdmin(200, "GET", "/admin/v1/campaigns/"+campaign+"/instructions?supplier=sup_acme", "").body), d))
	return d
}

// sendSample sends a sample request as the supplier would: with its values in the placeholders.
func (r *testExchange) sendSample(s *instructions.SampleRequest, values ...string) *answer {
	r.t.Helper()
	values = append(values, instructions.PlaceholderAPIKey, acmeKey)
	fill := strings.NewReplacer(values...).Replace
	headers := make([]string, 0, 2*len(s.Headers))
	for _, h := range s.Headers {
		headers = append(headers, http.CanonicalHeaderKey(h.Name), fill(h.Value))
	}
	return request(r.t, s.Method, s.URL, fill(s.Body), headers...)
}

// TestSampleRequestsAreAccepted sends the samples of each campaign to the exchange that wrote them.
func TestSampleRequestsAreAccepted(t *testing.T) {
	r := startWithInstructionCampaigns(t, configHead)
	for _, campaign := range []string{"cmp_plain", "cmp_strict", "cmp_auction"} {
		d := r.instructionsFor(campaign)
		if d.Selectors[0].Name != "campaign_id" || d.Selectors[1].Name != "supplier_id" || strings.Contains(d.Requests[0].Body, "flo_") {
			t.Errorf("%s: the sample names the ids %s and %s: %s", campaign, d.Selectors[0].Name, d.Selectors[1].Name, d.Requests[0].Body)
		}
		if !d.SampleFits || d.BaseURL != "http://"+r.PublicAddress() || d.BaseURLSet {
			t.Errorf("%s: sample fits: %t, base %s (configured: %t)", campaign, d.SampleFits, d.BaseURL, d.BaseURLSet)
		}
		a := r.sendSample(&d.Requests[0])
		a.mustHave(t, 201, `"status":"ACCEPTED"`)
		if a.header.Get("X-Pingpost-Test") != "1" {
			t.Errorf("%s: the sample is no test lead", campaign)
		}
		var lead struct {
			Data struct{ ID string } `json:"data"`
		}
		must.Succeed(t, json.Unmarshal([]byte(a.body), &lead))
		status := d.FindRequest("/api/v1/leads/{id}")
		status.URL = strings.Replace(status.URL, instructions.PlaceholderLead, lead.Data.ID, 1)
		r.sendSample(status).mustHave(t, 200, `"id":"`+lead.Data.ID+`"`, `"status":"ACCEPTED"`)
	}
}

// TestSamplesOfAuction sends the samples of both ways to ping, with the values that each answer gives.
func TestSamplesOfAuction(t *testing.T) {
	r := startWithInstructionCampaigns(t, configHead)
	d := r.instructionsFor("cmp_auction")
	var offers struct {
		Data struct {
			Ping   string `json:"ping_id"`
			Buyers []struct {
				ID string `json:"buyer_id"`
			} `json:"buyers"`
		} `json:"data"`
	}
	must.Succeed(t, json.Unmarshal([]byte(r.sendSample(d.FindRequest("/api/v1/ping")).body), &offers))
	if len(offers.Data.Buyers) != 1 {
		t.Fatalf("got %+v, want one bid", offers)
	}
	r.sendSample(&d.Requests[3], instructions.PlaceholderPing, offers.Data.Ping, instructions.PlaceholderBuyer, offers.Data.Buyers[0].ID).mustHave(t, 201, `"status":"ACCEPTED"`)

	var access struct {
		Token string `json:"access_token"`
	}
	must.Succeed(t, json.Unmarshal([]byte(r.sendSample(d.FindRequest("/oauth/token"), "YOUR_CLIENT_ID", "acme", "YOUR_CLIENT_SECRET", "acme-client-secret-0123456789").body), &access))
	var bid struct {
		Bid struct {
			Token string `json:"bid_token"`
		} `json:"bid"`
	}
	must.Succeed(t, json.Unmarshal([]byte(r.sendSample(d.FindRequest("/v1/ping"), instructions.PlaceholderToken, access.Token).body), &bid))
	r.sendSample(d.FindRequest("/v1/post"), instructions.PlaceholderToken, access.Token, instructions.PlaceholderBid, bid.Bid.Token).mustHave(t, 201, `"status":"ACCEPTED"`)
}

// TestSampleAnswersMatchTheContract checks the sample requests and answers against the OpenAPI document.
func TestSampleAnswersMatchTheContract(t *testing.T) {
	r := startWithInstructionCampaigns(t, configHead)
	for _, campaign := range []string{"cmp_plain", "cmp_strict", "cmp_auction"} {
		d := r.instructionsFor(campaign)
		if len(d.Answers) != 4 {
			t.Errorf("%s: %d answers", campaign, len(d.Answers))
		}
		header := http.Header{"X-Api-Key": {"k"}, "Content-Type": {jsonType}}
		for _, a := range d.Answers {
			var body struct {
				RequestID string `json:"request_id"`
			}
			must.Succeed(t, json.Unmarshal([]byte(a.Body), &body))
			id := "req_01kc8z3n5w9x4m7q2t6v8y0b1d"
			if body.RequestID != "" {
				id = body.RequestID
			}
			answered := http.Header{"Content-Type": {jsonType}, "X-Request-Id": {id}, "X-Ratelimit-Limit": {"1"}, "X-Ratelimit-Remaining": {"1"}, "X-Ratelimit-Reset": {"1"}}
			sent := &contract.Request{Method: "POST", Path: "/api/v1/ingest", Header: header, Body: []byte(d.Requests[0].Body)}
			if err := contract.Public().CheckTraffic(sent, &contract.Answer{Status: a.Status, Header: answered, Body: []byte(a.Body)}); err != nil {
				t.Errorf("%s, %s: %v", campaign, a.Title, err)
			}
		}
		if rejected := d.Answers[3].Body; !strings.Contains(rejected, `"missing_required"`) || !strings.Contains(rejected, `"invalid_format"`) {
			t.Errorf("%s: rejected answer: %s", campaign, rejected)
		}
	}
}

// TestInstructionLink follows a link without a credential, until it ends.
func TestInstructionLink(t *testing.T) {
	r := startWithInstructionCampaigns(t, strings.Replace(configHead, "listen:", "limits: {documents: 1000}\nlisten:", 1))
	newLink := func(body string) string {
		var link struct {
			URL     string `json:"url"`
			Expires string `json:"expires_at"`
		}
		must.Succeed(t, json.Unmarshal([]byte(r.mustAdmin(201, "POST", "/admin/v1/campaigns/cmp_strict/instructions/link", body).body), &link))
		return link.URL
	}
	link := newLink(`{"supplier":"sup_acme","expires_in":"7d"}`)
	if !strings.HasPrefix(link, "http://"+r.PublicAddress()+"/instructions/") {
		t.Fatalf("the link is %s", link)
	}
	page := request(t, "GET", link, "")
	page.mustHave(t, 200, "Posting instructions: cmp_strict for sup_acme", "it&#39;s a secret", "?format=pdf", "The link to this page works until ", `href="http://`+r.PublicAddress()+`/docs/supplier"`)
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Cache-Control": "private, no-store", "X-Robots-Tag": "noindex, nofollow",
		"Referrer-Policy": "no-referrer", "Content-Security-Policy": instructions.PagePolicy,
	} {
		if got := page.header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, other := range []string{"sup_other", "buy_blue", "<script"} {
		if strings.Contains(page.body, other) {
			t.Errorf("the page contains %s", other)
		}
	}
	if a := request(t, "GET", link+"?format=pdf", ""); a.status != 200 || !strings.HasPrefix(a.body, "%PDF-1.") {
		t.Errorf("PDF: got %d %.20q", a.status, a.body)
	}
	request(t, "GET", link+"?format=md", "").mustHave(t, 200, "## Fields", "| `budget` | integer | yes |")
	request(t, "GET", link+"?format=json", "").mustFail(t, 422, "invalid_payload")
	request(t, "GET", link+"?more=1", "").mustFail(t, 422, "invalid_payload")

	forged := link[:len(link)-1] + map[bool]string{true: "B", false: "A"}[strings.HasSuffix(link, "A")]
	for name, wrong := range map[string]string{"forged": forged, "cut": link[:len(link)-3], "short": "http://" + r.PublicAddress() + "/instructions/x"} {
		if a := request(t, "GET", wrong, ""); a.status != 404 || !strings.Contains(a.body, "This link does not work") {
			t.Errorf("%s link: got %d %s", name, a.status, a.body)
		}
	}
	r.mustAdmin(204, "DELETE", "/admin/v1/suppliers/sup_acme/instructions/links", "")
	r = r.restart()
	link = strings.Replace(link, link[len("http://"):strings.Index(link, "/instructions/")], r.PublicAddress(), 1)
	request(t, "GET", link, "").mustHave(t, 410, "This link has ended")
	if again := newLink(`{"supplier":"sup_acme"}`); request(t, "GET", again, "").status != 200 {
		t.Error("a link made after the revocation does not work")
	}
	if names := r.mustAdmin(200, "GET", "/admin/v1/secrets", "").body; strings.Contains(names, "instructions/") {
		t.Errorf("the generation of links is listed as a secret: %s", names)
	}
	r.mustAdmin(404, "PUT", "/admin/v1/secrets/instructions/sup_acme", `{"value":"00"}`)
}

// TestUnreadableRevocationRefusesLinks: links stay revoked when the record of the revocation cannot be
// decrypted. A new revocation repairs it.
func TestUnreadableRevocationRefusesLinks(t *testing.T) {
	r := start(t, newTestDir(t, strings.Replace(baseConfig, "listen:", "limits: {documents: 1000}\nlisten:", 1)))
	const at = "/admin/v1/campaigns/cmp/instructions/link"
	newLink := func() string {
		return decode[struct{ URL string }](t, r.mustAdmin(201, "POST", at, `{"supplier":"sup_acme"}`)).URL
	}
	revoked := newLink()
	r.mustAdmin(204, "DELETE", "/admin/v1/suppliers/sup_acme/instructions/links", "")
	valid := newLink()
	for _, damaged := range [][]byte{[]byte("damaged"), r.Seal("instructions/sup_acme", "no generation")} {
		must.Succeed(t, r.engine.Load().AsOperator("test").SetOutgoingSecret("instructions/sup_acme", damaged))
		for name, link := range map[string]string{"revoked": revoked, "valid": valid} {
			if a := request(t, "GET", link, ""); a.status != 410 {
				t.Errorf("the %s link: got %d, want 410", name, a.status)
			}
		}
		r.adminRequest("POST", at, `{"supplier":"sup_acme"}`).mustFail(t, 503, "unavailable")
	}
	r.mustAdmin(204, "DELETE", "/admin/v1/suppliers/sup_acme/instructions/links", "")
	if a := request(t, "GET", newLink(), ""); a.status != 200 {
		t.Errorf("a link after a new revocation: got %d, want 200", a.status)
	}
}

func TestInvalidInstructionRequests(t *testing.T) {
	r := start(t, newTestDir(t, strings.Replace(baseConfig, "listen:", "public_url: https://leads.example.com/x/\nlisten:", 1)))
	for _, row := range []struct {
		method, path, body string
		status             int
		field              string
	}{
		{"GET", "/admin/v1/campaigns/cmp/instructions", "", 422, "supplier"},
		{"GET", "/admin/v1/campaigns/cmp/instructions?supplier=sup_none", "", 422, "supplier"},
		{"GET", "/admin/v1/campaigns/cmp/instructions?supplier=sup_acme&format=doc", "", 422, "format"},
		{"GET", "/admin/v1/campaigns/cmp_none/instructions?supplier=sup_acme", "", 404, ""},
		{"GET", "/admin/v1/campaigns/cmp_other/instructions?supplier=sup_acme", "", 422, "supplier"},
		{"POST", "/admin/v1/campaigns/cmp/instructions/link", `{"supplier":"sup_acme","expires_in":"100d"}`, 422, "expires_in"},
		{"POST", "/admin/v1/campaigns/cmp/instructions/link", `{"supplier":"sup_acme","expires_in":"soon"}`, 422, "expires_in"},
		{"POST", "/admin/v1/campaigns/cmp_other/instructions/link", `{"supplier":"sup_acme"}`, 422, "supplier"},
		{"DELETE", "/admin/v1/suppliers/sup_none/instructions/links", "", 404, ""},
	} {
		a := r.adminRequest(row.method, row.path, row.body)
		if a.status != row.status || row.field != "" && !strings.Contains(a.body, `"field":"`+row.field+`"`) {
			t.Errorf("%s %s %s: got %d %s, want %d %s", row.method, row.path, row.body, a.status, a.body, row.status, row.field)
		}
	}
	r.mustAdmin(201, "POST", "/admin/v1/campaigns/cmp/instructions/link", `{"supplier":"sup_acme"}`).mustHave(t, 201, `"url":"https://leads.example.com/x/instructions/`)
}
