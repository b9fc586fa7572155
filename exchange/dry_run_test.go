package exchange

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/exclusion"
	"pingpost/internal/must"
	"pingpost/loadtest/refbuyer"
)

// dryRunConfig has a campaign of each method. Buyers with an endpoint have it as test endpoint too.
func dryRunConfig(t testing.TB, refusing, high, low *refbuyer.Buyer) string {
	t.Helper()
	var buyers strings.Builder
	for id, b := range map[string]*refbuyer.Buyer{"buy_refusing": refusing, "buy_high": high, "buy_low": low} {
		fmt.Fprintf(&buyers, `  - {id: %s, endpoint: "http://127.0.0.1:9", test_endpoint: "http://%s", ping_rate: 1000000, auth: {oauth: {token_url: "http://%[2]s/oauth/token", client_id: "%[3]s", client_secret: "%[4]s", scope: ping post}}}
`, id, b.Addr(), buyerClient, buyerSecret)
	}
	const fields = `
    duplicates: {window: 1d, scope: buyer}
    fields: [{name: rooms, type: integer, min: 0, max: 9}]
    buyers:
      - {buyer: buy_state, price: 5}
      - {buyer: buy_rooms, price: 5}
      - {buyer: buy_listed, price: 5}
      - {buyer: buy_paused, price: 5}
      - {buyer: buy_capped, price: 5}
      - {buyer: buy_no_test, price: 5}
      - {buyer: buy_refusing, price: 4}
      - {buyer: buy_last, price: 4, filters: [{field: rooms, max: 8}]}
`
	return configHead + configSuppliers + `suppression_lists:
  - {id: dnc, field: phone, file: dnc.txt}
buyers:
  - {id: buy_state, states: [NV]}
  - {id: buy_rooms, filters: [{field: rooms, min: 3, max: 5}]}
  - {id: buy_listed, suppression: [dnc], filters: [{field: rooms, min: 2}]}
  - {id: buy_paused, paused: true}
  - {id: buy_capped, caps: [{per: total, count: 0}], filters: [{field: rooms, in: [7]}]}
  - {id: buy_no_test, endpoint: "http://127.0.0.1:9", ping_rate: 1000000}
  - {id: buy_last}
` + buyers.String() + `campaigns:
  - id: waterfall
    method: waterfall` + fields + `  - id: round_robin
    method: round_robin
    filters: [{field: rooms, not_in: [6]}]` + fields + `  - id: weighted
    method: weighted
    suppression: [dnc]` + fields + `  - id: auction
    vertical: auto
    method: ping_post
    fields: [{name: rooms, type: integer, min: 0, max: 9}]
    floor: 8
    duplicates: {window: 0s}
    buyers: [{buyer: buy_high}, {buyer: buy_low, filters: [{field: rooms, min: 4}]}, {buyer: buy_no_test}, {buyer: buy_refusing, states: [CA]}]
`
}

func startDryRunExchange(t *testing.T) *testExchange {
	t.Helper()
	p := newTestDir(t, dryRunConfig(t, startReferenceBuyer(t, "20", func(o *refbuyer.Options) { o.RejectRate = 1 }), startReferenceBuyer(t, "12.5"), startReferenceBuyer(t, "9")))
	p.writeFile(t, "dnc.txt", "+1"+areaCode+"0001\n")
	return start(t, p)
}

// benchResult is the answer to POST bench.
type benchResult struct {
	Status int
	Answer json.RawMessage
	Lead   *string
	DryRun *struct {
		Decision   string
		Buyer      *string `json:"buyer_id"`
		Reason     *string
		Rule       *exclusion.UnmetRule
		Candidates []struct {
			Buyer   string `json:"buyer_id"`
			Outcome string
			Asked   bool
			Rule    *exclusion.UnmetRule
		}
	} `json:"dry_run"`
}

func (r *testExchange) bench(body string) *benchResult {
	r.t.Helper()
	result := decode[benchResult](r.t, r.mustAdmin(200, "POST", "/admin/v1/bench", body))
	return &result
}

// comparableRule returns the parts of a rule that do not depend on the instant or on the time at which
// the rule was found.
func comparableRule(rule *exclusion.UnmetRule) string {
	if rule == nil {
		return "none"
	}
	actual := "null"
	if rule.Actual != nil {
		actual = *rule.Actual
	}
	return fmt.Sprintf("%s %s %s %s %s", rule.Kind, rule.Field, rule.Wanted, actual, rule.List)
}

