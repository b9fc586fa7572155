package cluster

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
	raftwal "github.com/hashicorp/raft-wal"

	"pingpost/cluster/clusterid"
	"pingpost/internal/durable"
	"pingpost/wal"
)

// DefaultHeartbeat is the default of Options.Heartbeat.
const DefaultHeartbeat = 200 * time.Millisecond

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

	// Heartbeat is the time without a sign of the leader after which a follower wants to replace it;
	// default DefaultHeartbeat. It must be the same on all nodes: see link.Identity.
	Heartbeat time.Duration
	// MaxStall is the longest time in which a leader with proposals commits none. Then it makes room for
	// another leader; default 400 ms.
	MaxStall time.Duration
	// Limits of a batch and of the queue; defaults as in wal.Options.
	MaxBatch, MaxBatchBytes, QueueLen, QueueBytes int
	// CompactEvery is the number of Raft entries after which a node shortens its Raft log; default
	// 16,384. It keeps that many for nodes that lag.
	CompactEvery uint64

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

// Node is a member of a cluster.
type Node struct {
	opt       Options
	raft      *raft.Raft
	started   atomic.Pointer[raft.Raft] // the same, for Raft's own goroutines, which run before raft is set
	transport *nodeTransport
	store     *raftwal.WAL
	machine   *raftMachine
	leading   atomic.Pointer[leadership] // until all its waiters have their results
	lease     lease
	stable    stableStore
	network   *nodeNetwork
	check     chan struct{} // holds at most one token: compare the role with Raft's
	handOver  chan handOverRequest
	// handOverTerm is the term of the present hand-over. released is the last term in which this node sent
	// a message for one. It never leads again in that term, because the message may arrive late.
	handOverTerm, released atomic.Uint64
	stop                   chan struct{}
	loops                  sync.WaitGroup

	failMu  sync.Mutex
	failure error
	failed  chan struct{} // closed when failure is set
}

// Start starts a node of a cluster. A new node has no members until Bootstrap, or until a leader adds it.
func Start(opt Options) (*Node, error) {
	opt = opt.withDefaults()
	if err := checkAddress(opt.Address); err != nil {
		return nil, errors.Join(err, opt.Listener.Close())
	}
	n := &Node{opt: opt, check: make(chan struct{}, 1), handOver: make(chan handOverRequest), stop: make(chan struct{}), failed: make(chan struct{})}
	n.machine = newRaftMachine(n)
	time.Sleep(opt.Heartbeat) // before this start the node may have confirmed a leader's lease
	if err := n.startRaft(); err != nil {
		return nil, errors.Join(err, n.closeStores())
	}
	n.loops.Add(2)
	go n.trackRole()
	go n.watchForStalls()
	return n, nil
}

func (n *Node) startRaft() error {
	if err := durable.MakeFolder(n.opt.Dir); err != nil {
		return fmt.Errorf("cannot create %q: %w", n.opt.Dir, err)
	}
	logDir := filepath.Join(n.opt.Dir, "log")
	if err := durable.MakeFolder(logDir); err != nil {
		return fmt.Errorf("cannot create %q: %w", logDir, err)
	}
	logger := newRaftLogger(n.opt.Logger)
	var err error
	if n.store, err = raftwal.Open(logDir, raftwal.WithLogger(logger)); err != nil {
		return fmt.Errorf("cannot open the Raft log in %q: %w", logDir, err)
	}
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(n.opt.Dir, 2, logger)
	if err != nil {
		return fmt.Errorf("cannot open the Raft snapshots in %q: %w", n.opt.Dir, err)
	}
	if err := n.loadMarker(snapshots); err != nil {
		return err
	}
	n.network = newNodeNetwork(n.opt.Listener, n.opt.Dial)
	n.transport = n.newTransport(raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: n.network, ServerAddressProvider: n, MaxPool: 4, Timeout: n.opt.Heartbeat * 10, Logger: logger, MaxRPCsInFlight: maxInFlight,
	}))
	n.stable.StableStore = n.store
	logs := raft.LogStore(n.store)
	if n.opt.wrapLogStore != nil {
		logs = n.opt.wrapLogStore(logs)
	}
	logs = &checkedLogStore{logs, n.fail}
	n.raft, err = raft.NewRaft(n.raftConfig(logger), n.machine, logs, &n.stable, snapshots, n.transport)
	if err != nil {
		return fmt.Errorf("cannot start Raft in %q: %w", n.opt.Dir, err)
	}
	n.started.Store(n.raft)
	return nil
}

// loadMarker loads the position up to which the Raft log was deleted. Raft itself reads only its index.
func (n *Node) loadMarker(snapshots raft.SnapshotStore) error {
	list, err := snapshots.List()
	if err != nil {
		return err
	}
	if len(list) == 0 { // Raft delivers the parts of files again
		return os.RemoveAll(n.incomingFolder())
	}
	_, content, err := snapshots.Open(list[0].ID)
	if err != nil {
		return fmt.Errorf("cannot open a Raft snapshot: %w", err)
	}
	defer content.Close()
	return n.machine.load(content)
}

