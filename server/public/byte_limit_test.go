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

// TestByteLimit holds one supplier's bucket of bytes to its rate, and its headers to
// what they say where a body is too much.
func TestByteLimit(t *testing.T) {
	acme := &market.Supplier{ID: "acme", Ref: 1, ByteRate: 1000}
	free := &market.Supplier{ID: "free", Ref: 2}
	begin := time.Unix(1_000_000, 0)
	var l tokenBucketsByOwner
	l.setRatesFromCatalog(&market.Catalog{Suppliers: map[market.SupplierID]*market.Supplier{"acme": acme, "free": free}}, begin,
		func(s *market.Supplier) int { return s.ByteRate })
	for _, step := range []struct {
		ms, bytes int
		supplier  *market.Supplier
		ok        bool
		want      [4]string
	}{
		{0, 900, acme, true, [4]string{}}, // an answer keeps the headers of the requests' limit
		{0, 0, acme, true, [4]string{}},
		{0, 101, acme, false, [4]string{"1000", "100", "1000001", "1"}},
		{0, 100, acme, true, [4]string{}},
		{500, 501, acme, false, [4]string{"1000", "500", "1000001", "1"}},
		{500, 500, acme, true, [4]string{}},
		{9000, 70_000, acme, true, [4]string{}}, // over the burst: it takes all of it
		{9000, 70_000, acme, false, [4]string{"1000", "0", "1000010", "1"}},
		{9000, 70_000, free, true, [4]string{}},
	} {
		wantRateHeaders(t, fmt.Sprint(step.bytes, " bytes at ", step.ms, " ms"), step.ok, step.want, func(ctx *fasthttp.RequestCtx) time.Duration {
			return l.takeBytes(ctx, step.supplier, step.bytes, begin.Add(time.Duration(step.ms)*time.Millisecond))
		})
	}
}

// TestOneBucketOfBytes sends bodies of 60 KB on each path that takes leads or pings
// until one is refused. All paths share the bucket, and small bodies still pass later.
func TestOneBucketOfBytes(t *testing.T) {
	document := strings.Replace(auctions, "ping_rate: 1000000", "ping_rate: 1000000\n    byte_rate: 64KiB", 1)
	h := keeping(t, document, new(servertest.MemoryLog))
	acme := h.token("acme", "")
	padding := `{"padding":"` + strings.Repeat("x", 60_000) + `"`
	for what, call := range map[string]func(body string) *heard{
		"a ping":     func(body string) *heard { return h.ping(acme, "k", body) },
		"a question": func(body string) *heard { return h.ask("acme", body) },
		"a post":     func(body string) *heard { return h.post(acme, "k", body) },
		"a lead": func(body string) *heard {
			return h.call("/api/v1/ingest", body, "X-Api-Key", "canary-key-of-acme")
		},
	} {
		var a *heard
		for range 2000 {
			if a = call(padding); a.status != 400 { // malformed, and counted all the same
				break
			}
			if a.header.Get("X-RateLimit-Limit") != "1000000" {
				t.Errorf("%s that is let in: %v", what, a.header)
			}
		}
		a.mustFail(t, 429, "rate_limited")
		left, err := strconv.Atoi(a.header.Get("X-RateLimit-Remaining"))
		if a.header.Get("X-RateLimit-Limit") != "65536" || err != nil || left >= 60_000 ||
			a.header.Get("Retry-After") != "1" || a.header.Get("X-RateLimit-Reset") == "" {
			t.Errorf("%s: %v", what, a.header)
		}
		h.wait(10 * time.Second)
		call("{").mustFail(t, 400, "malformed_json")
	}
}
