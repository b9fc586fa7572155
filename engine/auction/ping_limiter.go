package auction

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"pingpost/engine/market"
	"pingpost/engine/selection"
)

// BuyerPingLimiter decides whether an auction pings a buyer: by the health of its recent answers, and
// by its configured ping rate. It belongs to the buyer and outlives a configuration, so a new
// configuration changes the rate and keeps the rest. After a start of the process the buyer is
// healthy and its token bucket is empty, so that a restart allows no second burst.
//
// The nil BuyerPingLimiter, of test campaigns, always allows the ping and records nothing.
type BuyerPingLimiter struct {
	health selection.BuyerPingHealth

	mu     sync.Mutex
	bucket *rate.Limiter // nil: no limit
	latest int64         // the latest time of all calls, in Unix nanoseconds
}

// CheckHealthAndUseToken returns OutcomeNone if the buyer may be pinged now, and then takes a token of
// its ping rate. Otherwise it returns OutcomeUnhealthy, without taking a token, or
// OutcomeRateLimited.
func (l *BuyerPingLimiter) CheckHealthAndUseToken(nowNanos int64) market.BuyerOutcome {
	if l == nil {
		return market.OutcomeNone
	}
	if !l.health.CountAuctionAndShouldPing(nowNanos) {
		return market.OutcomeUnhealthy
	}
	if !l.useToken(nowNanos) {
		return market.OutcomeRateLimited
	}
	return market.OutcomeNone
}

// recordOutcomeForHealth counts the outcome of a ping for the buyer's health. answeredAtNanos is
// the time of the answer, in Unix nanoseconds.
func (l *BuyerPingLimiter) recordOutcomeForHealth(outcome market.BuyerOutcome, answeredAtNanos int64) {
	if l != nil {
		l.health.RecordOutcome(outcome, answeredAtNanos)
	}
}

// useToken takes one token from the buyer's token bucket, and returns false if the bucket is
// empty. Concurrent auctions report their times in any order, and rate.Limiter would fill the
// bucket twice for a time that goes back. So useToken never lets the bucket's time go back.
func (l *BuyerPingLimiter) useToken(nowNanos int64) (tokenTaken bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.latest = max(l.latest, nowNanos)
	return l.bucket == nil || l.bucket.AllowN(time.Unix(0, l.latest), 1)
}

// setRate sets the buyer's limit of pings per second, which is also the largest burst. Zero means
// no limit.
func (l *BuyerPingLimiter) setRate(pingsPerSecond int, nowNanos int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.latest = max(l.latest, nowNanos)
	at := time.Unix(0, l.latest)
	switch {
	case pingsPerSecond == 0:
		l.bucket = nil
	case l.bucket == nil:
		l.bucket = rate.NewLimiter(rate.Limit(pingsPerSecond), pingsPerSecond)
		l.bucket.AllowN(at, pingsPerSecond)
	case l.bucket.Burst() != pingsPerSecond:
		l.bucket.SetLimitAt(at, rate.Limit(pingsPerSecond))
		l.bucket.SetBurstAt(at, pingsPerSecond)
	}
}

// PingLimitersByBuyer has the ping limiter of each configured buyer, by the buyer's number.
// Only configured buyers have an entry, so no input from outside grows the map. Entries are never
// removed. The caller must serialize calls of UpdateOrAddForBuyer. Requests use
// the limiters that their campaign got when the configuration was compiled.
type PingLimitersByBuyer map[market.PermanentNumber]*BuyerPingLimiter

// UpdateOrAddForBuyer returns the ping limiter of a buyer, with the configured rate. It adds a new
// limiter if the buyer has none.
func (all PingLimitersByBuyer) UpdateOrAddForBuyer(buyer *market.Buyer, nowNanos int64) *BuyerPingLimiter {
	l := all[buyer.Ref]
	if l == nil {
		l = new(BuyerPingLimiter)
		all[buyer.Ref] = l
	}
	l.setRate(buyer.PingRate, nowNanos)
	return l
}
