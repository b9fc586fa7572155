package exchange

import (
	"fmt"
	"strings"
	"testing"

	"pingpost/exchange/explain"
	"pingpost/loadtest/refbuyer"
)

// bidRulesConfig has an auction campaign with one buyer for each rule that can reject a lead which
// accepts the buyer's bid.
func bidRulesConfig(bidder *refbuyer.Buyer) string {
	campaign := func(kind, rules, ofBuyer string) (buyer, campaign string) {
		buyer = fmt.Sprintf(`  - {id: buy_%[1]s, endpoint: "http://%[2]s", ping_rate: 1000000, auth: {oauth: {token_url: "http://%[2]s/oauth/token", client_id: "%[3]s", client_secret: "%[4]s", scope: ping post}}%[5]s}
`, kind, bidder.Addr(), buyerClient, buyerSecret, ofBuyer)
		return buyer, fmt.Sprintf(`  - id: cmp_%[1]s
    vertical: %[1]s
    method: ping_post
    fields: [{name: make, type: string, ping: true}, {name: vehicle_count, type: integer, ping: true}]
    %[2]s
    buyers: [{buyer: buy_%[1]s}]
`, kind, rules)
	}
	listsBuyer, lists := campaign("lists", "duplicates: {window: 0s}\n    suppression: [dnc]", ", suppression: [own]")
	filterBuyer, filter := campaign("filter", "duplicates: {window: 0s}\n    filters: [{field: vehicle_count, max: 5}]", ", filters: [{field: make, absent: true}]")
	duplicateBuyer, duplicate := campaign("duplicate", "duplicates: {window: 1d, scope: buyer, fields: [phone]}", "")
	return configHead + `suppliers:
  - id: sup_acme
    api_key: "${ACME_KEY}"
    ingest_rate: 1000000
    ping_rate: 1000000
    oauth_clients: [{client_id: acme, client_secret: "` + acmeSecret + `"}]
suppression_lists:
  - {id: dnc, field: phone, file: dnc.txt}
  - {id: own, field: phone, file: own.txt}
buyers:
` + listsBuyer + filterBuyer + duplicateBuyer + `campaigns:
` + lists + filter + duplicate
}

// TestExplainNamesRuleOfAcceptedBid: a lead that accepts a bid, by a post or an ingest, and that the
// campaign or the bid's buyer rejects. Each explanation names the rule of the one that rejected it.
func TestExplainNamesRuleOfAcceptedBid(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, bidRulesConfig(startReferenceBuyer(t, "12.5")))
	p.writeFile(t, "dnc.txt", "+1"+areaCode+"0001\n+1"+areaCode+"0003\n")
	p.writeFile(t, "own.txt", "+1"+areaCode+"0002\n+1"+areaCode+"0003\n")
	x := start(t, p)
	posts := 0
	byPost := func(kind string, n int, changes string) *explain.Explanation {
		posts++
		auction := fmt.Sprint(kind, posts)
		a := x.sellerRequest("/v1/post", fmt.Sprint("post-", posts), fmt.Sprintf(
			`{"auction_id":%q,"bid_token":%q,"lead":{"lead_uuid":"u","first_name":"Ann","last_name":%q,"email":"ann%[4]d@%[5]s","phone":"+1%[6]s%04[4]d","address":{"zip":"94105"}%[7]s}}`,
			auction, x.pingForBid(kind, auction), lastName, n, mailHost, areaCode, changes))
		if a.status == 200 || a.status == 201 {
			return x.explain(a.leadID())
		}
		return x.explain(decode[struct {
			Request string `json:"request_id"`
		}](t, a).Request)
	}
	byIngest := func(kind string, n int, changes string) *explain.Explanation {
		var pairs []string
		if changes != "" {
			name, value, _ := strings.Cut(strings.TrimPrefix(changes, ","), ":")
			pairs = []string{strings.Trim(name, `"`), value}
		}
		offers := decode[struct {
			Data struct {
				Ping string `json:"ping_id"`
			}
		}](t, x.requestAvailability(`{"flo_campaign_id":"cmp_`+kind+`","flo_supplier_id":"sup_acme","state":"CA","vehicle_count":2}`))
		a := x.ingestForBuyer(offers.Data.Ping, "buy_"+kind, n, append(pairs, "flo_campaign_id", `"cmp_`+kind+`"`)...)
		return x.explain(a.leadID())
	}
	const dnc, own = "phone: is on suppression list dnc", "phone: is on suppression list own"
	for name, send := range map[string]func(kind string, n int, changes string) *explain.Explanation{"post": byPost, "ingest": byIngest} {
		first := send("duplicate", len(name)*10, "")
		if first.Buyer != "buy_duplicate" {
			t.Fatalf("%s: sold to %q: %s", name, first.Buyer, first.Why)
		}
		for _, row := range []struct {
			kind    string
			person  int
			changes string
			want    string
		}{
			{"lists", 1, "", "campaign: " + dnc},
			{"lists", 2, "", "buy_lists suppressed: " + own},
			{"lists", 3, "", "campaign: " + dnc},
			{"filter", 4, `,"vehicle_count":6`, "campaign: vehicle_count: required <= 5, got 6"},
			{"filter", 5, `,"make":"Ford"`, "buy_filter filtered: make: required no value, got Ford"},
			{"duplicate", len(name) * 10, "", "buy_duplicate duplicate: duplicate: buyer buy_duplicate already has " + first.LeadID + " of "},
		} {
			doc := send(row.kind, row.person, row.changes)
			got := ""
			if doc.Rule != nil {
				got = "campaign: " + doc.Rule.Text
			}
			for i := range doc.Candidates {
				candidate := &doc.Candidates[i]
				got += fmt.Sprintf("%s %s: %s", candidate.Buyer, candidate.Outcome, candidate.Rule.Text)
			}
			if !strings.HasPrefix(got, row.want) || doc.Status != "UNMATCHED" || len(doc.Posts) != 0 {
				t.Errorf("%s: %s\n got %s\nwant %s", name, doc.Why, got, row.want)
			}
		}
	}
}

