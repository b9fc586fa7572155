// Package adapters tests that each example is a valid configuration and works with a server
// that behaves like the buyer's endpoint.
package adapters_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"pingpost/config"
	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/internal/strictjson"
	"pingpost/outbound/buyer"
)

const secret = "s3cret-of-the-example"

func environment(name string) (string, bool) {
	if name == "ACME_API_KEY" {
		return "key-of-acme", true
	}
	return secret, strings.HasSuffix(name, "_KEY")
}

// loadedExample is an example with its one buyer and its one campaign.
type loadedExample struct {
	campaign *market.Campaign
	buyer    *market.Buyer
	lead     market.Lead
}

func loadExample(t *testing.T, file, lead string) *loadedExample {
	t.Helper()
	exchange := must.Value(must.Value(config.Load(file, environment))(t).Compile())(t)
	if strings.Contains(string(exchange.Canonical), secret) {
		t.Error("the canonical document contains the secret")
	}
	o := &loadedExample{}
	for _, o.campaign = range exchange.Catalog.Campaigns {
		o.buyer = o.campaign.FilterSets[0].Buyer
	}
	o.setLead(t, lead)
	return o
}

func (o *loadedExample) setLead(t *testing.T, lead string) {
	t.Helper()
	var body strictjson.Object
	must.Succeed(t, body.Parse([]byte(lead)))
	o.lead.Reset(o.campaign.Mapping.SlotCount())
	if failed := o.campaign.Mapping.FillLeadFromIngest(&o.lead, body.Members(), nil); failed != nil {
		t.Fatal(failed)
	}
}

var (
	auction = market.AuctionID(market.ComposeID(1_770_000_000_000, [10]byte{1}))
	leadID  = market.LeadID(market.ComposeID(1_770_000_000_000, [10]byte{2}))
	window  = time.Date(2026, 3, 2, 12, 0, 5, 0, time.UTC)
)

// endpointAt returns the endpoint with the server's address and its own path.
func endpointAt(e *market.OutboundEndpoint, server *httptest.Server) market.OutboundEndpoint {
	moved := *e
	_, path, _ := strings.Cut(strings.TrimPrefix(e.URL, "https://"), "/")
	moved.URL = server.URL + "/" + path
	return moved
}

func newClient(t *testing.T) *buyer.Client {
	t.Helper()
	c := buyer.New(buyer.Options{
		Secrets:         func(string) (string, bool) { return secret, true },
		TrustedNetworks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	})
	t.Cleanup(c.Close)
	return c
}

func (o *loadedExample) ping(t *testing.T, c *buyer.Client, server *httptest.Server) market.BuyerPingResult {
	t.Helper()
	body, ok := o.buyer.Ping.Adapter.AppendPing(nil, o.campaign.Mapping, &o.lead, market.BuyerPingMetadata{
		Auction: auction, Vertical: o.campaign.Vertical, ExpiresAt: window.UnixNano(),
	})
	if !ok {
		t.Fatal("the adapter renders no ping")
	}
	return c.Ping(&market.BuyerPingRequest{
		Endpoint: endpointAt(o.buyer.Ping, server), IdempotencyKey: "ping-1", Body: body, Auction: auction.AppendAsText(nil),
		Deadline: time.Now().Add(20 * time.Second),
	})
}

func (o *loadedExample) post(t *testing.T, c *buyer.Client, server *httptest.Server, bid market.Bid) market.BuyerPostResult {
	t.Helper()
	body, ok := o.buyer.Post.Adapter.AppendPost(nil, o.campaign.Mapping, &o.lead, market.BuyerPostMetadata{
		Auction: auction, Lead: leadID, Token: bid.Token, Vertical: o.campaign.Vertical,
		Price: bid.Amount, Currency: o.campaign.Currency,
	})
	if !ok {
		t.Fatal("the adapter renders no post")
	}
	return c.Post(&market.BuyerPostRequest{
		Endpoint: endpointAt(o.buyer.Post, server), IdempotencyKey: "post-1", Body: body, Deadline: time.Now().Add(20 * time.Second),
	})
}

// startEndpoint starts an example's buyer, which answers a request and its body.
func startEndpoint(t *testing.T, answer func(r *http.Request, body string) (status int, kind, text string)) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		status, kind, text := answer(r, string(body))
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	return server
}
