package server

import (
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

const (
	guesses     = 10          // wrong passwords a second that are answered at once
	guessPause  = time.Second // what the others wait for their answer at most
	mostGuesses = 256         // of them wait at once
)

// brake slows those who guess. Who knows the password never meets it, and so it
// cannot bound the guesses for good: it makes each hold a connection for a
// while, of which an address has few. Past mostGuesses nobody waits, so that
// guesses do not take up what an operator's request needs.
type brake struct {
	bucket  *rate.Limiter
	waiting *atomic.Int32
}

func newBrake() brake {
	return brake{rate.NewLimiter(guesses, guesses), new(atomic.Int32)}
}

// press returns when a wrong guess may be answered.
func (b brake) press() {
	if b.bucket.Allow() {
		return
	}
	defer b.waiting.Add(-1)
	if b.waiting.Add(1) <= mostGuesses {
		time.Sleep(guessPause)
	}
}
