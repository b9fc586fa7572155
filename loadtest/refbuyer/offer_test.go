package refbuyer

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/market"
	"pingpost/internal/strictjson"
)

// anyOffer draws an answer to a ping.
func anyOffer(t *rapid.T) offer {
	o := offer{
		auction:  []byte(rapid.StringN(1, 20, maxID).Draw(t, "auction")),
		terms:    terms{market.Money(rapid.Int64Range(1, int64(market.MaxMoney)).Draw(t, "amount")), rapid.Int64Range(0, 1<<42).Draw(t, "until")},
		passed:   filters{rapid.Bool().Draw(t, "state"), rapid.Bool().Draw(t, "tcpa")},
		currency: rapid.StringMatching(`[A-Z]{3}`).Draw(t, "currency"),
	}
	if rapid.Bool().Draw(t, "no bid") {
		o.noBid, o.detail = "no_bid", "random no-bid by the configured no-bid rate"
	}
	return o
}

// TestOfferIsJSON: strict and lenient parsers read the same offer.
func TestOfferIsJSON(t *testing.T) {
	const seed = chance(3)
	rapid.Check(t, func(t *rapid.T) {
		o := anyOffer(t)
		text := o.append([]byte("before"), seed)[len("before"):]
		if err := new(strictjson.Object).Parse(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var got bidAnswer
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got.AuctionID != string(o.auction) || got.Reason != o.noBid || got.Detail != o.detail || (got.Bid == nil) != (o.noBid != "") {
			t.Fatalf("%+v is %s", o, text)
		}
		if !slices.Contains(got.Passed, "vertical") || slices.Contains(got.Passed, "state") != o.passed.state || slices.Contains(got.Passed, "tcpa") != o.passed.tcpa {
			t.Fatalf("%+v is %s", o, text)
		}
		if got.Bid == nil {
			return
		}
		if got.Bid.Amount.String() != o.amount.String() || got.Bid.Currency != o.currency || got.Bid.ValidUntil.UnixMilli() != o.until || got.Bid.ValidUntil.Location() != time.UTC {
			t.Fatalf("%+v is %s", o, text)
		}
		if promised, ok := seed.readToken(got.Bid.BidToken, got.AuctionID); !ok || promised != o.terms {
			t.Fatalf("the token of %+v promises %+v, %v", o, promised, ok)
		}
	})
}

// TestMalformedZeroBid: a malformed answer of a buyer that bids 0 has a bid of one cent.
func TestMalformedZeroBid(t *testing.T) {
	b := &Buyer{chance: 3}
	o := offer{auction: []byte("a"), noBid: "no_bid", currency: "USD"}
	if got := string(b.compose(nil, &o, negativeAmount)); !strings.Contains(got, `"amount":-0.01,`) {
		t.Errorf("got %s", got)
	}
}
