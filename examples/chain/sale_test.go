package chain_test

import (
	"slices"
	"strings"
	"testing"

	"pingpost/engine/market"
	"pingpost/exchange/explain"
	"pingpost/loadtest/refbuyer"
)

// What the buyer pays, and what each exchange passes on of it: 0.9, then 0.8,
// each rounded down to the millionth, once.
const (
	paid   market.Money = 12_345_679
	passed market.Money = 11_111_111
	gets   market.Money = 8_888_888
)

// sums sees that a lead's money adds up along the chain.
func (c *chain) sums(lead string) {
	c.t.Helper()
	held := c.buyer.Leads()
	if len(held) != 1 {
		c.t.Fatalf("the buyer has %d leads", len(held))
	}
	front, back := explainLead(c.t, c.front, lead), explainLead(c.t, c.back, held[0].LeadUUID)
	c.isKnownBehind(front, back)
	for _, told := range []*explain.Explanation{front, back} {
		if told.Status != "ACCEPTED" || told.Delivery != "delivered" || told.Price == nil {
			c.t.Fatalf("%+v", told)
		}
	}
	for _, amount := range []struct {
		what      string
		got, want market.Money
	}{
		{"the buyer owes", c.buyer.Stats().Revenue, paid},
		{"the back's price", market.Money(back.Price.Amount), paid},
		{"the back's payout", market.Money(back.Payout.Amount), passed},
		{"the front's price", market.Money(front.Price.Amount), passed},
		{"the front's payout", market.Money(front.Payout.Amount), gets},
		{"payout and both margins", market.Money(front.Payout.Amount + front.Margin.Amount + back.Margin.Amount), paid},
	} {
		if amount.got != amount.want {
			c.t.Errorf("%s: %v, want %v", amount.what, amount.got, amount.want)
		}
	}
	if theirs := front.Posts[0].Settlements[0].BuyerLead; theirs != held[0].LeadID {
		c.t.Errorf("the front knows the lead as the buyer's %s, which calls it %s", theirs, held[0].LeadID)
	}
	if back.SellerID != lead || back.Auction == nil || back.Auction.Hops != 1 {
		c.t.Errorf("the back has it as %s, by the ping %+v", back.SellerID, back.Auction)
	}
	if front.Fields["vehicle_count"] == nil || string(front.Fields["vehicle_count"]) != string(back.Fields["vehicle_count"]) {
		c.t.Errorf("the front's vehicles are %s, the back's %s", front.Fields["vehicle_count"], back.Fields["vehicle_count"])
	}
}

func (c *chain) hops(between, before []string) {
	c.t.Helper()
	if hops, _, _ := c.between.seen(); !slices.Equal(hops, between) {
		c.t.Errorf("pings between the exchanges had been through %q, want %q", hops, between)
	}
	if hops, _, _ := c.before.seen(); !slices.Equal(hops, before) {
		c.t.Errorf("pings to the buyer had been through %q, want %q", hops, before)
	}
}

// TestSoldByPingAndPost also asks everything again: nobody further down hears of
// it, and the answers are the same to the byte.
func TestSoldByPingAndPost(t *testing.T) {
	c := newChain(t, refbuyer.Options{Bid: refbuyer.Fixed(paid)})
	pinged := c.seller("/v1/ping", "k-ping", pingOf("a-1"))
	var offer bid
	if read(t, pinged.body, &offer); offer.Bid == nil || offer.Bid.Amount != gets {
		t.Fatalf("%+v", pinged)
	}
	posted := c.seller("/v1/post", "k-post", postOf("a-1", offer.Bid.Token))
	var sale struct {
		ID     string `json:"id"`
		LeadID string `json:"lead_id"`
		Price  struct {
			Amount market.Money `json:"amount"`
		} `json:"price"`
	}
	if read(t, posted.body, &sale); posted.status != 201 || sale.Price.Amount != gets || sale.LeadID != c.buyer.Leads()[0].LeadID {
		t.Fatalf("%+v", posted)
	}
	c.sums(sale.ID)
	c.hops([]string{"1"}, []string{"2"})

	before := c.buyer.Stats()
	for _, again := range []struct{ first, now answer }{
		{pinged, c.seller("/v1/ping", "k-ping", pingOf("a-1"))},
		{posted, c.seller("/v1/post", "k-post", postOf("a-1", offer.Bid.Token))},
	} {
		if again.now.body != again.first.body || again.now.status != again.first.status || !again.now.replayed {
			t.Errorf("%+v, and asked again %+v", again.first, again.now)
		}
	}
	if other := c.seller("/v1/post", "k-other", postOf("a-1", offer.Bid.Token)); other.status != 409 || !strings.Contains(other.body, "already_sold") {
		t.Errorf("%+v", other)
	}
	c.hops([]string{"1"}, []string{"2"})
	if after := c.buyer.Stats(); after != before {
		t.Errorf("the buyer was asked again: %+v, before %+v", after, before)
	}
}

