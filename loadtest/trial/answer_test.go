package trial

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pingpost/loadtest/load"
)

const (
	soldByIngest = `{"data":{"id":"lead_1","status":"ACCEPTED","buyer_id":"buy","campaign_id":"c","price":{"amount":4.25,"currency":"USD"}}}`
	unmatched    = `{"data":{"id":"lead_2","status":"UNMATCHED","buyer_id":null,"campaign_id":"c","reason":"caps_full"}}`
	soldByPost   = `{"auction_id":"a","lead_id":"theirs","id":"lead_3","status":"ACCEPTED","buyer_id":"buy","price":{"amount":8,"currency":"USD"}}`
	aBid         = `{"auction_id":"a","bid":{"amount":8,"currency":"USD","bid_token":"bid_x","valid_until":"2026-03-02T12:00:05.000Z"}}`
	noBid        = `{"auction_id":"a","bid":null,"reject_reason":"no_bid","reject_detail":"nobody"}`
)

func fault(code string) string {
	return fmt.Sprintf(`{"error":%q,"message":"because","request_id":"req_x"}`, code)
}

func TestAnswersAreUnderstood(t *testing.T) {
	for _, test := range []struct {
		name   string
		what   timedKind
		status int
		body   string
		want   parsedAnswer
	}{
		{"a lead sold", timedIngest, 201, soldByIngest, parsedAnswer{sale: Sale{"lead_1", "buy", 4_250_000}}},
		{"a lead nobody wants", timedIngest, 201, unmatched, parsedAnswer{end: Unsold, reason: "caps_full"}},
		{"a lead at fault", timedIngest, 422, fault("invalid_payload"), parsedAnswer{end: Failed, reason: "HTTP 422 invalid_payload"}},
		{"a key nobody knows", timedIngest, 401, fault("unauthorized"), parsedAnswer{end: Failed, reason: "HTTP 401 unauthorized"}},
		{"too many, and no word when", timedIngest, 429, fault("rate_limited"), parsedAnswer{end: Refused, reason: "rate_limited", noRetryAfter: true}},
		{"not now, and no word when", timedPing, 503, fault("unavailable"), parsedAnswer{end: Refused, reason: "unavailable", noRetryAfter: true}},
		{"a bid", timedPing, 200, aBid, parsedAnswer{token: "bid_x"}},
		{"no bid", timedPing, 200, noBid, parsedAnswer{end: Unsold, reason: "no_bid"}},
		{"neither", timedPing, 200, `{"auction_id":"a"}`, parsedAnswer{end: Failed, reason: "HTTP 200 "}},
		{"a ping answered as a lead", timedPing, 201, soldByIngest, parsedAnswer{end: Failed, reason: "HTTP 201 "}},
		{"an auction of that name", timedPing, 409, fault("auction_exists"), parsedAnswer{end: Failed, reason: "HTTP 409 auction_exists"}},
		{"a lead posted", timedPost, 201, soldByPost, parsedAnswer{sale: Sale{"lead_3", "buy", 8_000_000}}},
		{"a bid that is over", timedPost, 410, fault("bid_expired"), parsedAnswer{end: Unsold, reason: "bid_expired"}},
		{"a lead the buyer refuses", timedPost, 422, fault("post_rejected"), parsedAnswer{end: Unsold, reason: "post_rejected"}},
		{"a post at fault", timedPost, 422, fault("invalid_bid_token"), parsedAnswer{end: Failed, reason: "HTTP 422 invalid_bid_token"}},
		{"a buyer that broke off", timedPost, 502, fault("buyer_unavailable"), parsedAnswer{end: Open, reason: "buyer_unavailable"}},
		{"a buyer that is metricsErr", timedPost, 504, fault("buyer_timeout"), parsedAnswer{end: Open, reason: "buyer_timeout"}},
		{"an ingest cannot hang so", timedIngest, 504, fault("buyer_timeout"), parsedAnswer{end: Failed, reason: "HTTP 504 buyer_timeout"}},
		{"a fault of the server", timedIngest, 500, fault("internal"), parsedAnswer{end: Failed, reason: "HTTP 500 internal"}},
		{"no JSON", timedIngest, 201, "sold!", parsedAnswer{end: Failed, reason: "HTTP 201 without JSON"}},
		{"nothing", timedPost, 201, "", parsedAnswer{end: Failed, reason: "HTTP 201 without JSON"}},
		{"sold to nobody", timedIngest, 201, `{"data":{"id":"lead_1","status":"ACCEPTED"}}`, parsedAnswer{end: Failed, reason: "HTTP 201 without a buyer"}},
		{"sold, and no id", timedPost, 201, `{"status":"ACCEPTED","buyer_id":"buy"}`, parsedAnswer{end: Failed, reason: "HTTP 201 without a buyer"}},
	} {
		if got := parseAnswer(test.what, &load.Answer{Status: test.status, Body: []byte(test.body)}); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// TestConnectionErrors: only the last part of an error is the reason. Addresses differ for
// each connection, so they would make each error a separate reason.
func TestConnectionErrors(t *testing.T) {
	for text, want := range map[string]string{
		"read tcp 127.0.0.1:5->127.0.0.1:6: read: connection reset by peer": "connection reset by peer",
		"no answer: EOF": "EOF",
		"closed":         "closed",
	} {
		if v := connectionError(errors.New(text)); v.end != Broken || v.reason != want {
			t.Errorf("%s: %+v", text, v)
		}
	}
}

func TestEveryEndHasAName(t *testing.T) {
	seen := map[string]bool{}
	for end := range outcomeCount {
		if name := end.String(); name == "" || strings.ToLower(name) != name || seen[name] {
			t.Errorf("end %d is called %q", end, name)
		}
		seen[end.String()] = true
	}
}
