package engine

import (
	"errors"
	"time"

	"pingpost/engine/market"
)

// Waiter is told what became of an entry of the log: on the committer's own
// goroutine, in the order of the log. It is an alias of an unnamed type so that
// the log and the engine agree on it without one importing the other. The
// engine's have a method more, Prepare, that a log may call on the same goroutine
// for some entries that are durable, before the first of them is told.
type Waiter = interface {
	// Committed says that the entry is durable, at this place in the log and
	// in a batch of this time, in Unix nanoseconds.
	Committed(seq uint64, at int64)
	// Failed says that the entry never will be.
	Failed(err error)
}

// ErrBusy is what Append returns while the log's queue is full: nothing was
// queued, and the same may be offered again.
var ErrBusy = errors.New("the log's queue is full")

// Log makes facts durable. Append queues data, which must stay as it is until
// the waiter is told; an error means that nothing was queued and the waiter is
// never told.
type Log interface {
	Append(data []byte, w Waiter) error
}

// ErrGone is what At returns where history no longer holds the fact. History is
// days long: whatever was open for seconds when the fact was logged is over.
var ErrGone = errors.New("the log's history no longer holds this fact")

// History reads facts back. At returns the bytes of one durable entry, as Append
// was given them; it is for the few answers that memory does not have. The bytes
// are the caller's. The error is ErrGone, or of the disk.
type History interface {
	At(seq uint64) ([]byte, error)
}

// Buyers speaks to buyers' endpoints. Post makes one attempt, Ping asks for one
// bid; each returns by the request's deadline, a Ping perhaps a little later:
// what it brings then is not heard.
type Buyers interface {
	Post(req *market.PostRequest) market.PostResult
	Ping(req *market.PingRequest) market.PingResult
}

// Clock tells the time and waits. Now is in Unix nanoseconds and never goes
// back.
type Clock interface {
	Now() int64
	// Timer's channel gets one value after d; stop releases what it uses.
	Timer(d time.Duration) (fired <-chan time.Time, stop func() bool)
}

// Entropy fills p with random bytes that nobody can guess.
type Entropy func(p []byte)
