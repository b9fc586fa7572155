package public

import (
	"fmt"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/server/httperror"
)

// wantRateHeaders checks whether a request is accepted, and the rate headers of its answer with
// Retry-After as the last one.
func wantRateHeaders(t *testing.T, what string, ok bool, want [4]string, take func(ctx *fasthttp.RequestCtx) time.Duration) {
	t.Helper()
	var ctx fasthttp.RequestCtx
	ctx.Response.Header.DisableNormalizing()
	wait := take(&ctx)
	httperror.Write(&ctx, httperror.NewRequestID(), httperror.RateLimited.WithRetryAfter(wait))
	var got [4]string
	for i, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After"} {
		got[i] = string(ctx.Response.Header.Peek(name))
	}
	if (wait == 0) != ok || got != want {
		t.Errorf("%s: %v %v, want %v %v", what, wait == 0, got, ok, want)
	}
}

// The test follows one rate bucket at given times.
func TestRateBucketLimitAndHeaders(t *testing.T) {
	slow := &market.Supplier{ID: "slow", Ref: 1, IngestRate: 2}
	other := &market.Supplier{ID: "other", Ref: 2, IngestRate: 1}
	newCatalog := func(suppliers ...*market.Supplier) *market.Catalog {
		c := &market.Catalog{Suppliers: map[market.SupplierID]*market.Supplier{}}
		for _, s := range suppliers {
			c.Suppliers[s.ID] = s
		}
		return c
	}
	rate := func(s *market.Supplier) int { return s.IngestRate }
	begin := time.Unix(1_000_000, 0)
	at := func(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }
	var l tokenBucketsByOwner
	l.setSupplierRates(newCatalog(slow, other), begin, rate)
	for _, step := range []struct {
		ms       int
		supplier *market.Supplier
		ok       bool
		want     [4]string
	}{
		{0, slow, true, [4]string{"2", "1", "1000001", ""}}, // full at first
		{0, slow, true, [4]string{"2", "0", "1000001", ""}},
		{0, slow, false, [4]string{"2", "0", "1000001", "1"}},
		{499, slow, false, [4]string{"2", "0", "1000001", "1"}},
		{500, slow, true, [4]string{"2", "0", "1000002", ""}},
		{501, slow, false, [4]string{"2", "0", "1000002", "1"}},
		{999, other, true, [4]string{"1", "0", "1000002", ""}}, // another bucket
		{1000, other, false, [4]string{"1", "0", "1000002", "1"}},
		{9000, slow, true, [4]string{"2", "1", "1000010", ""}}, // at most full
		{9000, slow, true, [4]string{"2", "0", "1000010", ""}},
		{9000, slow, false, [4]string{"2", "0", "1000010", "1"}},
		{9000, &market.Supplier{Ref: 9}, true, [4]string{}}, // a supplier that was just removed is not limited
	} {
		wantRateHeaders(t, fmt.Sprint(step.supplier.ID, " at ", step.ms, " ms"), step.ok, step.want, func(ctx *fasthttp.RequestCtx) time.Duration {
			return l.takeTokenForOwner(ctx, step.supplier.Ref, at(step.ms))
		})
	}
	// A reload with the same rate keeps the bucket; another rate gives no burst;
	// a supplier that is removed and added again has a new bucket, which is full.
	l.setSupplierRates(newCatalog(slow, other), at(9000), rate)
	var ctx fasthttp.RequestCtx
	if l.takeTokenForOwner(&ctx, slow.Ref, at(9000)) == 0 {
		t.Error("a reload with the same rate filled the bucket")
	}
	slow.IngestRate = 1000
	l.setSupplierRates(newCatalog(slow), at(9000), rate)
	if l.takeTokenForOwner(&ctx, slow.Ref, at(9000)) == 0 || l.takeTokenForOwner(&ctx, slow.Ref, at(9001)) > 0 {
		t.Error("want the new rate from the reload on")
	}
	l.setSupplierRates(newCatalog(other), at(9001), rate)
	l.setSupplierRates(newCatalog(slow, other), at(60_000), rate)
	if l.takeTokenForOwner(&ctx, slow.Ref, at(60_000)) > 0 {
		t.Error("want a full bucket for a supplier that was added again")
	}
}

// Concurrent requests have times in any order. The bucket gets tokens for each period of
// time only once.
func TestOutOfOrderTimesFillBucketOnce(t *testing.T) {
	begin := time.Unix(1_000_000, 0)
	b := newTokenBucket(1000, begin)
	for ok := true; ok; {
		ok, _ = b.takeTokens(1, begin)
	}
	taken := 0
	for range 50 {
		for _, ms := range []int{200, 100} {
			if ok, _ := b.takeTokens(1, begin.Add(time.Duration(ms)*time.Millisecond)); ok {
				taken++
			}
		}
	}
	for {
		ok, _ := b.takeTokens(1, begin.Add(200*time.Millisecond))
		if !ok {
			break
		}
		taken++
	}
	if taken != 200 {
		t.Errorf("%d tokens in 200 ms at 1000 per second, want 200", taken)
	}
}