// Bootstrap makes this node the first member of a new cluster, with a new id. It fails if the node has a
// Raft log.
func (n *Node) Bootstrap() error {
	if n.raft.LastIndex() > 0 {
		return raft.ErrCantBootstrap
	}
	if err := clusterid.Create(n.opt.DataDir); err != nil {
		return err
	}
	self := raft.Server{ID: raft.ServerID(n.opt.ID), Address: raft.ServerAddress(n.opt.Address)}
	return n.raft.BootstrapCluster(raft.Configuration{Servers: []raft.Server{self}}).Error()
}

// membershipTimeout limits how long a change of the members waits for earlier work of the leader.
const membershipTimeout = 5 * time.Second

// Add makes a node a voting member. Only the leader can add one. The node must have a copy of the data
// that reaches into the leader's Raft log.
func (n *Node) Add(id, address string) error {
	return n.raft.AddVoter(raft.ServerID(id), raft.ServerAddress(address), 0, membershipTimeout).Error()
}

// Remove removes a member. Only the leader can remove one.
func (n *Node) Remove(id string) error {
	return n.raft.RemoveServer(raft.ServerID(id), 0, membershipTimeout).Error()
}

// HandOver makes another member the leader: the one with the id to, or for "" the one with the most
// entries. First this node finishes its leadership: it rejects new
// entries with ErrNotLeader, and waits for the results of those that it has proposed. So a planned
// hand-over leaves no result unknown. If the hand-over fails after its message was sent, this node does
// not lead again in its term. After MaxStall it makes room for another leader.
func (n *Node) HandOver(to string) error {
	request := handOverRequest{to: to, done: make(chan error, 1)}
	select {
	case n.handOver <- request:
		return <-request.done
	case <-n.stop:
		return ErrNotLeader
	}
}

// Member is a voting member of the cluster.
type Member struct{ ID, Address string }

// Leader returns the leader, or the zero Member during an election.
func (n *Node) Leader() Member {
	address, id := n.raft.LeaderWithID()
	return Member{string(id), string(address)}
}

// Members returns the members of the cluster as this node knows them.
func (n *Node) Members() []Member { return membersOf(n.raft.GetConfiguration().Configuration()) }

func membersOf(configuration raft.Configuration) (members []Member) {
	for _, s := range configuration.Servers {
		members = append(members, Member{string(s.ID), string(s.Address)})
	}
	return members
}

// Term returns Raft's present term.
func (n *Node) Term() uint64 { return n.raft.CurrentTerm() }

// Failed returns a channel that closes when this node can apply no further entry. Err has the reason.
func (n *Node) Failed() <-chan struct{} { return n.failed }

// Err returns the reason why this node can apply no further entry, or nil.
func (n *Node) Err() error {
	n.failMu.Lock()
	defer n.failMu.Unlock()
	return n.failure
}

func (n *Node) fail(err error) {
	n.failMu.Lock()
	defer n.failMu.Unlock()
	if n.failure == nil {
		n.failure = err
		n.opt.Logger.Error("this node left the cluster's work: it applies nothing more; repair the cause and restart it", "node", n.opt.ID, "error", err)
		close(n.failed)
	}
}

// Close stops the node. A leader hands over first.
func (n *Node) Close() error {
	if n.raft.State() == raft.Leader {
		if err := n.HandOver(""); err != nil {
			n.opt.Logger.Info("the leader stops without a hand-over", "error", err)
		}
	}
	return n.shutDown()
}

// shutDown stops the node without a hand-over.
func (n *Node) shutDown() error {
	close(n.stop)
	n.loops.Wait()
	ended := n.raft.Shutdown()
	err := n.transport.Close() // before the end of Raft, which may wait for a vote
	err = errors.Join(err, ended.Error())
	n.machine.history.close()
	return errors.Join(err, n.closeStores())
}

func (n *Node) closeStores() (err error) {
	if n.transport != nil {
		err = n.transport.Close()
		n.network.closeAll()
	} else {
		err = n.opt.Listener.Close()
	}
	n.stable.close()
	if n.store != nil {
		err = errors.Join(err, n.store.Close())
	}
	return err
}

func (o Options) withDefaults() Options {
	setIfZero(&o.Heartbeat, DefaultHeartbeat)
	setIfZero(&o.MaxStall, 400*time.Millisecond)
	setIfZero(&o.MaxBatch, 256)
	setIfZero(&o.MaxBatchBytes, 1<<20)
	setIfZero(&o.QueueLen, 4096)
	setIfZero(&o.QueueBytes, 64<<20)
	setIfZero(&o.CompactEvery, 16_384)
	return o
}

func setIfZero[T int | uint64 | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}
