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

// limits are the token buckets of one path, one a supplier. They are made when
// a catalog comes into force, so a bucket that nobody has used yet fills from
// then on: it begins empty, and a restart gives nobody a second burst. Only
// configured suppliers have one, so strangers cannot make it grow.
type limits struct {
	mu      sync.Mutex // of those that change the map
	buckets atomic.Pointer[map[market.Ref]*rate.Limiter]
}

// configure makes buckets for new suppliers, changes the rates of known ones,
// and drops those of suppliers that are gone.
func (l *limits) configure(catalog *market.Catalog, now time.Time, rateOf func(*market.Supplier) int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var old map[market.Ref]*rate.Limiter
	if known := l.buckets.Load(); known != nil {
		old = *known
	}
	buckets := make(map[market.Ref]*rate.Limiter, len(catalog.Suppliers))
	for _, supplier := range catalog.Suppliers {
		perSecond := rateOf(supplier)
		bucket := old[supplier.Ref]
		if bucket == nil {
			bucket = rate.NewLimiter(rate.Limit(perSecond), perSecond)
			bucket.AllowN(now, perSecond)
		} else if bucket.Burst() != perSecond {
			bucket.SetLimitAt(now, rate.Limit(perSecond))
			bucket.SetBurstAt(now, perSecond)
		}
		buckets[supplier.Ref] = bucket
	}
	l.buckets.Store(&buckets)
}

// take takes a token and writes the limit's headers; false: there was none, and
// Retry-After says when there will be.
func (l *limits) take(ctx *fasthttp.RequestCtx, supplier *market.Supplier, now time.Time) bool {
	bucket := (*l.buckets.Load())[supplier.Ref]
	if bucket == nil {
		return true
	}
	allowed := bucket.AllowN(now, 1)
	tokens := bucket.TokensAt(now)
	perSecond := float64(bucket.Limit())
	full := float64(now.UnixNano())/1e9 + (float64(bucket.Burst())-tokens)/perSecond
	header := &ctx.Response.Header
	var digits [20]byte
	header.SetBytesV("X-RateLimit-Limit", strconv.AppendInt(digits[:0], int64(bucket.Burst()), 10))
	header.SetBytesV("X-RateLimit-Remaining", strconv.AppendInt(digits[:0], int64(max(0, tokens)), 10))
	header.SetBytesV("X-RateLimit-Reset", strconv.AppendInt(digits[:0], int64(math.Ceil(full)), 10))
	if !allowed {
		wait := math.Ceil((1 - tokens) / perSecond)
		header.SetBytesV("Retry-After", strconv.AppendInt(digits[:0], int64(max(1, wait)), 10))
	}
	return allowed
}
