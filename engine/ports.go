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

// ErrErased is what Open returns where the key was dropped: nobody can know any more
// who the lead was.
var ErrErased = errors.New("the person was erased")

// Sealer keeps a key for each lead, apart from the log, so that a person can be
// forgotten by dropping a key. A key has a slot, which the lead's facts name.
type Sealer interface {
	// Take gives a slot that no fact of the log names, and its key; it waits for
	// nothing. The error is ErrBusy where none lies ready.
	Take(key *[32]byte) (slot uint64, err error)
	// Seal appends what it makes of plain to dst. What one lead's key has sealed,
	// which may be several parts, opens under that slot and for that lead alone.
	Seal(dst []byte, slot uint64, key *[32]byte, lead market.LeadID, plain []byte) []byte
	// Open appends what Seal was given to dst. The error is ErrErased, or of the disk.
	Open(dst []byte, slot uint64, lead market.LeadID, sealed []byte) ([]byte, error)
	// Erase drops keys, durably when it returns. To drop one again does no harm.
	Erase(slots []uint64) error
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
