package engine

import (
	"cmp"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"pingpost/engine/market"
	"pingpost/engine/selection"
)

// asker is how one buyer is asked for bids: how it has answered lately, and how
// many pings it is owed by now. It stands for the buyer itself and not for what
// is configured of it, so a new configuration changes the rate and forgets
// nothing. A new process remembers nothing: the buyer is in good health then,
// and its bucket is empty, so that a restart gives nobody a second burst.
//
// The nil one is that of a rehearsal: it asks the buyer every time, and learns
// nothing.
type asker struct {
	health selection.Health

	mu     sync.Mutex
	bucket *rate.Limiter // nil: its pings are not limited
	latest int64         // the latest time that the bucket was asked at, Unix nanoseconds
}

// ask says whether the buyer is to be asked now, or what it comes to instead. A
// buyer that is spared for its health is not charged a ping.
func (a *asker) ask(now int64) market.Outcome {
	if a == nil {
		return market.OutcomeNone
	}
	if !a.health.ShouldPing(now) {
		return market.OutcomeUnhealthy
	}
	if !a.take(now) {
		return market.OutcomeRateLimited
	}
	return market.OutcomeNone
}

// answered notes what a ping came to.
func (a *asker) answered(outcome market.Outcome, came int64) {
	if a != nil {
		a.health.RecordOutcome(outcome, came)
	}
}

// take takes one ping out of the bucket. Auctions side by side come with their
// times in any order, and a bucket that is asked at an earlier time than before
// would fill a second time over what lies between: so to it time only goes on.
func (a *asker) take(now int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.latest = max(a.latest, now)
	return a.bucket == nil || a.bucket.AllowN(time.Unix(0, a.latest), 1)
}

// limit sets how many pings a second the buyer takes, burst the same; zero: any
// number.
func (a *asker) limit(perSecond int, now int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.latest = max(a.latest, now)
	at := time.Unix(0, a.latest)
	switch {
	case perSecond == 0:
		a.bucket = nil
	case a.bucket == nil:
		a.bucket = rate.NewLimiter(rate.Limit(perSecond), perSecond)
		a.bucket.AllowN(at, perSecond)
	case a.bucket.Burst() != perSecond:
		a.bucket.SetLimitAt(at, rate.Limit(perSecond))
		a.bucket.SetBurstAt(at, perSecond)
	}
}

// askers are kept by the buyer's number. Only what is configured has one, so
// strangers cannot make them many. Written while a configuration comes into
// force, under the engine's lock for that; requests read a plan's own lists.
type askers map[market.Ref]*asker

func (all askers) of(buyer *market.Buyer, now int64) *asker {
	a := all[buyer.Ref]
	if a == nil {
		a = new(asker)
		all[buyer.Ref] = a
	}
	a.limit(buyer.PingRate, now)
	return a
}

// sellers count the auctions that are open, by supplier.
type sellers struct {
	mu   sync.Mutex
	open map[market.Ref]int
}

// defaultAuctions is how many auctions of one seller may be open at once where
// nothing is said of it.
const defaultAuctions = 1000

// auctionsOf returns how many auctions a seller may have open at once.
func auctionsOf(supplier *market.Supplier) int {
	return cmp.Or(supplier.ConcurrentAuctions, defaultAuctions)
}

// enter counts an auction in; false: the seller has as many as it may.
func (s *sellers) enter(supplier *market.Supplier) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[supplier.Ref] >= auctionsOf(supplier) {
		return false
	}
	if s.open == nil {
		s.open = make(map[market.Ref]int)
	}
	s.open[supplier.Ref]++
	return true
}

func (s *sellers) leave(supplier *market.Supplier) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[supplier.Ref] == 0 {
		panic("BUG: an auction was left twice")
	}
	s.open[supplier.Ref]--
}

// total is how many auctions are open.
func (s *sellers) total() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, open := range s.open {
		n += open
	}
	return n
}

// Pings is how many pings are under way now.
func (e *Engine) Pings() int64 { return e.pinging.Load() }

// Auctions is how many auctions are open now: from the first ping to the last answer.
func (e *Engine) Auctions() int { return e.sellers.total() }
