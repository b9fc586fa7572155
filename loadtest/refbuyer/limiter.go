package refbuyer

import (
	"sync"
	"time"
)

// limiter is a token bucket of one second's pings, full at the start. It is
// kept in time and not in tokens: one ping costs the time in which the bucket
// earns one, so nothing is ever rounded away.
type limiter struct {
	rate int           // a second; 0: no limit
	cost time.Duration // of one ping

	mu      sync.Mutex
	credit  time.Duration // at most a second
	last    time.Time
	limited int64
}

func newLimiter(rate int) *limiter {
	l := &limiter{rate: rate, credit: time.Second}
	if rate > 0 {
		l.cost = time.Second / time.Duration(rate)
	}
	return l
}

// allowance is what a caller is told of its limit.
type allowance struct {
	granted    bool
	remaining  int
	reset      int64 // when the bucket is full again, in seconds since 1970
	retryAfter int   // seconds until the next is granted
}

func (l *limiter) take(now time.Time) (a allowance) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if earned := now.Sub(l.last); earned > 0 {
		l.credit = min(time.Second, l.credit+min(earned, time.Second))
		l.last = now
	}
	if a.granted = l.credit >= l.cost; a.granted {
		l.credit -= l.cost
	} else {
		l.limited++
		a.retryAfter = int((l.cost - l.credit + time.Second - 1) / time.Second)
	}
	a.remaining = int(l.credit / l.cost)
	full := now.Add(time.Second - l.credit)
	a.reset = full.Add(time.Second - 1).Unix()
	return a
}

func (l *limiter) refused() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.limited
}
