package engine

import (
	"errors"
	"time"

	"pingpost/engine/market"
)

// CommitWaiter receives the result of an entry that Append queued: durable or failed. The log calls
// it on the committer's goroutine, in the order of the entries. It is an alias of an unnamed type,
// so that the packages of the log and the engine need not import each other. The engine's waiters
// also have a method Prepare. A log may call Prepare on the same goroutine for durable entries, before
// it reports the first of them.
type CommitWaiter = interface {
	// Committed reports that the entry is durable. seq is its position in the log. `at` is the
	// time of its batch, in Unix nanoseconds.
	Committed(seq uint64, at int64)
	// Failed reports that this process will not commit the entry. After ErrNotLeader the entry never
	// becomes durable. After any other error, a later leader or a restart may find it in the log.
	Failed(err error)
}

// ErrBusy is returned by Log.Append while the log's queue is full, and by Sealer.TakeUnusedKey
// while no key is prepared. The entry was not queued, or no key was taken, and the caller can
// try again.
var ErrBusy = errors.New("the log's queue is full, or no encryption key is prepared; try again shortly")

// ErrNotLeader is returned by Log.Append, or passed to CommitWaiter.Failed, if this node of a cluster
// does not lead: the entry never becomes durable, and another node may accept the request.
//
// Ingest, SellAtBid, PingForBestBid, PingForAllBids and the two methods for status reports return
// ErrNotLeader only if no event of the request was committed, or for ErrNextLeaderAnswers. The caller may then
// send the same request to another node, without the danger of two decisions. A status report may have
// confirmed the delivery before; a repeat finds it confirmed.
var ErrNotLeader = errors.New("this node does not lead the cluster; send the request to the leader")

// ErrLeadershipLost is passed to CommitWaiter.Failed if this node of a cluster lost the leadership before it
// knew whether the entry becomes durable.
var ErrLeadershipLost = errors.New("this node lost the leadership of the cluster before it knew the result; send the request again")

// IsEndOfLeadership reports whether an error says only that this node of a cluster does not lead. It is then no
// fault: the next leader repeats the work.
func IsEndOfLeadership(err error) bool {
	return errors.Is(err, ErrNotLeader) || errors.Is(err, ErrLeadershipLost)
}

// Log makes events durable. Append adds an encoded event to the log's queue; the caller must not
// change data until the waiter has the result. After an error of Append the entry was not queued,
// and the waiter gets no result.
type Log interface {
	Append(data []byte, w CommitWaiter) error
}

// ErrGone is returned by LogHistory.At if the log's history no longer has the entry. The history
// covers days, so auctions, claims and open requests of that time have long ended.
var ErrGone = errors.New("the log's history no longer has this record")

// LogHistory reads entries back from the log, for the few answers whose content is not in the state.
// At returns the bytes of the durable entry at position seq, which belong to the caller. The
// error is ErrGone, or comes from the disk.
type LogHistory interface {
	At(seq uint64) ([]byte, error)
}

// ErrErased is returned by Sealer.Open if the key was erased. The contact data that it encrypted
// is unreadable for ever.
var ErrErased = errors.New("the contact data of this lead was erased")

// Sealer encrypts the contact data of leads, each with a key of its own. The keys are stored
// outside the log, so that erasing a key makes the lead's contact data in the log unreadable.
// Each key is in a numbered slot, and the lead's events name the slot.
type Sealer interface {
	// TakeUnusedKey returns a slot that no event names, and its key. It never blocks. The error
	// is ErrBusy if no key is prepared.
	TakeUnusedKey(key *[32]byte) (slot uint64, err error)
	// Seal encrypts plain and appends it to dst. A key may encrypt several parts of its lead;
	// each part can be decrypted only with that slot and that lead.
	Seal(dst []byte, slot uint64, key *[32]byte, lead market.LeadID, plain []byte) []byte
	// Open decrypts sealed and appends the plaintext to dst. The error is ErrErased, or
	// comes from the disk.
	Open(dst []byte, slot uint64, lead market.LeadID, sealed []byte) ([]byte, error)
	// EraseKeys erases keys, durably when it returns. To erase one again has no effect.
	EraseKeys(slots []uint64) error
}

// BuyerSender sends requests to buyers' endpoints. Post sends a lead once, and Ping asks for one bid.
// Post returns by the request's deadline. Ping may return a little later; the engine ignores that
// result.
type BuyerSender interface {
	Post(req *market.BuyerPostRequest) market.BuyerPostResult
	Ping(req *market.BuyerPingRequest) market.BuyerPingResult
}

// Clock returns the time and makes timers. Now returns Unix nanoseconds and never decreases.
// Tests use a clock of their own.
type Clock interface {
	Now() int64
	// Timer returns a channel that gets one value after d. stop releases the timer.
	Timer(d time.Duration) (fired <-chan time.Time, stop func() bool)
}

// Entropy fills p with unpredictable random bytes, for identifiers and bid tokens. Tests use a
// reproducible one.
type Entropy func(p []byte)
