package cluster

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
	raftwal "github.com/hashicorp/raft-wal"

	"pingpost/internal/durable"
)

// Node is a member of a cluster.
type Node struct {
	opt        Options
	raft       *raft.Raft
	started    atomic.Pointer[raft.Raft] // the same, for Raft's own goroutines, which run before raft is set
	transport  *nodeTransport
	store      *raftwal.WAL
	machine    *raftMachine
	leading    atomic.Pointer[leadership] // until all its waiters have their results
	lease      lease
	stored     storedIndexes
	stable     stableStore
	network    *nodeNetwork
	openChunks sync.Map      // of ReplicateFile: time.Time of the start by transfer
	check      chan struct{} // holds at most one token: compare the role with Raft's
	handOver   chan handOverRequest
	// handOverTerm is the term of the present hand-over. handOverSentTerm is the last term in which this node sent
	// the message of one to the successor. It never leads again in that term, because the message may arrive late.
	handOverTerm, handOverSentTerm atomic.Uint64
	stop                           chan struct{}
	loops                          sync.WaitGroup

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
	time.Sleep(opt.HeartbeatTimeout) // before this start the node may have confirmed a leader's lease
	if err := n.startRaft(); err != nil {
		return nil, errors.Join(err, n.closeStores())
	}
	n.loops.Add(3)
	go n.trackRole()
	go n.watchForStalls()
	go n.watchForLeaderLoss()
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
	if err := repairSealedTail(logDir); err != nil {
		return fmt.Errorf("cannot repair the Raft log in %q: %w", logDir, err)
	}
	logger := newRaftLogger(n.opt.Logger)
	var err error
	if n.store, err = raftwal.Open(logDir, raftwal.WithLogger(logger)); err != nil {
		return fmt.Errorf("cannot open the Raft log in %q: %w", logDir, err)
	}
	snapshots, err := openSnapshotStore(n.opt.Dir, logger)
	if err != nil {
		return fmt.Errorf("cannot open the Raft snapshots in %q: %w", n.opt.Dir, err)
	}
	if err := n.loadMarker(snapshots); err != nil {
		return err
	}
	n.network = newNodeNetwork(n.opt.Listener, n.opt.Dial)
	n.transport = n.newTransport(raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: n.network, ServerAddressProvider: n, MaxPool: 4, Timeout: n.opt.HeartbeatTimeout * 10, Logger: logger, MaxRPCsInFlight: maxInFlight,
	}))
	n.stable.StableStore = n.store
	logs := raft.LogStore(n.store)
	if n.opt.wrapLogStore != nil {
		logs = n.opt.wrapLogStore(logs)
	}
	kept := &retention{keepFor: n.opt.KeepFor, keepBytes: n.opt.KeepBytes}
	if err := kept.load(n.store, time.Now()); err != nil {
		return fmt.Errorf("cannot read the Raft log in %q: %w", logDir, err)
	}
	logs = &checkedLogStore{logs, n.fail, kept}
	n.raft, err = raft.NewRaft(n.raftConfig(logger), n.machine, logs, &n.stable, snapshots, n.transport)
	if err != nil {
		return fmt.Errorf("cannot start Raft in %q: %w", n.opt.Dir, err)
	}
	n.started.Store(n.raft)
	return nil
}

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
		n.opt.Logger.Error("this node failed and applies no further log entry; repair the cause and restart it", "node", n.opt.ID, "error", err)
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
