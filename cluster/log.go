package cluster

import (
	"errors"
	"time"

	"pingpost/wal"
)

var (
	// ErrNotLeader means that this node is not the leader. The entry was not proposed, and never becomes
	// durable; the leader may accept the request.
	ErrNotLeader = errors.New("cluster: this node is not the leader")
	// ErrNotTakenOver means that a hand-over failed, because the other node lacks entries or does not answer.
	ErrNotTakenOver = errors.New("cluster: the other node did not take over, because it lacks entries or does not answer; wait until it lacks no entry, and try again")
	// ErrUnknown means that this node lost the leadership after it had proposed the entry. The entry may
	// become durable, or not. Only the next leader knows.
	ErrUnknown = errors.New("cluster: this node lost the leadership before it knew whether a majority has the entry")
)

// Log is the exchange's log during one leadership of this node. It is the log of the engine of that time. A
// later leadership has another one: a request that began before may have decided with an old state.
type Log struct{ leadership *leadership }

// Append queues an entry, and w learns when a majority has it and this node has applied it. The caller
// must not change data before that. After an error of Append w gets no call; the errors are
// wal.ErrBusy, wal.ErrEmpty, wal.ErrTooLarge and ErrNotLeader.
func (l *Log) Append(data []byte, w wal.Waiter) error {
	if len(data) == 0 {
		return wal.ErrEmpty
	}
	if len(data) > wal.MaxEntry {
		return wal.ErrTooLarge
	}
	return l.leadership.queue.Enqueue(data, w)
}

// Queued returns the number and the bytes of the queued entries, and the age of the oldest that is not
// committed.
func (l *Log) Queued() (entries, bytes int, age time.Duration) {
	entries, bytes, age = l.leadership.queue.CountQueued()
	return entries, bytes, max(age, l.leadership.ageOfOldestProposal(time.Now()))
}
