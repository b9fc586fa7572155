package exchange

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pingpost/internal/must"
	"pingpost/loadtest/refbuyer"
)

// Credentials of the exchange at the reference buyers.
const (
	buyerClient = "exchange/1"
	buyerSecret = "canary-secret+of the exchange"
)

// startReferenceBuyer starts a reference buyer.
func startReferenceBuyer(t testing.TB, bid string, change ...func(*refbuyer.Options)) *refbuyer.Buyer {
	t.Helper()
	price := must.Value(refbuyer.ParsePricing(bid))(t)
	options := refbuyer.Options{Bid: price, OAuth: refbuyer.OAuth{Client: buyerClient, Secret: buyerSecret}}
	for _, do := range change {
		do(&options)
	}
	b := must.Value(refbuyer.New(options))(t)
	served := make(chan error)
	go func() { served <- b.Serve(t.Context()) }()
	t.Cleanup(func() {
		b.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return b
}

// referenceConfig sells to reference buyers by the method.
func referenceConfig(method string, buyers ...*refbuyer.Buyer) string {
	var buyerLines, filterSets strings.Builder
	for i, b := range buyers {
		fmt.Fprintf(&buyerLines, `  - id: buy_%d
    endpoint: http://%s
    ping_rate: 1000000
    auth: {oauth: {token_url: "http://%[2]s/oauth/token", client_id: "%s", client_secret: "%s", scope: ping post}}
`, i+1, b.Addr(), buyerClient, buyerSecret)
		fmt.Fprintf(&filterSets, "      - {buyer: buy_%d, price: 10}\n", i+1)
	}
	return configHead + `suppliers:
  - id: sup_acme
    api_key: "${ACME_KEY}"
    ingest_rate: 1000000
    ping_rate: 1000000
    oauth_clients: [{client_id: acme, client_secret: "` + acmeSecret + `"}]
buyers:
` + buyerLines.String() + `campaigns:
  - id: cmp
    vertical: auto
    method: ` + method + `
    payout: {share: 0.8}
    duplicates: {window: 0s}
    buyers:
` + filterSets.String()
}

// TestOAuthBuyerTokenIsReusedAndRenewed: leads share a token, and a rejected token is renewed
// without the loss of a lead.
func TestOAuthBuyerTokenIsReusedAndRenewed(t *testing.T) {
	t.Parallel()
	b := startReferenceBuyer(t, "10", func(o *refbuyer.Options) { o.ExpireEarly = 1 })
	x := start(t, newTestDir(t, referenceConfig("waterfall", b)))
	sold := int64(0)
	for b.Stats().Unauthorized == 0 {
		if tokens := b.Stats().Tokens; sold > 0 && tokens != 1 || sold > 1000 {
			t.Fatalf("%d tokens for %d leads without a rejected one", tokens, sold)
		}
		x.mustSell(leadBody(int(sold))).mustHave(t, 201, `"buyer_id":"buy_1"`, `"amount":8,`)
		sold++
	}
	x.mustSell(leadBody(int(sold)))
	if s := b.Stats(); sold < 2 || s.Accepted != sold+1 || s.DoubleSold != 0 || s.Tokens != 2 || s.Unauthorized != 1 {
		t.Errorf("buyer's counters after %d leads and one more: %+v", sold, s)
	}
}

// TestOAuthBuyerSecretReplacement: without a token there is no post. A replaced secret is used at
// once and after a restart.
func TestOAuthBuyerSecretReplacement(t *testing.T) {
	t.Parallel()
	b := startReferenceBuyer(t, "10")
	x := start(t, newTestDir(t, strings.Replace(referenceConfig("waterfall", b), buyerSecret, "canary-wrong", 1)))
	if a := x.ingest(leadBody(1)); a.status != 201 || !strings.Contains(a.body, `"reason":"post_rejected"`) || b.Stats().Posts != 0 {
		t.Errorf("%d %s, %d posts", a.status, a.body, b.Stats().Posts)
	}
	if lines := x.logged.String(); !strings.Contains(lines, "returns no token") || !strings.Contains(lines, "secret=buyer/buy_1/oauth fault=credential status=401") {
		t.Error("the log lacks the reason")
	}
	value := must.Value(json.Marshal(map[string]string{"value": buyerSecret}))(t)
	x.mustAdmin(204, "PUT", "/admin/v1/secrets/buyer/buy_1/oauth", string(value))
	eventually(t, "the exchange requests a new token", func() bool { return strings.Contains(x.ingest(leadBody(2)).body, `"ACCEPTED"`) })
	x = x.restart()
	x.mustSell(leadBody(3))
	if s := b.Stats(); s.Accepted != 2 || s.Tokens != 2 {
		t.Errorf("unexpected counters of the buyer: %+v", s)
	}
}

// sellerRequest sends a request as the OAuth client of sup_acme, with an idempotency key.
func (r *testExchange) sellerRequest(path, key, body string) *answer {
	r.t.Helper()
	return request(r.t, "POST", "http://"+r.PublicAddress()+path, body,
		"Authorization", "Bearer "+r.mustToken("acme", acmeSecret), "Content-Type", jsonType, "Idempotency-Key", key)
}

// TestAuction: from a seller's ping to the highest bidder. Each repeat has the same answer after a
// restart, and the buyers' counters match.
func TestAuction(t *testing.T) {
	t.Parallel()
	low, high := startReferenceBuyer(t, "9"), startReferenceBuyer(t, "12.5")
	x := start(t, newTestDir(t, referenceConfig("ping_post", low, high)))
	const ping = `{"auction_id":"theirs-1","vertical":"auto","state":"CA","zip3":"941","tcpa_consent":true}`
	bid := x.sellerRequest("/v1/ping", "k1", ping)
	result := decode[struct {
		Auction string `json:"auction_id"`
		Bid     struct {
			Amount json.Number `json:"amount"`
			Token  string      `json:"bid_token"`
		} `json:"bid"`
	}](t, bid)
	if bid.status != 200 || result.Auction != "theirs-1" || result.Bid.Amount != "10" {
		t.Fatalf("ping: got %d %s", bid.status, bid.body)
	}
	post := fmt.Sprintf(`{"auction_id":"theirs-1","bid_token":%q,"lead":{"lead_uuid":"u1","first_name":"Ann","last_name":%q,"email":"ann@%s","phone":"+1%s0001","address":{"zip":"94105"}}}`,
		result.Bid.Token, lastName, mailHost, areaCode)
	sale := x.sellerRequest("/v1/post", "k1", post)
	if sale.status != 201 || !strings.Contains(sale.body, `"buyer_id":"buy_2"`) || !strings.Contains(sale.body, `"price":{"amount":10,"currency":"USD"}`) {
		t.Fatalf("post: got %d %s", sale.status, sale.body)
	}
	offers := x.requestAvailability(`{"flo_campaign_id":"cmp","flo_supplier_id":"sup_acme","state":"CA"}`, "Idempotency-Key", "k1")
	if !strings.Contains(offers.body, `"buyers":[{"buyer_id":"buy_2","amount":10,`) {
		t.Errorf("availability request: got %d %s", offers.status, offers.body)
	}
	checkReplays := func(x *testExchange) {
		t.Helper()
		x.sellerRequest("/v1/ping", "k1", ping).mustBeReplayOf(t, bid)
		x.sellerRequest("/v1/post", "k1", post).mustBeReplayOf(t, sale)
		x.requestAvailability(`{"flo_campaign_id":"cmp","flo_supplier_id":"sup_acme","state":"CA"}`, "Idempotency-Key", "k1").mustBeReplayOf(t, offers)
		x.sellerRequest("/v1/post", "k2", post).mustFail(t, 409, "already_sold")
		x.sellerRequest("/v1/ping", "k2", ping).mustFail(t, 409, "auction_exists")
	}
	checkReplays(x)
	checkReplays(start(t, x.copyFiles(t)))
	x = x.restart()
	checkReplays(x)
	x.mustSnapshot()
	checkReplays(start(t, x.copyFiles(t)))
	s, lost := high.Stats(), low.Stats()
	if s.Won != 1 || s.Accepted != 1 || s.Revenue != 12_500_000 || s.Invalid+s.DoubleSold+s.ContactSeen != 0 || s.Pings != 2 || s.Tokens != 1 {
		t.Errorf("winner's counters: %+v", s)
	}
	if lost.Pings != 2 || lost.Posts != 0 || lost.ContactSeen != 0 {
		t.Errorf("loser's counters: %+v", lost)
	}
	x.checkMetrics(`pingpost_requests_total{path="/v1/ping",status="200"} 1`, `pingpost_requests_total{path="/v1/post",status="409"} 1`, "pingpost_reservations 0")
}

// requestAvailability asks for offers with sup_acme's API key.
func (r *testExchange) requestAvailability(body string, headers ...string) *answer {
	r.t.Helper()
	headers = append([]string{"X-Api-Key", acmeKey, "Content-Type", jsonType}, headers...)
	return request(r.t, "POST", "http://"+r.PublicAddress()+"/api/v1/ping", body, headers...)
}