func TestSoldByIngest(t *testing.T) {
	c := newChain(t, refbuyer.Options{Bid: refbuyer.Fixed(paid)})
	first := c.ingest("k")
	var said struct {
		Data struct {
			ID     string `json:"id"`
			Status string `json:"status"`
			Buyer  string `json:"buyer_id"`
		} `json:"data"`
	}
	if read(t, first.body, &said); said.Data.Status != "ACCEPTED" || said.Data.Buyer != "buy_back" {
		t.Fatalf("%+v", first)
	}
	c.sums(said.Data.ID)
	c.hops([]string{"1"}, []string{"2"})
	if again := c.ingest("k"); again.body != first.body || !again.replayed {
		t.Errorf("%+v, and asked again %+v", first, again)
	}
	if s := c.buyer.Stats(); s.Pings != 1 || s.Posts != 1 || s.DoubleSold != 0 || s.ContactSeen != 0 {
		t.Errorf("%+v", s)
	}
}

// TestRefusedByTheLast: what the buyer refuses comes back through both as a
// refusal, is owed for by nobody, and the answer is kept.
func TestRefusedByTheLast(t *testing.T) {
	c := newChain(t, refbuyer.Options{Bid: refbuyer.Fixed(paid), RejectRate: 1})
	var offer bid
	read(t, c.seller("/v1/ping", "k-ping", pingOf("a-1")).body, &offer)
	if offer.Bid == nil {
		t.Fatal(offer.Reason)
	}
	posted := c.seller("/v1/post", "k-post", postOf("a-1", offer.Bid.Token))
	if posted.status != 422 || !strings.Contains(posted.body, `"error":"post_rejected"`) {
		t.Errorf("%+v", posted)
	}
	if again := c.seller("/v1/post", "k-post", postOf("a-1", offer.Bid.Token)); again.body != posted.body || !again.replayed {
		t.Errorf("%+v, and asked again %+v", posted, again)
	}
	if sent := c.ingest("k"); sent.status != 201 || !strings.Contains(sent.body, `"reason":"post_rejected"`) {
		t.Errorf("%+v", sent)
	}
	if _, _, posts := c.before.seen(); posts != 2 {
		t.Errorf("the buyer saw %d posts, want one for each lead", posts)
	}
	if s := c.buyer.Stats(); s.Accepted != 0 || s.Rejected != 2 || s.Revenue != 0 {
		t.Errorf("%+v", s)
	}
}

// TestNobodyBids: a no-bid is passed on as one.
func TestNobodyBids(t *testing.T) {
	c := newChain(t, refbuyer.Options{})
	var offer bid
	if read(t, c.seller("/v1/ping", "k", pingOf("a-1")).body, &offer); offer.Bid != nil || offer.Reason != "no_bid" {
		t.Errorf("%+v", offer)
	}
	if sent := c.ingest("k"); sent.status != 201 || !strings.Contains(sent.body, `"reason":"no_bid"`) {
		t.Errorf("%+v", sent)
	}
}

// TestLoop makes the first exchange the second one's buyer. A ping goes round
// until it has been through three exchanges, the next one says loop, and all
// before it hear of no bid.
func TestLoop(t *testing.T) {
	address := free(t)
	round := newPassage(t, address)
	back := start(t, "back.yaml", "127.0.0.1:8082", "127.0.0.1:0", "127.0.0.1:9082", "127.0.0.1:0",
		"127.0.0.1:8090", round.address(), `{bearer: "${BLUE_TOKEN}"}`,
		`{oauth: {token_url: "`+round.URL+`/oauth/token", client_id: acme, client_secret: "${ACME_CLIENT_SECRET}", scope: "ping post"}}`)
	between := newPassage(t, back.Addr())
	front := start(t, "front.yaml", "127.0.0.1:8081", address, "127.0.0.1:9081", "127.0.0.1:0", "127.0.0.1:8082", between.address())
	got := call(t, front, "/v1/ping", pingOf("a-1"), "Authorization", "Bearer "+token(t, front), "Idempotency-Key", "k")
	var offer bid
	if read(t, got.body, &offer); offer.Bid != nil || offer.Reason != "no_bid" {
		t.Errorf("%+v", got)
	}
	if hops, reasons, _ := between.seen(); !slices.Equal(hops, []string{"1", "3"}) || !slices.Equal(reasons, []string{"no_bid", "no_bid"}) {
		t.Errorf("from the first to the second: %q, %q", hops, reasons)
	}
	if hops, reasons, _ := round.seen(); !slices.Equal(hops, []string{"2", "4"}) || !slices.Equal(reasons, []string{"loop", "no_bid"}) {
		t.Errorf("from the second to the first: %q, %q", hops, reasons)
	}
}

// isKnownBehind sees that the back finds the auction by the id that the front, its
// seller, gave it: the front's own.
func (c *chain) isKnownBehind(front, back *explain.Explanation) {
	c.t.Helper()
	text, err := c.back.ExplainSellers("", front.AuctionID)
	if err != nil {
		c.t.Fatal(err)
	}
	var told explain.Explanation
	read(c.t, string(text), &told)
	if told.SellerID != front.AuctionID || told.AuctionID != back.AuctionID || len(told.Leads) != 1 || told.Leads[0].ID != back.ID {
		c.t.Errorf("%s is known as %s, with %d leads", front.AuctionID, told.AuctionID, len(told.Leads))
	}
}
