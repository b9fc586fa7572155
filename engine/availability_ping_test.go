package engine_test

import (
	"reflect"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

func TestInvalidAvailabilityRequests(t *testing.T) {
	r := auctionMarket("blue")
	r.suppliers = []string{"other"}
	r.campaigns = append(r.campaigns,
		campaign{id: "fall", method: market.Waterfall, filterSets: []filterSet{{buyer: "blue"}}},
		campaign{id: "closed", method: market.PingPost, suppliers: []string{"other"}},
		campaign{id: "strict", method: market.PingPost, unknown: market.UnknownReject},
		campaign{id: "paused", method: market.PingPost},
	)
	tests := []struct {
		name    string
		request request
		want    string
	}{
		{"empty", request{supplier: "acme"}, "invalid_payload flo_campaign_id:missing_required flo_supplier_id:missing_required"},
		{"numbers instead of ids", availabilityRequest("flo_campaign_id", "#7", "flo_supplier_id", "#true"), "invalid_payload flo_campaign_id:wrong_type flo_supplier_id:wrong_type"},
		{"blank ids", availabilityRequest("flo_campaign_id", " ", "flo_supplier_id", "\u3000"), "invalid_payload flo_campaign_id:missing_required flo_supplier_id:missing_required"},
		{"unknown campaign", availabilityRequest("flo_campaign_id", "boats"), "invalid_payload flo_campaign_id:unknown"},
		{"campaign without auctions", availabilityRequest("flo_campaign_id", "fall"), "invalid_payload flo_campaign_id:inactive"},
		{"paused campaign", availabilityRequest("flo_campaign_id", "paused"), "invalid_payload flo_campaign_id:inactive"},
		{"campaign of another supplier", availabilityRequest("flo_campaign_id", "closed"), "forbidden"},
		{"id of another supplier", availabilityRequest("flo_supplier_id", "other"), "forbidden"},
		{"contact fields", availabilityRequest("phone", "4155550100", "line1", "1 Main St"), "invalid_payload phone:contact_field_not_allowed line1:contact_field_not_allowed"},
		{"nested contact field", availabilityRequest("about", `#{"mailing":1,"E-Mail":2}`), "invalid_payload about.E-Mail:contact_field_not_allowed"},
		{"contact field and unknown campaign", availabilityRequest("flo_campaign_id", "boats", "email", "p@example.com"), "invalid_payload flo_campaign_id:unknown email:contact_field_not_allowed"},
		{"invalid fields", availabilityRequest("state", "ZZ", "vehicles", "two"), "invalid_payload state:invalid_format vehicles:wrong_type"},
		{"field that the campaign does not have", availabilityRequest("flo_campaign_id", "strict", "mood", "good"), "invalid_payload mood:unknown_field"},
		{"malformed idempotency key", func() request { r := availabilityRequest(); r.badKey = true; return r }(), "invalid_payload Idempotency-Key:invalid_format"},
	}
	runWithExchange(t, "all", r, func(t *testing.T, x *testExchange) {
		must.Succeed(t, x.engine.AsOperator("").SetCampaignOrBuyerPaused(event.ObjectCampaign, "paused", true))
		begun := x.log.len()
		for _, test := range tests {
			expectEqual(t, describePing(x.requestAvailability(test.request)), test.want, test.name)
		}
		if x.log.len() != begun || len(x.buyers.pings) > 0 {
			t.Error("an invalid request was logged or sent to buyers")
		}
	})
}

// The answer has all valid bids, best first, as payouts.
func TestAvailabilityListsAllValidBids(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := auctionMarket("blue", "gold", "tan", "red")
		r.campaigns[0].payout, r.campaigns[0].floor = "0.8", "5"
		x := newExchange(t, r)
		x.buyers.scriptBids("blue", bids("7"))
		x.buyers.scriptBids("gold", bids("9").validFor(2*time.Second))
		x.buyers.scriptBids("tan", bids("4.99"))
		x.buyers.scriptBids("red", bids("8").after(200*ms))
		answer, err := x.requestAvailability(availabilityRequest("vehicles", "#2", "mood", "good"))
		expectEqual(t, describePing(answer, err), "gold:7.2 red:6.4 blue:5.6")
		end := virtualStart.Add(5 * time.Second).UnixNano()
		for i, until := range []int64{virtualStart.Add(2 * time.Second).UnixNano(), end, end} {
			if o := answer.Offers[i]; o.ValidUntil != until || o.Currency.String() != "USD" {
				t.Errorf("wrong offer: %+v", o)
			}
		}
		if answer.ExpiresAt != end || answer.Campaign != "auto" || answer.Bid || !answer.Token.IsZero() || answer.Auction.IsZero() {
			t.Errorf("wrong answer: %+v", answer)
		}
		expectEqual(t, x.state.LeadCountWithExpired(), 0, "leads")
	})
	runWithExchange(t, "no bids", auctionMarket("blue"), func(t *testing.T, x *testExchange) {
		x.buyers.scriptBids("blue", noBid)
		expectEqual(t, describePing(x.requestAvailability(availabilityRequest()))+" "+describePing(x.requestAvailability(availabilityRequest("state", "-"))), "no_bid no_state_match")
	})
}

func TestAvailabilityIdempotencyKey(t *testing.T) {
	runWithExchange(t, "", auctionMarket("blue"), func(t *testing.T, x *testExchange) {
		x.buyers.scriptBids("blue", bids("1"), bids("2"), bids("3"), bids("4"))
		one, err := x.requestAvailability(availabilityRequest())
		two, _ := x.requestAvailability(availabilityRequest())
		if err != nil || one.Auction == two.Auction || one.Offers[0].Amount == two.Offers[0].Amount {
			t.Errorf("%+v and %+v %v", one, two, err)
		}
		first, _ := x.requestAvailability(availabilityRequest().withKey("k"))
		x.crashAndRestart()
		again, err := x.requestAvailability(availabilityRequest().withKey("k"))
		if first.Replayed = true; err != nil || !reflect.DeepEqual(first, again) {
			t.Errorf("first %+v, then %+v %v", first, again, err)
		}
		expectEqual(t, describePing(x.requestAvailability(availabilityRequest("state", "NV").withKey("k"))), "idempotency_key_reused")
	})
}
