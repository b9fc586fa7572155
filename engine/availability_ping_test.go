package engine_test

import (
	"reflect"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

func TestAvailabilityThatIsRefused(t *testing.T) {
	r := auctions("blue")
	r.suppliers = []string{"other"}
	r.campaigns = append(r.campaigns,
		campaign{id: "fall", method: market.Waterfall, seats: []seat{{buyer: "blue"}}},
		campaign{id: "closed", method: market.PingPost, suppliers: []string{"other"}},
		campaign{id: "strict", method: market.PingPost, unknown: market.UnknownReject},
		campaign{id: "paused", method: market.PingPost},
	)
	tests := []struct {
		what    string
		request request
		want    string
	}{
		{"nothing in it", request{supplier: "acme"}, "invalid_payload flo_campaign_id:missing_required flo_supplier_id:missing_required"},
		{"numbers for names", availability("flo_campaign_id", "#7", "flo_supplier_id", "#true"), "invalid_payload flo_campaign_id:wrong_type flo_supplier_id:wrong_type"},
		{"blanks for names", availability("flo_campaign_id", " ", "flo_supplier_id", "\u3000"), "invalid_payload flo_campaign_id:missing_required flo_supplier_id:missing_required"},
		{"no campaign", availability("flo_campaign_id", "boats"), "invalid_payload flo_campaign_id:unknown"},
		{"one without auctions", availability("flo_campaign_id", "fall"), "invalid_payload flo_campaign_id:inactive"},
		{"one that is paused", availability("flo_campaign_id", "paused"), "invalid_payload flo_campaign_id:inactive"},
		{"another's campaign", availability("flo_campaign_id", "closed"), "forbidden"},
		{"another's name", availability("flo_supplier_id", "other"), "forbidden"},
		{"a person", availability("phone", "4155550100", "line1", "1 Main St"), "invalid_payload phone:contact_field_not_allowed line1:contact_field_not_allowed"},
		{"a person deep down", availability("about", `#{"mailing":1,"E-Mail":2}`), "invalid_payload about.E-Mail:contact_field_not_allowed"},
		{"a person where there is no campaign", availability("flo_campaign_id", "boats", "email", "p@example.com"), "invalid_payload flo_campaign_id:unknown email:contact_field_not_allowed"},
		{"fields", availability("state", "ZZ", "vehicles", "two"), "invalid_payload state:invalid_format vehicles:wrong_type"},
		{"what the campaign does not know", availability("flo_campaign_id", "strict", "mood", "good"), "invalid_payload mood:unknown_field"},
		{"a key that is none", func() request { r := availability(); r.badKey = true; return r }(), "invalid_payload Idempotency-Key:invalid_format"},
	}
	trading(t, "all", r, func(t *testing.T, x *exchange) {
		must.Succeed(t, x.engine.AsOperator("").SetPaused(event.ObjectCampaign, "paused", true))
		begun := x.log.len()
		for _, test := range tests {
			expectEqual(t, heard(x.available(test.request)), test.want, test.what)
		}
		if x.log.len() != begun || len(x.world.pings) > 0 {
			t.Error("something was logged, or asked")
		}
	})
}

// Every bid that stands is told, best first, as what the supplier is paid.
func TestAvailabilityTellsEveryBid(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := auctions("blue", "gold", "tan", "red")
		r.campaigns[0].payout, r.campaigns[0].floor = "0.8", "5"
		x := begin(t, r)
		x.world.offers("blue", bids("7"))
		x.world.offers("gold", bids("9").until(2*time.Second))
		x.world.offers("tan", bids("4.99"))
		x.world.offers("red", bids("8").in(200*ms))
		answer, err := x.available(availability("vehicles", "#2", "mood", "good"))
		expectEqual(t, heard(answer, err), "gold:7.2 red:6.4 blue:5.6")
		end := began.Add(5 * time.Second).UnixNano()
		for i, until := range []int64{began.Add(2 * time.Second).UnixNano(), end, end} {
			if o := answer.Offers[i]; o.ValidUntil != until || o.Currency.String() != "USD" {
				t.Errorf("%+v", o)
			}
		}
		if answer.ExpiresAt != end || answer.Campaign != "auto" || answer.Bid || !answer.Token.IsZero() || answer.Auction.IsZero() {
			t.Errorf("%+v", answer)
		}
		expectEqual(t, x.state.LeadCount(), 0, "leads")
	})
	trading(t, "nobody wants it", auctions("blue"), func(t *testing.T, x *exchange) {
		x.world.offers("blue", passes)
		expectEqual(t, heard(x.available(availability()))+" "+heard(x.available(availability("state", "-"))), "no_bid no_state_match")
	})
}

// Each call is a new ping, unless it has the key of another.
func TestKeysOfAvailability(t *testing.T) {
	trading(t, "", auctions("blue"), func(t *testing.T, x *exchange) {
		x.world.offers("blue", bids("1"), bids("2"), bids("3"), bids("4"))
		one, err := x.available(availability())
		two, _ := x.available(availability())
		if err != nil || one.Auction == two.Auction || one.Offers[0].Amount == two.Offers[0].Amount {
			t.Errorf("%+v and %+v %v", one, two, err)
		}
		first, _ := x.available(availability().withKey("k"))
		x.crash()
		again, err := x.available(availability().withKey("k"))
		if first.Replayed = true; err != nil || !reflect.DeepEqual(first, again) {
			t.Errorf("first %+v, then %+v %v", first, again, err)
		}
		expectEqual(t, heard(x.available(availability("state", "NV").withKey("k"))), "idempotency_key_reused")
	})
}
