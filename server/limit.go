package server

import (
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/time/rate"

	"pingpost/engine/market"
)

// limits are the token buckets of one path, one a supplier or buyer. They are made when
// a catalog comes into force, so a bucket that nobody has used yet fills from
// then on: it begins empty, and a restart gives nobody a second burst. Only
// configured ones have one, so strangers cannot make it grow.
type limits struct {
	mu      sync.Mutex // of those that change the map
	buckets atomic.Pointer[map[market.Ref]*bucket]
}

// A bucket is asked by requests side by side, whose times come in any order. One
// that is asked at an earlier time than before would fill a second time over what
// lies between: so to it time only goes on.
type bucket struct {
	mu      sync.Mutex
	limiter *rate.Limiter
	latest  time.Time
}

func newBucket(perSecond int, now time.Time) *bucket {
	b := &bucket{limiter: rate.NewLimiter(rate.Limit(perSecond), perSecond), latest: now}
	b.limiter.AllowN(now, perSecond)
	return b
}

// change sets another rate.
func (b *bucket) change(perSecond int, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.laterLocked(now)
	b.limiter.SetLimitAt(at, rate.Limit(perSecond))
	b.limiter.SetBurstAt(at, perSecond)
}

// take takes a token, if there is one, and says how many are left.
func (b *bucket) take(now time.Time) (allowed bool, left float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.laterLocked(now)
	allowed = b.limiter.AllowN(at, 1)
	return allowed, b.limiter.TokensAt(at)
}

func (b *bucket) laterLocked(now time.Time) time.Time {
	if now.After(b.latest) {
		b.latest = now
	}
	return b.latest
}

// configure makes buckets for new suppliers, changes the rates of known ones,
// and drops those of suppliers that are gone.
func (l *limits) configure(catalog *market.Catalog, now time.Time, rateOf func(*market.Supplier) int) {
	rates := make(map[market.Ref]int, len(catalog.Suppliers))
	for _, supplier := range catalog.Suppliers {
		rates[supplier.Ref] = rateOf(supplier)
	}
	l.set(rates, now)
}

// set is configure for whoever has these rates.
func (l *limits) set(rates map[market.Ref]int, now time.Time) {
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
			b.change(perSecond, now)
		}
		buckets[owner] = b
	}
	l.buckets.Store(&buckets)
}

// take takes a token and writes the limit's headers; false: there was none, and
// Retry-After says when there will be.
func (l *limits) take(ctx *fasthttp.RequestCtx, supplier *market.Supplier, now time.Time) bool {
	return l.takeOf(ctx, supplier.Ref, now)
}

// takeOf is take for whoever has the number.
func (l *limits) takeOf(ctx *fasthttp.RequestCtx, owner market.Ref, now time.Time) bool {
	b := (*l.buckets.Load())[owner]
	if b == nil {
		return true
	}
	allowed, tokens := b.take(now)
	burst := b.limiter.Burst()
	perSecond := float64(burst)
	full := float64(now.UnixNano())/1e9 + (perSecond-tokens)/perSecond
	header := &ctx.Response.Header
	var digits [20]byte
	header.SetBytesV("X-RateLimit-Limit", strconv.AppendInt(digits[:0], int64(burst), 10))
	header.SetBytesV("X-RateLimit-Remaining", strconv.AppendInt(digits[:0], int64(max(0, tokens)), 10))
	header.SetBytesV("X-RateLimit-Reset", strconv.AppendInt(digits[:0], int64(math.Ceil(full)), 10))
	if !allowed {
		wait := math.Ceil((1 - tokens) / perSecond)
		header.SetBytesV("Retry-After", strconv.AppendInt(digits[:0], int64(max(1, wait)), 10))
	}
	return allowed
}
