package refbuyer

import (
	"sync"
	"time"
)

// limiter is a token bucket that holds the pings of one second and starts full. It counts
// time instead of tokens: a ping costs the time in which the bucket earns one token. So it
// never rounds.
type limiter struct {
	rate int           // a second; 0: unlimited
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

// allowance is the state of the limit for the caller.
type allowance struct {
	granted    bool
	remaining  int
	reset      int64 // when the bucket is full again, in Unix seconds
	retryAfter int   // seconds until the next ping is allowed
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
