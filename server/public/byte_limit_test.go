package public

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/server/servertest"
)

// The test follows the byte bucket of one supplier at given times, with the rate headers
// of rejected bodies.
func TestByteBucketLimitAndHeaders(t *testing.T) {
	acme := &market.Supplier{ID: "acme", Ref: 1, ByteRate: 1000}
	free := &market.Supplier{ID: "free", Ref: 2}
	begin := time.Unix(1_000_000, 0)
	var l tokenBucketsByOwner
	l.setSupplierRates(&market.Catalog{Suppliers: map[market.SupplierID]*market.Supplier{"acme": acme, "free": free}}, begin,
		func(s *market.Supplier) int { return s.ByteRate })
	for _, step := range []struct {
		ms, bytes int
		supplier  *market.Supplier
		ok        bool
		want      [4]string
	}{
		{0, 900, acme, true, [4]string{}}, // accepted requests keep the headers of the request limit
		{0, 0, acme, true, [4]string{}},
		{0, 101, acme, false, [4]string{"1000", "100", "1000001", "1"}},
		{0, 100, acme, true, [4]string{}},
		{500, 501, acme, false, [4]string{"1000", "500", "1000001", "1"}},
		{500, 500, acme, true, [4]string{}},
		{9000, 70_000, acme, true, [4]string{}}, // a body over the burst empties the bucket
		{9000, 70_000, acme, false, [4]string{"1000", "0", "1000010", "1"}},
		{9000, 70_000, free, true, [4]string{}},
	} {
		wantRateHeaders(t, fmt.Sprint(step.bytes, " bytes at ", step.ms, " ms"), step.ok, step.want, func(ctx *fasthttp.RequestCtx) time.Duration {
			return l.takeBytes(ctx, step.supplier, step.bytes, begin.Add(time.Duration(step.ms)*time.Millisecond))
		})
	}
}

// All paths for leads and pings share the byte bucket of a supplier. After the wait, small
// bodies pass again.
func TestAllPathsShareByteBucket(t *testing.T) {
	document := strings.Replace(auctionConfig, "ping_rate: 1000000", "ping_rate: 1000000\n    byte_rate: 64KiB", 1)
	h := newTestExchange(t, document, new(servertest.MemoryLog))
	acme := h.requestToken("acme", "")
	padding := `{"padding":"` + strings.Repeat("x", 60_000) + `"`
	for what, call := range map[string]func(body string) *apiAnswer{
		"a ping":                  func(body string) *apiAnswer { return h.ping(acme, "k", body) },
		"an availability request": func(body string) *apiAnswer { return h.checkAvailability("acme", body) },
		"a post":                  func(body string) *apiAnswer { return h.post(acme, "k", body) },
		"a lead": func(body string) *apiAnswer {
			return h.postJSON("/api/v1/ingest", body, "X-Api-Key", "canary-key-of-acme")
		},
	} {
		var a *apiAnswer
		for range 2000 {
			if a = call(padding); a.status != 400 { // malformed bodies count too
				break
			}
			if a.header.Get("X-RateLimit-Limit") != "1000000" {
				t.Errorf("%s below the limit: %v", what, a.header)
			}
		}
		a.wantError(t, 429, "rate_limited")
		left, err := strconv.Atoi(a.header.Get("X-RateLimit-Remaining"))
		if a.header.Get("X-RateLimit-Limit") != "65536" || err != nil || left >= 60_000 ||
			a.header.Get("Retry-After") != "1" || a.header.Get("X-RateLimit-Reset") == "" {
			t.Errorf("%s: %v", what, a.header)
		}
		h.advance(10 * time.Second)
		call("{").wantError(t, 400, "malformed_json")
	}
}
