package public

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/market"
)

var (
	usd, _        = market.ParseCurrency("USD")
	testAuctionID = market.AuctionID(market.ComposeID(1, [10]byte{1}))
	testBidToken  = market.ExchangeBidToken(market.ComposeID(2, [10]byte{2}))
	testExpiry    = time.Date(2026, 3, 2, 12, 0, 4, 987_654_321, time.FixedZone("", -3600)).UnixNano()
)

func TestAppendPingAnswer(t *testing.T) {
	for _, row := range []struct {
		name   string
		answer engine.SupplierPingAnswer
		want   string
	}{
		{
			"a bid",
			engine.SupplierPingAnswer{SellerAuction: `a"1`, Bid: true, Token: testBidToken, Amount: 9_640_000, Currency: usd, ValidUntil: testExpiry},
			`{"auction_id":"a\"1","bid":{"amount":9.64,"currency":"USD","bid_token":"bid_00000000020800000000000000","valid_until":"2026-03-02T13:00:04.987Z"}}`,
		},
		{
			"a bid with passed filters",
			engine.SupplierPingAnswer{SellerAuction: "a", Bid: true, Token: testBidToken, Amount: 1_000_000, Currency: usd, ValidUntil: 1e9, Passed: market.PassedState | market.PassedVertical},
			`{"auction_id":"a","bid":{"amount":1,"currency":"USD","bid_token":"bid_00000000020800000000000000","valid_until":"1970-01-01T00:00:01.000Z"},"buyer_filters_passed":["state","vertical"]}`,
		},
		{
			"a payout of zero",
			engine.SupplierPingAnswer{SellerAuction: "a", Bid: true, Token: testBidToken, Currency: usd, ValidUntil: 1e9},
			`{"auction_id":"a","bid":{"amount":0,"currency":"USD","bid_token":"bid_00000000020800000000000000","valid_until":"1970-01-01T00:00:01.000Z"}}`,
		},
		{
			"no bid",
			engine.SupplierPingAnswer{SellerAuction: "a", Reason: market.ReasonLoop},
			`{"auction_id":"a","bid":null,"reject_reason":"loop","reject_detail":"The ping has been through too many exchanges."}`,
		},
	} {
		if got := string(appendPingAnswer(nil, &row.answer)); got != row.want || !json.Valid([]byte(got)) {
			t.Errorf("%s: %s\nwant %s", row.name, got, row.want)
		}
	}
}

func TestAppendAvailabilityAnswer(t *testing.T) {
	for _, row := range []struct {
		name   string
		answer engine.SupplierPingAnswer
		want   string
	}{
		{
			"two bids",
			engine.SupplierPingAnswer{Auction: testAuctionID, Campaign: "cmp", ExpiresAt: testExpiry, Offers: []engine.AvailabilityPingOffer{
				{Buyer: "buy_a", Amount: 8_000_000, Currency: usd, ValidUntil: testExpiry}, {Buyer: "buy_b", Amount: 1, Currency: usd, ValidUntil: 1e9},
			}},
			`{"data":{"ping_id":"ping_00000000010400000000000000","campaign_id":"cmp","accepted":true,"expires_at":"2026-03-02T13:00:04.987Z","buyers":[` +
				`{"buyer_id":"buy_a","amount":8,"currency":"USD","valid_until":"2026-03-02T13:00:04.987Z"},` +
				`{"buyer_id":"buy_b","amount":0.000001,"currency":"USD","valid_until":"1970-01-01T00:00:01.000Z"}]}}`,
		},
		{
			"no bid",
			engine.SupplierPingAnswer{Auction: testAuctionID, Campaign: `c"`, ExpiresAt: testExpiry, Reason: market.ReasonCapsFull},
			`{"data":{"ping_id":"ping_00000000010400000000000000","campaign_id":"c\"","accepted":false,"expires_at":"2026-03-02T13:00:04.987Z","buyers":[],"reason":"caps_full"}}`,
		},
	} {
		if got := string(appendAllBidsAnswer(nil, &row.answer)); got != row.want || !json.Valid([]byte(got)) {
			t.Errorf("%s: %s\nwant %s", row.name, got, row.want)
		}
	}
}

func TestAppendPostAnswer(t *testing.T) {
	sale := engine.SupplierPostAnswer{SellerAuction: "a", BuyerLead: `b"`, Lead: market.LeadID(testBidToken), Buyer: "buy_a", Payout: 9_640_000, Currency: usd}
	const suffix = `"id":"lead_00000000020800000000000000","status":"ACCEPTED","buyer_id":"buy_a","price":{"amount":9.64,"currency":"USD"}}`
	if got, want := string(appendPostAnswer(nil, &sale)), `{"auction_id":"a","lead_id":"b\"",`+suffix; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	sale.BuyerLead = ""
	if got, want := string(appendPostAnswer(nil, &sale)), `{"auction_id":"a","lead_id":null,`+suffix; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// Each reject reason has a different explanation for the seller.
func TestEachRejectReasonHasOwnText(t *testing.T) {
	reasons := map[string]market.UnsoldReason{}
	for reason := market.ReasonNoBuyer; reason <= market.ReasonLoop; reason++ {
		text := pingRejectDetail(reason)
		if other, found := reasons[text]; text == "" || found {
			t.Errorf("%s has the text %q, as has %s", reason, text, other)
		}
		if !json.Valid([]byte(`"` + text + `"`)) {
			t.Errorf("%s: %s is not a valid JSON string", reason, text)
		}
		reasons[text] = reason
	}
	if got := pingRejectDetail(200); got != "" {
		t.Error(got)
	}
}

func TestParseHopCount(t *testing.T) {
	for _, row := range []struct {
		lines []string
		want  int
	}{
		{nil, 0},
		{[]string{"0"}, 0},
		{[]string{"1"}, 1},
		{[]string{"3"}, 3},
		{[]string{"4"}, 4},
		{[]string{"9"}, 4},
		{[]string{"17"}, 4},
		{[]string{"00"}, 4},
		{[]string{"-1"}, 4},
		{[]string{"+1"}, 4},
		{[]string{"1.0"}, 4},
		{[]string{""}, 4},
		{[]string{"one"}, 4},
		{[]string{"18446744073709551617"}, 4},
		{[]string{"1", "1"}, 4},
	} {
		var header fasthttp.RequestHeader
		for _, line := range row.lines {
			header.Add("x-pingpost-hops", line)
		}
		if got := parseHopCountOrOverLimit(&header); got != row.want {
			t.Errorf("%q: %d, want %d", row.lines, got, row.want)
		}
	}
}
