package public

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pingpost/server/servertest"

	"github.com/valyala/fasthttp"
)

func TestWhatSaysThatItIsATest(t *testing.T) {
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

const aLead = `{"flo_campaign_id":"cmp_auto","flo_supplier_id":"sup_acme","first_name":"Ann","last_name":"Lee","email":"ann@mail.test","phone":"4155550132","state":"CA"}`

// TestTestsOverTheWire checks that each path accepts the test header and marks the answer.
func TestTestsOverTheWire(t *testing.T) {
	h := holding(t)
	acme := h.token("acme", "")
	apiKey := []string{"X-Api-Key", "canary-key-of-acme"}
	bearer := []string{"Authorization", "Bearer " + acme}
	for i, row := range []struct {
		value string
		test  bool
	}{{"1", true}, {"true", true}, {"0", false}, {"false", false}} {
		before := len(h.buyers.tests)
		call := func(path, body string, status int, want string, who []string) *heard {
			t.Helper()
			a := h.call(path, body, append([]string{headerTest, row.value, "Idempotency-Key", fmt.Sprint(path, i)}, who...)...)
			if told := a.header.Get(headerTest) == "1"; a.status != status || told != row.test || !strings.Contains(a.body, want) {
				t.Errorf("%s as %s: %d %s, told %v, want %s", path, row.value, a.status, a.body, told, want)
			}
			return a
		}
		amount := map[bool]string{true: `"amount":5.6,`, false: `"amount":8,`}[row.test]
		call("/api/v1/ingest", with(aLead, "phone", fmt.Sprintf(`"415555%04d"`, 100+i), "email", fmt.Sprintf(`"a%d@mail.test"`, i)), 201, amount, apiKey)
		call("/api/v1/ping", aQuestion, 200, amount, apiKey)
		auction := fmt.Sprintf("of-%d", i)
		said := read[pinged](t, call("/v1/ping", with(aPing, "auction_id", `"`+auction+`"`), 200, amount, bearer), 200)
		body := h.bidFor(auction, said.Bid.Token, 200+i)
		call("/v1/post", body, 201, amount, bearer)
		want := []string{}
		if row.test {
			want = []string{"test.blue.example", "test.blue.example", "test.blue.example", "test.blue.example", "test.blue.example"}
		}
		if got := h.buyers.tests[before:]; !slices.Equal(got, want) {
			t.Errorf("%s: tests went to %v", row.value, got)
		}
	}
	for path, who := range map[string][]string{"/api/v1/ingest": apiKey, "/api/v1/ping": apiKey, "/v1/ping": bearer, "/v1/post": bearer} {
		a := h.call(path, "{}", append([]string{headerTest, "perhaps", "Idempotency-Key", "k"}, who...)...)
		if got := a.mustFail(t, 422, "invalid_payload"); !strings.Contains(got, "X-Pingpost-Test invalid_format") {
			t.Errorf("%s: %s", path, got)
		}
	}
	servertest.RequireMetrics(t, h.opt.Meter, "pingpost_test_leads_total 4", `pingpost_leads_total{status="ACCEPTED",reason=""} 4`, `pingpost_auctions_total{campaign="cmp_auto",reason=""} 6`)
}

// TestBidsAreTaggedOverTheWire checks that a post cannot use a bid of the other kind, test
// or production.
func TestBidsAreTaggedOverTheWire(t *testing.T) {
	h := holding(t)
	acme := h.token("acme", "")
	tested := read[pinged](t, h.ping(acme, "p1", aPing, headerTest, "1"), 200)
	earnest := read[pinged](t, h.ping(acme, "p2", aPing), 200)
	post := func(key, token, test string) *heard {
		return h.call("/v1/post", h.bidFor("a1", token, 1), "Authorization", "Bearer "+acme, "Idempotency-Key", key, headerTest, test)
	}
	post("k1", tested.Bid.Token, "0").mustFail(t, 422, "invalid_bid_token")
	post("k2", earnest.Bid.Token, "1").mustFail(t, 422, "invalid_bid_token")
	first := post("k3", tested.Bid.Token, "1")
	if first.status != 201 {
		t.Fatalf("%d %s", first.status, first.body)
	}
	post("k3", tested.Bid.Token, "1").isReplayOf(t, first)
	post("k3", tested.Bid.Token, "0").mustFail(t, 422, "idempotency_key_reused")
	if a := post("k4", earnest.Bid.Token, "false"); a.status != 201 {
		t.Errorf("%d %s", a.status, a.body)
	}
}
