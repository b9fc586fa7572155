package engine

import (
	"errors"
	"time"

	"pingpost/engine/market"
)

// Waiter receives the result of an Append, on the committer's goroutine and in the order of the
// log. It is an alias of an unnamed type, so that log and engine need not import each other.
// The engine's waiters also have Prepare, which a log may call on the same goroutine for
// durable entries before it reports the first of them.
type Waiter = interface {
	// Committed reports that the entry is durable. seq is its position in the log, and at
	// the time of its batch in Unix nanoseconds.
	Committed(seq uint64, at int64)
	// Failed reports that the entry will never be durable.
	Failed(err error)
}

// ErrBusy is returned by Append while the log's queue is full. The entry was not queued,
// and the caller can try again.
var ErrBusy = errors.New("the log's queue is full")

// Log makes events durable. Append queues data, which must not change until the waiter has the
// result. After an error the entry was not queued, and the waiter gets no result.
type Log interface {
	Append(data []byte, w Waiter) error
}

// ErrGone is returned by At if the log's history no longer has the entry. The history covers
// days, so everything that was open for seconds at that time has ended.
var ErrGone = errors.New("the log's history no longer has this record")

// History reads entries back. At returns the bytes of one durable entry, for the few answers
// that the state does not have. The caller owns the bytes. The error is ErrGone, or comes
// from the disk.
type History interface {
	At(seq uint64) ([]byte, error)
}

// ErrErased is returned by Open if the key was erased. The contact data is unreadable for ever.
var ErrErased = errors.New("the contact data was erased")

// Sealer has a key for each lead, outside the log, so that the erasure of a key makes the
// lead's contact data unreadable. A key has a slot, which the lead's events name.
type Sealer interface {
	// Take returns a slot that no event names, and its key. It never blocks. The error is
	// ErrBusy if no key is prepared.
	Take(key *[32]byte) (slot uint64, err error)
	// Seal encrypts plain and appends it to dst. A key may encrypt several parts of its lead;
	// each part can be decrypted only with that slot and that lead.
	Seal(dst []byte, slot uint64, key *[32]byte, lead market.LeadID, plain []byte) []byte
	// Open decrypts sealed and appends the plaintext to dst. The error is ErrErased, or
	// comes from the disk.
	Open(dst []byte, slot uint64, lead market.LeadID, sealed []byte) ([]byte, error)
	// Erase erases keys, durably when it returns. To erase one again has no effect.
	Erase(slots []uint64) error
}

// Buyers sends requests to buyers' endpoints. Post makes one attempt, and Ping asks for one
// bid. Post returns by the request's deadline. Ping may return a little later, and the
// engine then ignores its result.
type Buyers interface {
	Post(req *market.PostRequest) market.PostResult
	Ping(req *market.PingRequest) market.PingResult
}

// Clock returns the time and makes timers. Now is in Unix nanoseconds and never decreases.
type Clock interface {
	Now() int64
	// Timer returns a channel that gets one value after d. stop releases the timer.
	Timer(d time.Duration) (fired <-chan time.Time, stop func() bool)
}

// Entropy fills p with unpredictable random bytes.
type Entropy func(p []byte)