// TestDryRunDecidesLikeTestLead: a dry run gives each buyer the outcome and the rule that the test
// lead after it has, and changes no state.
func TestDryRunDecidesLikeTestLead(t *testing.T) {
	t.Parallel()
	x := startDryRunExchange(t)
	rapid.Check(t, func(rt *rapid.T) {
		members := []string{"state", rapid.SampledFrom([]string{`"CA"`, `"NV"`, `"TX"`, ""}).Draw(rt, "state"), "flo_campaign_id", "", "flo_supplier_id", ""}
		if rooms := rapid.SampledFrom([]string{"", "0", "2", "3", "4", "6", "7", "9", "10", `"many"`}).Draw(rt, "rooms"); rooms != "" {
			members = append(members, "rooms", rooms)
		}
		lead := leadBody(rapid.IntRange(0, 2).Draw(rt, "person"), members...)
		campaign := rapid.SampledFrom([]string{"waterfall", "round_robin", "weighted", "auction"}).Draw(rt, "campaign")
		body := func(dryRun bool) string {
			return fmt.Sprintf(`{"campaign":%q,"supplier":"sup_acme","lead":%s,"dry_run":%t}`, campaign, lead, dryRun)
		}
		if rapid.Bool().Draw(rt, "sold before") {
			x.ingest(strings.Replace(lead, "{", `{"flo_campaign_id":"round_robin","flo_supplier_id":"sup_acme",`, 1)) // moves the turn
		}
		hash := x.mustAdmin(200, "GET", "/admin/v1/hash", "").body
		dry := x.bench(body(true))
		if after := x.mustAdmin(200, "GET", "/admin/v1/hash", "").body; after != hash || dry.Lead != nil {
			rt.Fatalf("the dry run changed the state from %s to %s, lead %v", hash, after, dry.Lead)
		}
		tested := x.bench(body(false))
		if dry.Status != tested.Status {
			rt.Fatalf("status %d, the test lead has %d", dry.Status, tested.Status)
		}
		if tested.Lead == nil {
			if dry.DryRun != nil || idPattern.ReplaceAllString(string(dry.Answer), "") != idPattern.ReplaceAllString(string(tested.Answer), "") {
				rt.Fatalf("refused with %s, the test lead with %s", dry.Answer, tested.Answer)
			}
			return
		}
		compareDryRun(rt, x, dry, *tested.Lead)
	})
}

func compareDryRun(rt *rapid.T, x *testExchange, dry *benchResult, leadID string) {
	doc := x.explain(leadID)
	first := doc.Buyer
	if len(doc.Posts) > 0 {
		first = doc.Posts[0].Buyer
	}
	d := dry.DryRun
	switch {
	case d.Decision == "sold" && *d.Buyer != first:
		rt.Fatalf("sold to %s, the test lead to %s", *d.Buyer, first)
	case d.Decision == "unsold" && (doc.Status != "UNMATCHED" || *d.Reason != doc.Reason):
		rt.Fatalf("unsold for %s, the test lead is %s %s", *d.Reason, doc.Status, doc.Reason)
	case comparableRule(d.Rule) != comparableRule(doc.Rule):
		rt.Fatalf("campaign's rule %s, the test lead has %s", comparableRule(d.Rule), comparableRule(doc.Rule))
	}
	tested := make(map[string]string)
	asked := make(map[string]bool)
	for i := range doc.Candidates {
		c := &doc.Candidates[i]
		tested[c.Buyer], asked[c.Buyer] = c.Outcome+" "+comparableRule(c.Rule), c.Pinged
	}
	for _, c := range d.Candidates {
		if c.Asked != asked[c.Buyer] {
			rt.Fatalf("%s would be pinged: %t, the test lead: %t", c.Buyer, c.Asked, asked[c.Buyer])
		}
		excluded := c.Outcome != "not_asked" && c.Outcome != "won"
		if got := c.Outcome + " " + comparableRule(c.Rule); excluded && got != tested[c.Buyer] {
			rt.Fatalf("%s: %s, the test lead has %s", c.Buyer, got, tested[c.Buyer])
		}
		if !excluded && c.Rule != nil {
			rt.Fatalf("%s is not excluded, but has the rule %s", c.Buyer, comparableRule(c.Rule))
		}
	}
}

// TestDryRunSendsNothing: a dry run sends no ping and no post, and no metric counts it.
func TestDryRunSendsNothing(t *testing.T) {
	t.Parallel()
	own, tests, second := newFakeBuyer(t), newFakeBuyer(t), newFakeBuyer(t)
	x := start(t, newTestDir(t, testEndpointConfig(own, tests, second)))
	lead := `"lead":` + leadBody(1, "flo_campaign_id", "", "flo_supplier_id", "")
	got := x.bench(`{"campaign":"cmp","supplier":"sup_acme",` + lead + `,"dry_run":true}`)
	if d := got.DryRun; got.Status != 201 || got.Lead != nil || d.Decision != "sold" || *d.Buyer != "buy_blue" || len(d.Candidates) != 3 {
		t.Errorf("unexpected dry run: %+v", got)
	}
	rule := got.DryRun.Candidates[1].Rule
	if text := must.Value(json.Marshal(rule))(t); string(text) != `{"kind":"test_endpoint","wanted":"a test endpoint of the buyer","actual":null,"text":"test lead: required a test endpoint of the buyer, got none"}` {
		t.Errorf("rule of buy_red: %s", text)
	}
	if n := len(own.received()) + len(tests.received()) + len(second.received()); n != 0 {
		t.Errorf("the dry run sent %d requests", n)
	}
	x.checkMetrics("pingpost_test_leads_total 0")
	for _, bid := range []string{`"flo_ping_id":"ping_1"`, `"flo_buyer_id":"buy_blue"`} {
		x.adminRequest("POST", "/admin/v1/bench", `{"campaign":"cmp","supplier":"sup_acme","lead":{`+bid+`},"dry_run":true}`).mustFail(t, 422, "invalid_payload")
	}
}

