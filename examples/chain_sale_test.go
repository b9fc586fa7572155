package examples_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"pingpost/engine/market"
	"pingpost/exchange/explain"
	"pingpost/internal/must"
	"pingpost/loadtest/refbuyer"
)

// The buyer's price and the payout of each exchange: 0.9, then 0.8 of its price, each rounded
// down to the millionth.
const (
	buyerPrice     market.Money = 12_345_679
	backPayout     market.Money = 11_111_111
	supplierPayout market.Money = 8_888_888
)

// checkSale checks that both exchanges explain the sale of the buyer's one lead, with amounts
// that add up along the chain.
func (c *chain) checkSale(lead string) {
	c.t.Helper()
	leads := c.buyer.Leads()
	if len(leads) != 1 {
		c.t.Fatalf("the buyer has %d leads", len(leads))
	}
	front, back := explainLead(c.t, c.front, lead), explainLead(c.t, c.back, leads[0].LeadUUID)
	c.checkSellerAuction(&front, &back)
	for _, explanation := range []*explain.Explanation{&front, &back} {
		if explanation.Status != "ACCEPTED" || explanation.Delivery != "delivered" || explanation.Price == nil {
			c.t.Fatalf("%+v", explanation)
		}
	}
	for _, amount := range []struct {
		name      string
		got, want market.Money
	}{
		{"the buyer owes", c.buyer.Stats().Revenue, buyerPrice},
		{"the back's price", market.Money(back.Price.Amount), buyerPrice},
		{"the back's payout", market.Money(back.Payout.Amount), backPayout},
		{"the front's price", market.Money(front.Price.Amount), backPayout},
		{"the front's payout", market.Money(front.Payout.Amount), supplierPayout},
		{"payout and both margins", market.Money(front.Payout.Amount + front.Margin.Amount + back.Margin.Amount), buyerPrice},
	} {
		if amount.got != amount.want {
			c.t.Errorf("%s: %v, want %v", amount.name, amount.got, amount.want)
		}
	}
	if id := front.Posts[0].Settlements[0].BuyerLead; id != leads[0].LeadID {
		c.t.Errorf("the front has the buyer's lead id %s, but the buyer has %s", id, leads[0].LeadID)
	}
	if back.SellerID != lead || back.Auction == nil || back.Auction.Hops != 1 {
		c.t.Errorf("the back has the lead as %s, by the ping %+v", back.SellerID, back.Auction)
	}
	if front.Fields["vehicle_count"] == nil || string(front.Fields["vehicle_count"]) != string(back.Fields["vehicle_count"]) {
		c.t.Errorf("the front's vehicles are %s, the back's %s", front.Fields["vehicle_count"], back.Fields["vehicle_count"])
	}
}

// checkSellerAuction checks that the back exchange finds the auction by the id of its seller,
// the front exchange.
func (c *chain) checkSellerAuction(front, back *explain.Explanation) {
	c.t.Helper()
	var explanation explain.Explanation
	decode(c.t, string(must.Value(c.back.ExplainBySellersAuctionID("", front.AuctionID))(c.t)), &explanation)
	if explanation.SellerID != front.AuctionID || explanation.AuctionID != back.AuctionID || len(explanation.Leads) != 1 || explanation.Leads[0].ID != back.ID {
		c.t.Errorf("auction %s is explained as %s, with %d leads", front.AuctionID, explanation.AuctionID, len(explanation.Leads))
	}
}

// checkHops checks that one ping passed each proxy, with its number of hops.
func (c *chain) checkHops() {
	c.t.Helper()
	between, _, _, _ := c.between.recorded()
	before, _, _, _ := c.beforeBuyer.recorded()
	if !slices.Equal(between, []string{"1"}) || !slices.Equal(before, []string{"2"}) {
		c.t.Errorf("hops of the pings between the exchanges: %q; to the buyer: %q", between, before)
	}
}

