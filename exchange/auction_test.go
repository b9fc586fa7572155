package exchange

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pingpost/internal/must"
	"pingpost/loadtest/refbuyer"
)

// Two reference buyers bid here, each behind OAuth.
const (
	buyerClient = "exchange/1"
	buyerSecret = "canary-secret+of the exchange"
)

// reference is a reference buyer that listens.
func reference(t testing.TB, bid string, change ...func(*refbuyer.Options)) *refbuyer.Buyer {
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

// trading is an exchange that sells to reference buyers, by a method.
func trading(method string, buyers ...*refbuyer.Buyer) string {
	var them, seats strings.Builder
	for i, b := range buyers {
		fmt.Fprintf(&them, `  - id: buy_%d
    endpoint: http://%s
    ping_rate: 1000000
    auth: {oauth: {token_url: "http://%[2]s/oauth/token", client_id: "%s", client_secret: "%s", scope: ping post}}
`, i+1, b.Addr(), buyerClient, buyerSecret)
		fmt.Fprintf(&seats, "      - {buyer: buy_%d, price: 10}\n", i+1)
	}
	return head + `suppliers:
  - id: sup_acme
    api_key: "${ACME_KEY}"
    ingest_rate: 1000000
    ping_rate: 1000000
    oauth_clients: [{client_id: acme, client_secret: "` + acmeSecret + `"}]
buyers:
` + them.String() + `campaigns:
  - id: cmp
    vertical: auto
    method: ` + method + `
    payout: {share: 0.8}
    duplicates: {window: 0s}
    buyers:
` + seats.String()
}

// TestPostToAnOAuthBuyer: the exchange changes its client's secret for a token,
// keeps that over leads, and gets another where it is refused: no lead is lost
// to that.
func TestPostToAnOAuthBuyer(t *testing.T) {
	b := reference(t, "10", func(o *refbuyer.Options) { o.ExpireEarly = 1 })
	x := start(t, newPlace(t, trading("waterfall", b)))
	sold := int64(0)
	for b.Stats().Unauthorized == 0 {
		if tokens := b.Stats().Tokens; sold > 0 && tokens != 1 || sold > 1000 {
			t.Fatalf("%d tokens for %d leads, and none refused", tokens, sold)
		}
		x.sold(lead(int(sold))).mustHave(t, 201, `"buyer_id":"buy_1"`, `"amount":8,`)
		sold++
	}
	x.sold(lead(int(sold)))
	if s := b.Stats(); sold < 2 || s.Accepted != sold+1 || s.DoubleSold != 0 || s.Tokens != 2 || s.Unauthorized != 1 {
		t.Errorf("%d leads and one more: %+v", sold, s)
	}
}

// TestSecretOfAnOAuthBuyer: without a token nothing is posted, and a secret that
// is replaced counts from then on, also over a restart.
func TestSecretOfAnOAuthBuyer(t *testing.T) {
	b := reference(t, "10")
	before := len(spoken.String())
	x := start(t, newPlace(t, strings.Replace(trading("waterfall", b), buyerSecret, "canary-wrong", 1)))
	if a := x.ingest(lead(1)); a.status != 201 || !strings.Contains(a.body, `"reason":"post_rejected"`) || b.Stats().Posts != 0 {
		t.Errorf("%d %s, %d posts", a.status, a.body, b.Stats().Posts)
	}
	if said := spoken.String()[before:]; !strings.Contains(said, "returns no token") || !strings.Contains(said, "secret=buyer/buy_1/oauth fault=credential status=401") {
		t.Error("the log does not tell why")
	}
	value := must.Value(json.Marshal(map[string]string{"value": buyerSecret}))(t)
	x.must(204, "PUT", "/admin/v1/secrets/buyer/buy_1/oauth", string(value))
	eventually(t, "a token is asked for anew", func() bool { return strings.Contains(x.ingest(lead(2)).body, `"ACCEPTED"`) })
	x = x.again()
	x.sold(lead(3))
	if s := b.Stats(); s.Accepted != 2 || s.Tokens != 2 {
		t.Errorf("%+v", s)
	}
}

// seller makes a request as one; it is repeated under its key.
func (r *running) seller(path, key, body string) *answer {
	r.t.Helper()
	return request(r.t, "POST", "http://"+r.PublicAddress()+path, body,
		"Authorization", "Bearer "+r.token("acme", acmeSecret), "Content-Type", typeIsOwn, "Idempotency-Key", key)
}

// TestAuction: from a seller's ping to the buyer that bid most, each answer the
// same after a restart, and what the buyers count is what the exchange says.
func TestAuction(t *testing.T) {
	low, high := reference(t, "9"), reference(t, "12.5")
	x := start(t, newPlace(t, trading("ping_post", low, high)))
	const ping = `{"auction_id":"theirs-1","vertical":"auto","state":"CA","zip3":"941","tcpa_consent":true}`
	bid := x.seller("/v1/ping", "k1", ping)
	said := decode[struct {
		Auction string `json:"auction_id"`
		Bid     struct {
			Amount json.Number `json:"amount"`
			Token  string      `json:"bid_token"`
		} `json:"bid"`
	}](t, bid)
	if bid.status != 200 || said.Auction != "theirs-1" || said.Bid.Amount != "10" {
		t.Fatalf("%d %s", bid.status, bid.body)
	}
	post := fmt.Sprintf(`{"auction_id":"theirs-1","bid_token":%q,"lead":{"lead_uuid":"u1","first_name":"Ann","last_name":%q,"email":"ann@%s","phone":"+1%s0001","address":{"zip":"94105"}}}`,
		said.Bid.Token, lastName, mailHost, areaCode)
	sale := x.seller("/v1/post", "k1", post)
	if sale.status != 201 || !strings.Contains(sale.body, `"buyer_id":"buy_2"`) || !strings.Contains(sale.body, `"price":{"amount":10,"currency":"USD"}`) {
		t.Fatalf("%d %s", sale.status, sale.body)
	}
	question := x.ask(`{"flo_campaign_id":"cmp","flo_supplier_id":"sup_acme","state":"CA"}`, "Idempotency-Key", "k1")
	if !strings.Contains(question.body, `"buyers":[{"buyer_id":"buy_2","amount":10,`) {
		t.Errorf("%d %s", question.status, question.body)
	}
	again := func(x *running) {
		t.Helper()
		x.seller("/v1/ping", "k1", ping).isReplayOf(t, bid)
		x.seller("/v1/post", "k1", post).isReplayOf(t, sale)
		x.ask(`{"flo_campaign_id":"cmp","flo_supplier_id":"sup_acme","state":"CA"}`, "Idempotency-Key", "k1").isReplayOf(t, question)
		x.seller("/v1/post", "k2", post).mustFail(t, 409, "already_sold")
		x.seller("/v1/ping", "k2", ping).mustFail(t, 409, "auction_exists")
	}
	again(x)
	again(start(t, x.copy(t)))
	x = x.again()
	again(x)
	x.snapshot()
	again(start(t, x.copy(t)))
	s, lost := high.Stats(), low.Stats()
	if s.Won != 1 || s.Accepted != 1 || s.Revenue != 12_500_000 || s.Invalid+s.DoubleSold+s.ContactSeen != 0 || s.Pings != 2 || s.Tokens != 1 {
		t.Errorf("the winner: %+v", s)
	}
	if lost.Pings != 2 || lost.Posts != 0 || lost.ContactSeen != 0 {
		t.Errorf("the other: %+v", lost)
	}
	x.measures(`pingpost_requests_total{path="/v1/ping",status="200"} 1`, `pingpost_requests_total{path="/v1/post",status="409"} 1`, "pingpost_reservations 0")
}

// ask asks who would buy, under acme's key.
func (r *running) ask(body string, headers ...string) *answer {
	r.t.Helper()
	headers = append([]string{"X-Api-Key", acmeKey, "Content-Type", typeIsOwn}, headers...)
	return request(r.t, "POST", "http://"+r.PublicAddress()+"/api/v1/ping", body, headers...)
}
