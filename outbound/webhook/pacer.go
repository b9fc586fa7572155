package webhook

// attemptRateLimiter spreads the starts of attempts. If ten thousand webhooks became due at once, their
// attempts would occupy the processor, and new leads would wait behind them.
//
// An attempt may begin up to pacerSlack early, so that a few attempts all begin at once and
// a late timer does not lower the rate.
type attemptRateLimiter struct {
	rate      int64 // starts per second; 0: unlimited
	nextStart int64 // regular time of the next start, in Unix nanoseconds
}

const (
	second     = int64(1_000_000_000)
	pacerSlack = second / 100
)

// nextStartNanosOrZero returns the time at which the next attempt may begin, in Unix nanoseconds,
// or 0 if it may begin now.
func (p *attemptRateLimiter) nextStartNanosOrZero(nowNanos int64) int64 {
	if p.rate == 0 || p.nextStart-pacerSlack <= nowNanos {
		return 0
	}
	return p.nextStart - pacerSlack
}

// recordStart records that an attempt begins now, which delays the next one by 1/rate
// seconds. Idle time before does not allow more attempts later.
func (p *attemptRateLimiter) recordStart(nowNanos int64) {
	if p.rate > 0 {
		p.nextStart = max(p.nextStart, nowNanos) + second/p.rate
	}
}
