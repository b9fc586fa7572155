package seller

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/exchange"
	"pingpost/internal/must"
	"pingpost/loadtest/refbuyer"
)

// startExchangeAndBuyer starts an exchange and a reference buyer.
func startExchangeAndBuyer(t *testing.T) (url string, buyer *refbuyer.Buyer) {
	t.Helper()
	buyer = must.Value(refbuyer.New(refbuyer.Options{Bid: refbuyer.Fixed(10_000_000), Token: "buyers-token"}))(t)
	served := make(chan error)
	go func() { served <- buyer.Serve(t.Context()) }()
	path := filepath.Join(t.TempDir(), "exchange.yaml")
	document := fmt.Sprintf(`data_dir: data
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0}
trusted_networks: [127.0.0.0/8]
suppliers:
  - id: sup_acme
    api_key: the-api-key
    ping_rate: 1000000
    ingest_rate: 1000000
    oauth_clients: [{client_id: acme, client_secret: the-secret, scopes: [ping, post]}]
buyers: [{id: buy_blue, endpoint: "http://%s", ping_rate: 1000000, auth: {bearer: buyers-token}}]
campaigns: [{id: cmp_auto, vertical: auto, method: ping_post, payout: {share: 0.8}, buyers: [{buyer: buy_blue}]}]
`, buyer.Addr())
	must.Succeed(t, os.WriteFile(path, []byte(document), 0o600))
	x := must.Value(exchange.Start(path, exchange.Options{Env: os.LookupEnv, Logger: slog.New(slog.DiscardHandler)}))(t)
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
		buyer.Close()
		must.Succeed(t, <-served)
	})
	return "http://" + x.PublicAddress(), buyer
}

// TestPingAndPostToExchange runs the two commands of the README in a row.
func TestPingAndPostToExchange(t *testing.T) {
	url, buyer := startExchangeAndBuyer(t)
	flags := " --client-id acme --client-secret the-secret --key k1 --url " + url
	ping := "ping vertical=auto state=CA zip3=941 tcpa_consent=true" + flags
	bid, stderr, err := command(t, ping, "")
	if err != nil || !strings.Contains(collapseSpaces(stderr), "bid 8.00 USD\n") {
		t.Fatalf("%v, %s", err, stderr)
	}
	if repeated, stderr, err := command(t, ping, ""); repeated != bid || err != nil || !strings.Contains(stderr, "repeated") {
		t.Errorf("%v, %s, %s", err, repeated, stderr)
	}
	post := "post - lead.first_name=Ann lead.last_name=Lee lead.email=ann@example.com lead.phone=4155550132 lead.address.zip=94105" + flags
	sale, stderr, err := command(t, post, bid)
	if err != nil || !strings.Contains(collapseSpaces(stderr), "sold 8.00 USD\n") || !strings.Contains(collapseSpaces(stderr), "buyer_id buy_blue\n") {
		t.Fatalf("%v, %s", err, stderr)
	}
	var sold struct {
		Lead string `json:"lead_id"`
	}
	if err := json.Unmarshal([]byte(sale), &sold); err != nil || sold.Lead == "" {
		t.Errorf("%s: %v", sale, err)
	}
	if repeated, _, err := command(t, post, bid); repeated != sale || err != nil {
		t.Errorf("%v, %s", err, repeated)
	}
	if _, stderr, err = command(t, strings.Replace(post, "k1", "k2", 1), bid); err == nil || !strings.Contains(stderr, "already_sold") {
		t.Errorf("%v, %s", err, stderr)
	}
	_, stderr, err = command(t, "ping --api-key the-api-key flo_campaign_id=cmp_auto flo_supplier_id=sup_acme state=CA --url "+url, "")
	if err != nil || !strings.Contains(collapseSpaces(stderr), "flo_buyer_id buy_blue, 8.00 USD") {
		t.Errorf("%v, %s", err, stderr)
	}
	_, stderr, err = command(t, "ping --api-key the-api-key flo_campaign_id=cmp_auto flo_supplier_id=sup_acme phone=4155550132 --url "+url, "")
	if err == nil || !strings.Contains(collapseSpaces(stderr), "phone contact_field_not_allowed") {
		t.Errorf("%v, %s", err, stderr)
	}
	if s := buyer.Stats(); s.Won != 1 || s.Accepted != 1 || s.Pings != 2 || s.Revenue != 10_000_000 {
		t.Errorf("counts of the buyer: %+v", s)
	}
}
