package clock

import (
	"sync"
	"sync/atomic"
	"time"
)

// Clock is the clock of an exchange: the wall clock at process start plus the monotonic
// time since then, so that it never goes back.
//
// It does not go back over a restart either: if the wall clock is behind the last log
// entry, the exchange moves the Clock forward to that entry. Otherwise times measured by
// the clock and expiry by the log's time would differ, and new entries would expire at
// once.
type Clock struct {
	start time.Time
	base  atomic.Int64 // value of Now at start, in Unix nanoseconds

	timers sync.Pool // *pooledTimer
}

// New starts a clock.
func New() *Clock {
	c := &Clock{start: time.Now()}
	c.timers.New = c.newPooledTimer
	c.base.Store(c.start.UnixNano())
	return c
}

// Now returns the clock's time in Unix nanoseconds.
func (c *Clock) Now() int64 { return c.base.Load() + int64(time.Since(c.start)) }

// AdvanceTo sets the clock forward to unixNanos if the clock is behind it. It returns by how much
// the clock was behind. The exchange calls it once at a start, with the time of the log's last
// entry.
func (c *Clock) AdvanceTo(unixNanos int64) (behind time.Duration) {
	behind = max(0, time.Duration(unixNanos-c.Now()))
	c.base.Add(int64(behind))
	return behind
}

// ToWallClock converts the time t of this clock to the machine's clock. Network connections
// compare their deadlines with the machine's clock.
func (c *Clock) ToWallClock(t time.Time) time.Time {
	return time.Now().Add(time.Duration(t.UnixNano() - c.Now()))
}

// AheadOfWallClock returns how far this clock is ahead of the machine's clock; negative if it
// is behind. They differ after AdvanceTo, or if the machine's clock was set.
func (c *Clock) AheadOfWallClock() time.Duration {
	return time.Duration(c.Now() - time.Now().UnixNano())
}

// Timer returns a channel that receives a value after d, and a function that stops the timer.
// Call stop exactly once, also after the value was received: it returns the timer to a pool.
// The channel receives no value after that.
func (c *Clock) Timer(d time.Duration) (fired <-chan time.Time, stop func() bool) {
	a, _ := c.timers.Get().(*pooledTimer)
	a.timer.Reset(d)
	return a.timer.C, a.stop
}

// pooledTimer is a timer that Clock.Timer reuses. After Stop or Reset its channel holds no
// value of an earlier use.
type pooledTimer struct {
	timer *time.Timer
	stop  func() bool
}

func (c *Clock) newPooledTimer() any {
	a := &pooledTimer{timer: time.NewTimer(time.Hour)}
	a.stop = func() bool {
		early := a.timer.Stop()
		c.timers.Put(a)
		return early
	}
	return a
}
