// Package timer has timer channels that are safe inside a testing/synctest bubble
// under the race detector.
//
// A channel of package time is not: a receive from one that is already due runs the
// timer in the receiver's goroutine, without a lock (Go 1.26, maybeRunChan). All
// goroutines of a bubble share one context of the race detector for that, and two of
// them at once crash the process. timer_test.go has the reproduction. Outside a bubble
// the functions behave like those of package time.
//
// A channel becomes due before its receive in two ways, and each has a function:
//
//   - The duration is zero or negative: After.
//   - The goroutine waits for something else first: New.
//
// A layout rule finds the functions of package time that return a channel, in
// packages with bubble tests.
package timer

import (
	"context"
	"time"
)

// After returns a channel that receives a value after d, like time.After. Use it only if the receive
// follows at once; else use New. In a synctest bubble, the race detector crashes at a receive from a
// timer that is already due. For d <= 0 the channel already holds the value and involves no timer.
func After(d time.Duration) <-chan time.Time {
	if d <= 0 {
		return newDueChannel()
	}
	return time.After(d)
}

// New returns a channel that receives one value after d, and a function that stops the timer.
// Unlike with After, the receive may follow at any time. stop reports whether it came before
// the value was sent. A value that was sent stays in the channel.
func New(d time.Duration) (fired <-chan time.Time, stop func() bool) {
	if d <= 0 {
		return newDueChannel(), func() bool { return false }
	}
	c := make(chan time.Time, 1)
	t := time.AfterFunc(d, func() { c <- time.Now() })
	return c, t.Stop
}

func newDueChannel() <-chan time.Time {
	c := make(chan time.Time, 1)
	c <- time.Now()
	return c
}

// WaitUntil waits until the time due and returns true. If the context ends first, or has ended
// before the call, it returns false.
func WaitUntil(ctx context.Context, due time.Time) (reached bool) {
	wait := time.Until(due)
	if wait <= 0 {
		return ctx.Err() == nil
	}
	select {
	case <-After(wait):
		return true
	case <-ctx.Done():
		return false
	}
}
