package public

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/time/rate"

	"pingpost/engine/market"
	"pingpost/server/httperror"
)

// tokenBuckets holds the token buckets of a path, one per supplier or buyer. New buckets are
// full: a restart must not reject a client that keeps its rate. Only configured suppliers
// and buyers have a bucket, so clients cannot grow the map.
type tokenBuckets struct {
	mu      sync.Mutex // serializes changes of the map
	buckets atomic.Pointer[map[market.Ref]*bucket]
}

// bucket is a token bucket for concurrent requests, whose times arrive in any order. Its
// time never goes back, because a request with an earlier time would refill it for the same
// span twice.
type bucket struct {
	mu      sync.Mutex
	limiter *rate.Limiter
	latest  time.Time
}

func newBucket(perSecond int, now time.Time) *bucket {
	return &bucket{limiter: rate.NewLimiter(rate.Limit(perSecond), perSecond), latest: now}
}

// setRate changes the bucket to a new rate and size of perSecond tokens.
func (b *bucket) setRate(perSecond int, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.latestTimeLocked(now)
	b.limiter.SetLimitAt(at, rate.Limit(perSecond))
	b.limiter.SetBurstAt(at, perSecond)
}

// takeTokens takes n tokens out of the bucket, if it has as many, and reports whether it did.
// left is the number of remaining tokens.
func (b *bucket) takeTokens(n int, now time.Time) (allowed bool, left float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.latestTimeLocked(now)
	allowed = b.limiter.AllowN(at, n)
	return allowed, b.limiter.TokensAt(at)
}

func (b *bucket) latestTimeLocked(now time.Time) time.Time {
	if now.After(b.latest) {
		b.latest = now
	}
	return b.latest
}

// setRatesFromCatalog sets the rate limit of each supplier to the value that rateOf returns. It
// adds buckets for new suppliers and drops those of removed ones.
func (l *tokenBuckets) setRatesFromCatalog(catalog *market.Catalog, now time.Time, rateOf func(*market.Supplier) int) {
	rates := make(map[market.Ref]int, len(catalog.Suppliers))
	for _, supplier := range catalog.Suppliers {
		rates[supplier.Ref] = rateOf(supplier)
	}
	l.setBucketRates(rates, now)
}

// setBucketRates sets the rate limits to rates, by the number of the supplier or buyer. It adds
// buckets for new numbers and drops all that are not in rates.
func (l *tokenBuckets) setBucketRates(rates map[market.Ref]int, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var old map[market.Ref]*bucket
	if known := l.buckets.Load(); known != nil {
		old = *known
	}
	buckets := make(map[market.Ref]*bucket, len(rates))
	for owner, perSecond := range rates {
		b := old[owner]
		switch {
		case b == nil:
			b = newBucket(perSecond, now)
		case b.limiter.Burst() != perSecond:
			b.setRate(perSecond, now)
		}
		buckets[owner] = b
	}
	l.buckets.Store(&buckets)
}

// takeTokenForOwner counts a request of the supplier or buyer with the number owner, and writes
// the rate limit headers. Over the limit it returns how long the client must wait.
func (l *tokenBuckets) takeTokenForOwner(ctx *fasthttp.RequestCtx, owner market.Ref, now time.Time) (wait time.Duration) {
	b := (*l.buckets.Load())[owner]
	if b == nil {
		return 0
	}
	allowed, left := b.takeTokens(1, now)
	b.setRateHeaders(&ctx.Response.Header, left, now)
	if allowed {
		return 0
	}
	return b.timeUntilTokens(1, left)
}

// takeBytes counts the n bytes of a supplier's body. Over the limit it returns how long the
// supplier must wait, and its headers replace those of the request limit.
func (l *tokenBuckets) takeBytes(ctx *fasthttp.RequestCtx, supplier *market.Supplier, n int, now time.Time) (wait time.Duration) {
	b := (*l.buckets.Load())[supplier.Ref]
	if b == nil || n == 0 {
		return 0
	}
	n = min(n, b.limiter.Burst()) // a body over the limit was partly read and may exceed the bucket
	allowed, left := b.takeTokens(n, now)
	if allowed {
		return 0
	}
	b.setRateHeaders(&ctx.Response.Header, left, now)
	return b.timeUntilTokens(n, left)
}

// setRateHeaders writes the X-RateLimit headers for a bucket with left remaining tokens at the
// time now.
func (b *bucket) setRateHeaders(header *fasthttp.ResponseHeader, left float64, now time.Time) {
	perSecond := float64(b.limiter.Burst())
	full := float64(now.UnixNano())/1e9 + (perSecond-left)/perSecond
	httperror.SetRateHeaders(header, b.limiter.Burst(), left, full)
}

// timeUntilTokens returns how long it takes until the bucket has n tokens if it now has left.
// The result is at least one second, in whole seconds.
func (b *bucket) timeUntilTokens(n int, left float64) time.Duration {
	wait := math.Ceil((float64(n) - left) / float64(b.limiter.Burst()))
	return time.Duration(max(1, wait)) * time.Second
}