// TestBenchExampleFitsOneBuyer: the example fits a buyer's states and filters. If no lead can, the
// answer names the rules.
func TestBenchExampleFitsOneBuyer(t *testing.T) {
	t.Parallel()
	config := func(campaign string) string {
		return configHead + configSuppliers + `buyers:
  - {id: buy_far, states: [NV], filters: [{field: rooms, min: 7}]}
  - {id: buy_near, states: [CA]}
campaigns:
  - id: cmp
    method: waterfall
    fields: [{name: rooms, type: integer, min: 0, max: 9}, {name: kind, type: enum, values: [house, flat]}]
` + campaign
	}
	x := start(t, newTestDir(t, config(`    buyers: [{buyer: buy_far, price: 1}]`)))
	example := func() (answer string) {
		return strings.TrimSpace(x.mustAdmin(200, "GET", "/admin/v1/bench/example?campaign=cmp", "").body)
	}
	for name, row := range map[string]struct{ campaign, eligible, contradictions string }{
		"a buyer's states and filters":  {`    buyers: [{buyer: buy_far, price: 1}]`, `"buy_far"`, ``},
		"the second buyer":              {"    filters: [{field: rooms, max: 5}]\n    buyers: [{buyer: buy_far, price: 1}, {buyer: buy_near, price: 1}]", `"buy_near"`, ``},
		"an unusual value":              {"    filters: [{field: kind, not_in: [flat]}]\n    buyers: [{buyer: buy_near, price: 1, filters: [{field: rooms, in: [8, 9]}, {field: rooms, not_in: [9]}]}]", `"buy_near"`, ``},
		"filters contradict":            {"    filters: [{field: rooms, max: 5}]\n    buyers: [{buyer: buy_far, price: 1}]", ``, `"buyer buy_far: no value of rooms was found that passes all of these: campaign filter: <= 5; buyer filter: >= 7; field: an integer from 0 to 9"`},
		"states contradict":             {"    filters: [{field: state, in: [CA]}]\n    buyers: [{buyer: buy_far, price: 1}]", ``, `"buyer buy_far: no state passes all of these: campaign filter: one of CA; the buyer's states: one of NV"`},
		"the campaign contradicts":      {"    filters: [{field: rooms, min: 10}]\n    buyers: [{buyer: buy_near, price: 1}]", ``, `"campaign: no value of rooms was found that passes all of these: campaign filter: >= 10; field: an integer from 0 to 9"`},
		"a filter outside of an enum":   {"    buyers: [{buyer: buy_near, price: 1, filters: [{field: kind, in: [castle]}]}]", ``, `"buyer buy_near: no value of kind was found that passes all of these: buyer filter: one of castle; field: one of house, flat"`},
		"a field that must be absent":   {"    filters: [{field: rooms, absent: true}]\n    buyers: [{buyer: buy_near, price: 1}]", `"buy_near"`, ``},
		"absent against a lower bound":  {"    filters: [{field: rooms, absent: true}]\n    buyers: [{buyer: buy_far, price: 1}]", ``, `"buyer buy_far: no value of rooms was found that passes all of these: campaign filter: no value; buyer filter: >= 7; field: an integer from 0 to 9"`},
		"a certificate of a known host": {"    consent_required_sources: [facebook, google, organic, bing]\n    consent_hosts: [\"*.proof.example\"]\n    buyers: [{buyer: buy_near, price: 1}]", `"buy_near"`, ``},
	} {
		x.reloadWith(config(row.campaign))
		for range 5 { // examples are random
			body := example()
			if !strings.HasSuffix(body, fmt.Sprintf(`"eligible_buyers":[%s],"contradictions":[%s]}`, row.eligible, row.contradictions)) {
				t.Fatalf("%s: %s", name, body)
			}
			run := x.bench(strings.TrimSuffix(body, "}") + `,"dry_run":true}`)
			if sold := run.DryRun != nil && run.DryRun.Decision == "sold"; sold != (row.eligible != "") {
				t.Fatalf("%s: the dry run of %s is %+v", name, body, run.DryRun)
			}
		}
	}
}