// TestChainSellsByPingAndPost: repeats get the same bytes and reach neither the back nor the buyer.
func TestChainSellsByPingAndPost(t *testing.T) {
	c := startChain(t, refbuyer.Options{Bid: refbuyer.Fixed(buyerPrice)})
	pinged, bid := c.mustPing()
	if bid.Bid.Amount != supplierPayout {
		t.Fatalf("%+v", pinged)
	}
	posted := c.sendAsSupplier("/v1/post", "k-post", bid.postBody())
	var sale postAnswer
	if decode(t, posted.body, &sale); posted.status != 201 || sale.Price.Amount != supplierPayout || sale.LeadID != c.buyer.Leads()[0].LeadID {
		t.Fatalf("%+v", posted)
	}
	c.checkSale(sale.ID)
	c.checkHops()

	before := c.buyer.Stats()
	for _, pair := range []struct{ first, repeat answer }{
		{pinged, c.sendAsSupplier("/v1/ping", "k-ping", pingBody)},
		{posted, c.sendAsSupplier("/v1/post", "k-post", bid.postBody())},
	} {
		if pair.repeat.body != pair.first.body || pair.repeat.status != pair.first.status || !pair.repeat.replayed {
			t.Errorf("%+v, and repeated %+v", pair.first, pair.repeat)
		}
	}
	if other := c.sendAsSupplier("/v1/post", "k-other", bid.postBody()); other.status != 409 || !strings.Contains(other.body, "already_sold") {
		t.Errorf("%+v", other)
	}
	c.checkHops()
	if after := c.buyer.Stats(); after != before {
		t.Errorf("a repeat reached the buyer: %+v, before %+v", after, before)
	}
}

func TestChainSellsByIngest(t *testing.T) {
	c := startChain(t, refbuyer.Options{Bid: refbuyer.Fixed(buyerPrice)})
	first := c.ingest("k")
	var ingested struct {
		Data struct {
			ID     string `json:"id"`
			Status string `json:"status"`
			Buyer  string `json:"buyer_id"`
		} `json:"data"`
	}
	if decode(t, first.body, &ingested); ingested.Data.Status != "ACCEPTED" || ingested.Data.Buyer != "buy_back" {
		t.Fatalf("%+v", first)
	}
	c.checkSale(ingested.Data.ID)
	c.checkHops()
	if repeat := c.ingest("k"); repeat.body != first.body || !repeat.replayed {
		t.Errorf("%+v, and repeated %+v", first, repeat)
	}
	if s := c.buyer.Stats(); s.Pings != 1 || s.Posts != 1 || s.DoubleSold != 0 || s.ContactSeen != 0 {
		t.Errorf("%+v", s)
	}
}

// TestChainReturnsRefusal: the buyer's refusal returns through both exchanges and is free. A
// repeat gets the same answer.
func TestChainReturnsRefusal(t *testing.T) {
	c := startChain(t, refbuyer.Options{Bid: refbuyer.Fixed(buyerPrice), RejectRate: 1})
	_, bid := c.mustPing()
	posted := c.sendAsSupplier("/v1/post", "k-post", bid.postBody())
	if posted.status != 422 || !strings.Contains(posted.body, `"error":"post_rejected"`) {
		t.Errorf("%+v", posted)
	}
	if repeat := c.sendAsSupplier("/v1/post", "k-post", bid.postBody()); repeat.body != posted.body || !repeat.replayed {
		t.Errorf("%+v, and repeated %+v", posted, repeat)
	}
	if sent := c.ingest("k"); sent.status != 201 || !strings.Contains(sent.body, `"reason":"post_rejected"`) {
		t.Errorf("%+v", sent)
	}
	if _, _, _, posts := c.beforeBuyer.recorded(); posts != 2 {
		t.Errorf("the buyer saw %d posts, want one for each lead", posts)
	}
	if s := c.buyer.Stats(); s.Accepted != 0 || s.Rejected != 2 || s.Revenue != 0 {
		t.Errorf("%+v", s)
	}
}

func TestChainReturnsNoBid(t *testing.T) {
	c := startChain(t, refbuyer.Options{})
	var none pingAnswer
	if decode(t, c.sendAsSupplier("/v1/ping", "k", pingBody).body, &none); none.Bid != nil || none.Reason != "no_bid" {
		t.Errorf("%+v", none)
	}
	if sent := c.ingest("k"); sent.status != 201 || !strings.Contains(sent.body, `"reason":"no_bid"`) {
		t.Errorf("%+v", sent)
	}
}

