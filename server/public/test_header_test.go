package public

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pingpost/server/servertest"

	"github.com/valyala/fasthttp"
)

func TestParseTestHeader(t *testing.T) {
	for _, row := range []struct {
		lines     []string
		test, bad bool
	}{
		{nil, false, false},
		{[]string{"1"}, true, false},
		{[]string{"true"}, true, false},
		{[]string{"0"}, false, false},
		{[]string{"false"}, false, false},
		{[]string{""}, false, true},
		{[]string{"2"}, false, true},
		{[]string{"yes"}, false, true},
		{[]string{"TRUE"}, false, true},
		{[]string{"1", "1"}, false, true},
		{[]string{"0", "1"}, false, true},
	} {
		for _, name := range []string{headerTest, "x-pingpost-test"} {
			var header fasthttp.RequestHeader
			for _, line := range row.lines {
				header.Add(name, line)
			}
			if test, bad := parseTestHeader(&header); test != row.test || bad != row.bad {
				t.Errorf("%q: %v, bad %v", row.lines, test, bad)
			}
		}
	}
}

const leadBody = `{"flo_campaign_id":"cmp_auto","flo_supplier_id":"sup_acme","first_name":"Ann","last_name":"Lee","email":"ann@mail.test","phone":"4155550132","state":"CA"}`

// Each path accepts the test header and marks the answer.
func TestTestHeaderMarksRequestsAndAnswers(t *testing.T) {
	h := newAuctionExchange(t)
	acme := h.requestToken("acme", "")
	apiKey := []string{"X-Api-Key", "canary-key-of-acme"}
	bearer := []string{"Authorization", "Bearer " + acme}
	for i, row := range []struct {
		value string
		test  bool
	}{{"1", true}, {"true", true}, {"0", false}, {"false", false}} {
		before := len(h.buyers.tests)
		send := func(path, body string, status int, want string, credential []string) *apiAnswer {
			t.Helper()
			a := h.postJSON(path, body, append([]string{headerTest, row.value, "Idempotency-Key", fmt.Sprint(path, i)}, credential...)...)
			if marked := a.header.Get(headerTest) == "1"; a.status != status || marked != row.test || !strings.Contains(a.body, want) {
				t.Errorf("%s with test %s: got %d %s, marked %v, want %s", path, row.value, a.status, a.body, marked, want)
			}
			return a
		}
		amount := map[bool]string{true: `"amount":5.6,`, false: `"amount":8,`}[row.test]
		send("/api/v1/ingest", withMembers(leadBody, "phone", fmt.Sprintf(`"415555%04d"`, 100+i), "email", fmt.Sprintf(`"a%d@mail.test"`, i)), 201, amount, apiKey)
		send("/api/v1/ping", availabilityBody, 200, amount, apiKey)
		auction := fmt.Sprintf("of-%d", i)
		got := decodeAnswer[pingAnswer](t, send("/v1/ping", withMembers(pingBody, "auction_id", `"`+auction+`"`), 200, amount, bearer), 200)
		body := h.postBody(auction, got.Bid.Token, 200+i)
		send("/v1/post", body, 201, amount, bearer)
		want := []string{}
		if row.test {
			want = []string{"test.blue.example", "test.blue.example", "test.blue.example", "test.blue.example", "test.blue.example"}
		}
		if got := h.buyers.tests[before:]; !slices.Equal(got, want) {
			t.Errorf("test header %s: test requests went to %v, want %v", row.value, got, want)
		}
	}
	for path, credential := range map[string][]string{"/api/v1/ingest": apiKey, "/api/v1/ping": apiKey, "/v1/ping": bearer, "/v1/post": bearer} {
		a := h.postJSON(path, "{}", append([]string{headerTest, "perhaps", "Idempotency-Key", "k"}, credential...)...)
		if got := a.wantError(t, 422, "invalid_payload"); !strings.Contains(got, "X-Pingpost-Test invalid_format") {
			t.Errorf("%s: %s", path, got)
		}
	}
	servertest.RequireMetrics(t, h.opt.Meter, "pingpost_test_leads_total 4", `pingpost_leads_total{status="ACCEPTED",reason=""} 4`, `pingpost_auctions_total{campaign="cmp_auto",reason=""} 6`)
}

// A post cannot use a bid of the other kind, test or production.
func TestTestBidsAndProductionBidsAreSeparate(t *testing.T) {
	h := newAuctionExchange(t)
	acme := h.requestToken("acme", "")
	testBid := decodeAnswer[pingAnswer](t, h.ping(acme, "p1", pingBody, headerTest, "1"), 200)
	productionBid := decodeAnswer[pingAnswer](t, h.ping(acme, "p2", pingBody), 200)
	post := func(key, token, test string) *apiAnswer {
		return h.postJSON("/v1/post", h.postBody("a1", token, 1), "Authorization", "Bearer "+acme, "Idempotency-Key", key, headerTest, test)
	}
	post("k1", testBid.Bid.Token, "0").wantError(t, 422, "invalid_bid_token")
	post("k2", productionBid.Bid.Token, "1").wantError(t, 422, "invalid_bid_token")
	first := post("k3", testBid.Bid.Token, "1")
	if first.status != 201 {
		t.Fatalf("%d %s", first.status, first.body)
	}
	post("k3", testBid.Bid.Token, "1").wantReplayOf(t, first)
	post("k3", testBid.Bid.Token, "0").wantError(t, 422, "idempotency_key_reused")
	if a := post("k4", productionBid.Bid.Token, "false"); a.status != 201 {
		t.Errorf("%d %s", a.status, a.body)
	}
}
