package server

import (
	"sync"
	"sync/atomic"
	"time"
)

// Clock is the exchange's clock: the wall clock at the start of the process plus
// what the monotonic clock has counted since, so that it never goes back.
//
// Nor does it over a restart: where the wall clock is behind what was logged, the
// exchange moves its own to there. What is then measured from it, to expire, is
// swept by the log's time, and would be gone at once where the two differed.
type Clock struct {
	start time.Time
	base  atomic.Int64 // what Now was at start, in Unix nanoseconds

	alarms sync.Pool // *alarm
}

// NewClock starts a clock.
func NewClock() *Clock {
	c := &Clock{start: time.Now()}
	c.alarms.New = c.newAlarm
	c.base.Store(c.start.UnixNano())
	return c
}

// Now is in Unix nanoseconds.
func (c *Clock) Now() int64 { return c.base.Load() + int64(time.Since(c.start)) }

// Forward moves the clock to at, in Unix nanoseconds, where it is behind, and
// returns by how much it was. The one who starts the exchange calls it, once.
func (c *Clock) Forward(at int64) (behind time.Duration) {
	behind = max(0, time.Duration(at-c.Now()))
	c.base.Add(int64(behind))
	return behind
}

// Real is when the machine's clock will show what this one shows at t: what goes
// by the machine's, as the network does, is to be given that.
func (c *Clock) Real(t time.Time) time.Time {
	return time.Now().Add(time.Duration(t.UnixNano() - c.Now()))
}

// Ahead is how far this clock is ahead of the machine's; less than nothing where it
// is behind. It is ahead after Forward, and either where the machine's was set.
func (c *Clock) Ahead() time.Duration { return time.Duration(c.Now() - time.Now().UnixNano()) }

// Timer fires once after d, unless stop was called; that is called once, and
// then the channel gives nothing more.
func (c *Clock) Timer(d time.Duration) (fired <-chan time.Time, stop func() bool) {
	a, _ := c.alarms.Get().(*alarm)
	a.timer.Reset(d)
	return a.timer.C, a.stop
}

// alarm is a timer that is kept from use to use. Reset and Stop leave no old
// value in its channel.
type alarm struct {
	timer *time.Timer
	stop  func() bool
}

func (c *Clock) newAlarm() any {
	a := &alarm{timer: time.NewTimer(time.Hour)}
	a.stop = func() bool {
		early := a.timer.Stop()
		c.alarms.Put(a)
		return early
	}
	return a
}