// TestChainEndsLoop makes the front exchange the back one's buyer. After three exchanges the
// next one rejects the ping as a loop, and all others answer no_bid.
func TestChainEndsLoop(t *testing.T) {
	address := unusedAddress(t)
	toFront := startRecordingProxy(t, address)
	back := startExample(t, "chain/back.yaml", "127.0.0.1:8082", "127.0.0.1:0", "127.0.0.1:9082", "127.0.0.1:0",
		"127.0.0.1:8090", toFront.address(), `{bearer: "${BLUE_TOKEN}"}`,
		`{oauth: {token_url: "`+toFront.URL+`/oauth/token", client_id: acme, client_secret: "${ACME_CLIENT_SECRET}", scope: "ping post"}}`)
	toBack := startRecordingProxy(t, back.PublicAddress())
	c := &chain{t: t, front: startExample(t, "chain/front.yaml", "127.0.0.1:8081", address, "127.0.0.1:9081", "127.0.0.1:0", "127.0.0.1:8082", toBack.address())}
	c.token = fetchToken(t, c.front)
	var none pingAnswer
	if decode(t, c.sendAsSupplier("/v1/ping", "k", pingBody).body, &none); none.Bid != nil || none.Reason != "no_bid" {
		t.Errorf("%+v", none)
	}
	if hops, reasons, _, _ := toBack.recorded(); !slices.Equal(hops, []string{"1", "3"}) || !slices.Equal(reasons, []string{"no_bid", "no_bid"}) {
		t.Errorf("from the front to the back: %q, %q", hops, reasons)
	}
	if hops, reasons, _, _ := toFront.recorded(); !slices.Equal(hops, []string{"2", "4"}) || !slices.Equal(reasons, []string{"loop", "no_bid"}) {
		t.Errorf("from the back to the front: %q, %q", hops, reasons)
	}
}

// TestChainForwardsTestMark: a test lead stays one at the back and at the buyer, by ping and
// post and by ingest. The same person's production lead has no mark.
func TestChainForwardsTestMark(t *testing.T) {
	c := startChain(t, refbuyer.Options{Bid: refbuyer.Fixed(buyerPrice)})
	_, bid := c.mustPing("X-Pingpost-Test", "1")
	if production := c.sendAsSupplier("/v1/post", "k-production", bid.postBody()); production.status != http.StatusUnprocessableEntity || !strings.Contains(production.body, "invalid_bid_token") {
		t.Errorf("a production post with a test bid: %+v", production)
	}
	posted := c.sendAsSupplier("/v1/post", "k-post", bid.postBody(), "X-Pingpost-Test", "1")
	var sale postAnswer
	if decode(t, posted.body, &sale); posted.status != http.StatusCreated {
		t.Fatalf("%+v", posted)
	}
	if got := c.ingest("k-ingest", "X-Pingpost-Test", "1"); got.status != http.StatusCreated || !strings.Contains(got.body, "ACCEPTED") {
		t.Errorf("%+v", got)
	}
	for where, proxy := range map[string]*recordingProxy{"between the exchanges": c.between, "before the buyer": c.beforeBuyer} {
		if _, _, headers, _ := proxy.recorded(); !slices.Equal(headers, []string{"1", "1", "1", "1"}) {
			t.Errorf("test headers %s: %q", where, headers)
		}
	}
	front, back := explainLead(t, c.front, sale.ID), explainLead(t, c.back, c.buyer.Leads()[0].LeadUUID)
	if !front.Test || !front.Auction.Test || !back.Test || !back.Auction.Test {
		t.Errorf("test lead at the front: %v, at the back: %v", front.Test, back.Test)
	}
	if got := c.ingest("k-production"); got.status != http.StatusCreated || !strings.Contains(got.body, "ACCEPTED") {
		t.Errorf("the same person's production lead: %+v", got)
	}
	if _, _, headers, _ := c.beforeBuyer.recorded(); headers[len(headers)-1] != "" {
		t.Errorf("the buyer received a production lead as a test: %q", headers)
	}
}
