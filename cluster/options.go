package cluster

import (
	"log/slog"
	"net"
	"time"

	"github.com/hashicorp/raft"

	"pingpost/wal"
)

// DefaultHeartbeatTimeout is the default of Options.HeartbeatTimeout.
const DefaultHeartbeatTimeout = 250 * time.Millisecond

// Options of a node. Only the fields with a default may be zero.
type Options struct {
	ID       string       // of this node, unique in the cluster
	Dir      string       // for Raft's files
	DataDir  string       // for replicated files
	Listener net.Listener // for the other nodes; the node closes it
	Address  string       // at which the other nodes reach the listener; it must lead to this node only
	// Dial connects to the node with this id. It returns an error if another node answers at the address.
	Dial func(id, address string, timeout time.Duration) (net.Conn, error)

	Log          *wal.Replica // replayed into the state machine up to its end
	StateMachine StateMachine
	Roles        Roles
	// MayCompact returns an error while a reader of the log has not stored all entries up to last. The
	// Raft log then keeps them. Nil: always.
	MayCompact func(last uint64) error

	// MembersChanged gets the members after each change of them, and must return soon. Nil: not called.
	MembersChanged func([]Member)
	// Confirmed learns, as link.Registry.Confirm, which Raft entries, term and vote another node has stored.
	// The handshake refuses a node that forgot them. Calls are frequent, and must not block. Nil: not used.
	Confirmed func(node string, index, term, vote uint64)

	// HeartbeatTimeout is the time without a sign of the leader after which a follower wants to replace it;
	// default DefaultHeartbeatTimeout. It must be the same on all nodes: see link.Identity.
	HeartbeatTimeout time.Duration
	// MaxStall is the longest time in which a leader with proposals commits none. Then it makes room for
	// another leader; default 400 ms.
	MaxStall time.Duration
	// Limits of a batch and of the queue; defaults as in wal.Options.
	MaxBatch, MaxBatchBytes, QueueLen, QueueBytes int
	// CompactEvery is the number of Raft entries after which a node shortens its Raft log; default
	// 16,384. It keeps at least that many.
	CompactEvery uint64
	// KeepFor and KeepBytes limit the further entries that the Raft log keeps for nodes that are down:
	// default 10 minutes, and 1 GiB. A node that misses more needs a copy of another node's data.
	KeepFor   time.Duration
	KeepBytes int

	Now    func() int64 // the exchange's clock, in Unix nanoseconds
	Logger *slog.Logger

	wrapLogStore func(raft.LogStore) raft.LogStore // in tests, to make the disk fail
	loseHandOver bool                              // in tests, to lose the message that begins a hand-over
}

// Roles is notified when the role of this node changes, by one goroutine.
type Roles interface {
	// Lead begins the work of a leader: decide about requests and send to buyers and suppliers. Before
	// it, this node has applied all entries of earlier leaders.
	Lead(log *Log)
	// Follow ends that work. All waiters of Log have their results.
	Follow()
}

func (o Options) withDefaults() Options {
	setIfZero(&o.HeartbeatTimeout, DefaultHeartbeatTimeout)
	setIfZero(&o.MaxStall, 400*time.Millisecond)
	setIfZero(&o.MaxBatch, 256)
	setIfZero(&o.MaxBatchBytes, 1<<20)
	setIfZero(&o.QueueLen, 4096)
	setIfZero(&o.QueueBytes, 64<<20)
	setIfZero(&o.CompactEvery, 16_384)
	setIfZero(&o.KeepFor, 10*time.Minute)
	setIfZero(&o.KeepBytes, 1<<30)
	return o
}

func setIfZero[T int | uint64 | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}
