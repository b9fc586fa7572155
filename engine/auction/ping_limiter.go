package auction

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"pingpost/engine/market"
	"pingpost/engine/selection"
)

// PingLimiter decides whether an auction pings a buyer: by the health of its recent answers, and
// by its configured ping rate. It belongs to the buyer and outlives a configuration, so a new
// configuration changes the rate and keeps the rest. After a start of the process the buyer is
// healthy and its token bucket is empty, so that a restart allows no second burst.
//
// The nil PingLimiter, of test campaigns, always allows the ping and records nothing.
type PingLimiter struct {
	health selection.BuyerPingHealth

	mu     sync.Mutex
	bucket *rate.Limiter // nil: no limit
	latest int64         // the latest time of all calls, in Unix nanoseconds
}

// CheckAndUseToken returns OutcomeNone if the buyer may be pinged now, and then takes a token of
// its ping rate. Otherwise it returns OutcomeUnhealthy, without taking a token, or
// OutcomeRateLimited.
func (l *PingLimiter) CheckAndUseToken(now int64) market.BuyerOutcome {
	if l == nil {
		return market.OutcomeNone
	}
	if !l.health.ShouldPing(now) {
		return market.OutcomeUnhealthy
	}
	if !l.useToken(now) {
		return market.OutcomeRateLimited
	}
	return market.OutcomeNone
}

// recordOutcome counts the outcome of a ping for the buyer's health. at is the time of the
// answer, in Unix nanoseconds.
func (l *PingLimiter) recordOutcome(outcome market.BuyerOutcome, at int64) {
	if l != nil {
		l.health.RecordOutcome(outcome, at)
	}
}

// useToken takes one token from the buyer's token bucket, and returns false if the bucket is
// empty. Concurrent auctions report their times in any order, and rate.Limiter would fill the
// bucket twice for a time that goes back. So useToken never lets the bucket's time go back.
func (l *PingLimiter) useToken(now int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.latest = max(l.latest, now)
	return l.bucket == nil || l.bucket.AllowN(time.Unix(0, l.latest), 1)
}

// setRate sets the buyer's limit of pings per second, which is also the largest burst. Zero means
// no limit.
func (l *PingLimiter) setRate(perSecond int, now int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.latest = max(l.latest, now)
	at := time.Unix(0, l.latest)
	switch {
	case perSecond == 0:
		l.bucket = nil
	case l.bucket == nil:
		l.bucket = rate.NewLimiter(rate.Limit(perSecond), perSecond)
		l.bucket.AllowN(at, perSecond)
	case l.bucket.Burst() != perSecond:
		l.bucket.SetLimitAt(at, rate.Limit(perSecond))
		l.bucket.SetBurstAt(at, perSecond)
	}
}

// PingLimiters has the ping limiter of each configured buyer, by the buyer's number. Requests
// never add entries. The caller must serialize calls of ForBuyer. Requests use the limiters that
// their campaign got when the configuration was compiled.
type PingLimiters map[market.PermanentNumber]*PingLimiter

// ForBuyer returns the ping limiter of a buyer, with the configured rate. It adds a new limiter
// if the buyer has none.
func (all PingLimiters) ForBuyer(buyer *market.Buyer, now int64) *PingLimiter {
	l := all[buyer.Ref]
	if l == nil {
		l = new(PingLimiter)
		all[buyer.Ref] = l
	}
	l.setRate(buyer.PingRate, now)
	return l
}
