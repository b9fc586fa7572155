package server

import "time"

// Clock is the engine's clock: the wall clock at the start of the process plus
// what the monotonic clock has counted since, so that it never goes back.
type Clock struct{ start time.Time }

// NewClock starts a clock.
func NewClock() *Clock { return &Clock{start: time.Now()} }

// Now is in Unix nanoseconds.
func (c *Clock) Now() int64 { return c.start.UnixNano() + int64(time.Since(c.start)) }

// Timer fires once after d.
func (c *Clock) Timer(d time.Duration) (fired <-chan time.Time, stop func() bool) {
	t := time.NewTimer(d)
	return t.C, t.Stop
}
