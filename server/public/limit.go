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

// tokenBucketsByOwner holds the token buckets of one rate limit, such as that of pings: one bucket
// per supplier or buyer. New buckets are full: a restart must not reject a client that keeps its
// rate. Only configured suppliers and buyers have a bucket, so clients cannot grow the map.
type tokenBucketsByOwner struct {
	mu      sync.Mutex // serializes changes of the map
	buckets atomic.Pointer[map[market.PermanentNumber]*tokenBucket]
}

// tokenBucket is a token bucket for concurrent requests, whose times arrive in any order. Its
// time never goes back, because a request with an earlier time would refill it for the same
// span twice.
type tokenBucket struct {
	mu        sync.Mutex
	limiter   *rate.Limiter
	latest    time.Time
	perSecond atomic.Int64 // the limiter's rate and size
}

func newTokenBucket(perSecond int, now time.Time) *tokenBucket {
	b := &tokenBucket{limiter: rate.NewLimiter(rate.Limit(perSecond), perSecond), latest: now}
	b.perSecond.Store(int64(perSecond))
	return b
}

// setRate changes the bucket to a new rate and size of perSecond tokens.
func (b *tokenBucket) setRate(perSecond int, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.advanceTimeLocked(now)
	b.limiter.SetLimitAt(at, rate.Limit(perSecond))
	b.limiter.SetBurstAt(at, perSecond)
	b.perSecond.Store(int64(perSecond))
}

// takeTokens takes n tokens out of the bucket, if it has as many, and reports whether it did.
// remaining is the number of remaining tokens.
func (b *tokenBucket) takeTokens(n int, now time.Time) (allowed bool, remaining float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.advanceTimeLocked(now)
	allowed = b.limiter.AllowN(at, n)
	return allowed, b.limiter.TokensAt(at)
}

func (b *tokenBucket) advanceTimeLocked(now time.Time) time.Time {
	if now.After(b.latest) {
		b.latest = now
	}
	return b.latest
}

// setSupplierRates sets the rate limit of each supplier to the value that rateOf returns. It
// adds buckets for new suppliers and drops those of removed ones.
func (l *tokenBucketsByOwner) setSupplierRates(catalog *market.Catalog, now time.Time, rateOf func(*market.Supplier) int) {
	rates := make(map[market.PermanentNumber]int, len(catalog.Suppliers))
	for _, supplier := range catalog.Suppliers {
		rates[supplier.Ref] = rateOf(supplier)
	}
	l.setBucketRates(rates, now)
}

// setBucketRates sets the rate limits to rates, by the number of the supplier or buyer. It adds
// buckets for new numbers and drops all that are not in rates.
func (l *tokenBucketsByOwner) setBucketRates(rates map[market.PermanentNumber]int, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var old map[market.PermanentNumber]*tokenBucket
	if known := l.buckets.Load(); known != nil {
		old = *known
	}
	buckets := make(map[market.PermanentNumber]*tokenBucket, len(rates))
	for owner, perSecond := range rates {
		b := old[owner]
		switch {
		case b == nil:
			b = newTokenBucket(perSecond, now)
		case int(b.perSecond.Load()) != perSecond:
			b.setRate(perSecond, now)
		}
		buckets[owner] = b
	}
	l.buckets.Store(&buckets)
}

// takeTokenForOwner counts a request of the supplier or buyer with the number ownerRef, and writes the
// rate limit headers. Over the limit it returns how long the client must wait, otherwise 0. An owner
// without a bucket has no limit and gets no headers.
func (l *tokenBucketsByOwner) takeTokenForOwner(ctx *fasthttp.RequestCtx, ownerRef market.PermanentNumber, now time.Time) (wait time.Duration) {
	b := (*l.buckets.Load())[ownerRef]
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
func (l *tokenBucketsByOwner) takeBytes(ctx *fasthttp.RequestCtx, supplier *market.Supplier, n int, now time.Time) (wait time.Duration) {
	b := (*l.buckets.Load())[supplier.Ref]
	if b == nil || n == 0 {
		return 0
	}
	n = min(n, int(b.perSecond.Load())) // a body over the limit was partly read and may exceed the bucket
	allowed, left := b.takeTokens(n, now)
	if allowed {
		return 0
	}
	b.setRateHeaders(&ctx.Response.Header, left, now)
	return b.timeUntilTokens(n, left)
}

// setRateHeaders writes the X-RateLimit headers for a bucket that has remainingTokens at the time
// now.
func (b *tokenBucket) setRateHeaders(header *fasthttp.ResponseHeader, remainingTokens float64, now time.Time) {
	perSecond := int(b.perSecond.Load())
	full := float64(now.UnixNano())/1e9 + (float64(perSecond)-remainingTokens)/float64(perSecond)
	httperror.SetRateLimitHeaders(header, perSecond, remainingTokens, full)
}

// timeUntilTokens returns the time until the bucket has n tokens if it now has remainingTokens.
// The result is at least one second, in whole seconds.
func (b *tokenBucket) timeUntilTokens(n int, remainingTokens float64) time.Duration {
	wait := math.Ceil((float64(n) - remainingTokens) / float64(b.perSecond.Load()))
	return time.Duration(max(1, wait)) * time.Second
}

// applyLimitsAndParseBody applies the supplier's rate limits to the request (429), and then checks
// and parses the body (413, 415, 400). If it returns false, it has already sent an error.
func (s *Server) applyLimitsAndParseBody(ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, readErr httperror.Error, rateLimits *tokenBucketsByOwner, supplier *market.Supplier, now int64) (ok bool) {
	r.timings.Trace.RecordCallerAndBodySize(string(supplier.ID), len(r.body))
	if wait := rateLimits.takeTokenForOwner(ctx, supplier.Ref, time.Unix(0, now)); wait > 0 {
		httperror.Write(ctx, id, httperror.RateLimited.WithRetryAfter(wait))
		return false
	}
	if wait := s.byteLimits.takeBytes(ctx, supplier, len(r.body), time.Unix(0, now)); wait > 0 {
		httperror.Write(ctx, id, httperror.ByteRateLimited.WithRetryAfter(wait))
		return false
	}
	return s.parseBodyObject(ctx, id, r, readErr)
}
