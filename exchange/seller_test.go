package exchange

import (
	"fmt"
	"net/url"
	"testing"
)

// pingForBid pings for sup_acme with its own auction id and returns the bid's token.
func (r *testExchange) pingForBid(vertical, auction string) (token string) {
	r.t.Helper()
	a := r.sellerRequest("/v1/ping", "ping-"+url.QueryEscape(auction), fmt.Sprintf(
		`{"auction_id":%q,"vertical":%q,"state":"CA","zip3":"941","tcpa_consent":true,"vehicle_count":2}`, auction, vertical))
	return bidToken(r.t, a)
}

// bidToken returns the token of the bid in the answer to a ping.
func bidToken(t testing.TB, a *answer) string {
	t.Helper()
	token := decode[struct {
		Bid struct {
			Token string `json:"bid_token"`
		}
	}](t, a).Bid.Token
	if token == "" {
		t.Fatalf("no bid: %d %s", a.status, a.body)
	}
	return token
}

// postToBid posts the nth person at a bid.
func (r *testExchange) postToBid(auction, token string, n int) *answer {
	r.t.Helper()
	return r.sellerRequest("/v1/post", fmt.Sprint("post-", url.QueryEscape(auction), n), fmt.Sprintf(
		`{"auction_id":%q,"bid_token":%q,"lead":{"lead_uuid":"u%d","first_name":"Ann","last_name":%q,"email":"ann%[3]d@%[5]s","phone":"+1%[6]s%04[3]d","address":{"zip":"94105"}}}`,
		auction, token, n, lastName, mailHost, areaCode))
}

// pingForOffers requests the offers of a campaign and returns the ping's id.
func (r *testExchange) pingForOffers(campaign string) (ping string) {
	r.t.Helper()
	return decode[struct {
		Data struct {
			Ping string `json:"ping_id"`
		}
	}](r.t, r.requestAvailability(fmt.Sprintf(`{"flo_campaign_id":%q,"flo_supplier_id":"sup_acme","state":"CA"}`, campaign))).Data.Ping
}

// ingestForBuyer sends the nth person to a buyer that the ping offered.
func (r *testExchange) ingestForBuyer(ping, buyer string, n int, changes ...string) *answer {
	r.t.Helper()
	return r.ingest(leadBody(n, append(changes, "flo_ping_id", `"`+ping+`"`, "flo_buyer_id", `"`+buyer+`"`)...))
}