// TestExplainNamesCapAtDecision: a buyer was capped when the lead was decided. The lead was then posted
// to a buyer that refused it, and its charge filled the campaign's cap for that time. The rule is
// the cap that was full at the decision.
func TestExplainNamesCapAtDecision(t *testing.T) {
	t.Parallel()
	refusing := startReferenceBuyer(t, "5", func(o *refbuyer.Options) { o.RejectRate = 1 })
	x := start(t, newTestDir(t, configHead+configSuppliers+`buyers:
  - {id: buy_capped, caps: [{per: total, count: 1}]}
  - {id: buy_last}
  - {id: buy_refusing, endpoint: "http://`+refusing.Addr().String()+`", auth: {oauth: {token_url: "http://`+refusing.Addr().String()+`/oauth/token", client_id: "`+buyerClient+`", client_secret: "`+buyerSecret+`", scope: ping post}}}
campaigns:
  - id: cmp
    method: waterfall
    duplicates: {window: 0s}
    caps: [{per: total, count: 3}]
    buyers: [{buyer: buy_capped, price: 5, priority: 1}, {buyer: buy_refusing, price: 5, priority: 2}, {buyer: buy_last, price: 5, priority: 3}]
`))
	for n := range 3 {
		id := x.mustSell(leadBody(n + 1)).leadID()
		if n == 0 {
			continue
		}
		doc := x.explain(id)
		const want = "cap | at most 1 leads in total | 1 used and 1 needed | cap of buyer buy_capped: required at most 1 leads in total, got 1 used and 1 needed (reconstructed) | reconstructed"
		if got := describe(rulesOf(doc)["buy_capped"]); got != want || doc.Buyer != "buy_last" {
			t.Errorf("lead %d, sold to %s:\n got %s\nwant %s", n+1, doc.Buyer, got, want)
		}
	}
}

// TestExplainDoesNotGuessErasedText: a text with contact data is erased with the person. Then a filter
// on it has an unknown value, and a failing filter on another field keeps its rule.
func TestExplainDoesNotGuessErasedText(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, configHead+configSuppliers+`buyers:
  - {id: buy_text, filters: [{field: comments, in: [good, better]}]}
  - {id: buy_both, filters: [{field: comments, not_in: [spam]}, {field: vehicles, min: 1}]}
campaigns:
  - id: cmp
    method: waterfall
    duplicates: {window: 0s}
    fields: [{name: comments, type: string}, {name: vehicles, type: integer}]
    buyers: [{buyer: buy_text, price: 5}, {buyer: buy_both, price: 5}]
`))
	id := x.ingest(leadBody(1, "comments", `"call +1`+areaCode+`0001"`, "vehicles", "0")).leadID()
	check := func(wantOfText string) {
		t.Helper()
		for buyer, want := range map[string]string{"buy_text": wantOfText, "buy_both": "vehicles: required >= 1, got 0"} {
			if rule := rulesOf(x.explain(id))[buyer]; rule == nil || rule.Text != want {
				t.Errorf("%s:\n got %s\nwant %s", buyer, describe(rule), want)
			}
		}
	}
	check("comments: required one of 2 configured values, got (masked: personal data)")
	x.mustAdmin(200, "POST", "/admin/v1/erase", `{"phone":"+1`+areaCode+`0001"}`)
	check("comments: required a condition on a text that may have contained personal data, got an unknown value")
}
