package cluster

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"pingpost/wal/commitqueue"
)

// maxInFlight is the number of batches that the leader proposes before the first of them is committed.
// The leader fsyncs a batch before it sends it, so with one in flight the disks of leader and followers
// would take turns.
const maxInFlight = 4

// leadership proposes batches, from the moment at which this node has applied all entries of earlier
// leaders until its first failed proposal. The node then needs a new one, even if it is still the leader.
//
// Two goroutines share it. The proposer takes batches from the queue. The collector waits for their
// results, in order.
//
// Each proposal is taken from open once: by the state machine, which commits its waiters, or by the
// collector, which fails them. So each waiter gets exactly one result. A batch that commits after the
// collector failed it has no waiters, like the batch of another node.
type leadership struct {
	node     *Node
	id       uint64
	term     uint64
	queue    *commitqueue.Queue
	next     uint64        // sequence of the next entry to propose; only the proposer uses it, at and previous
	at       int64         // time of the last batch
	previous uint32        // fingerprint of the entry before next
	slots    chan struct{} // one token for each batch in flight
	proposed chan *proposal
	broken   atomic.Bool   // a proposal failed, or the leadership ends: propose no more
	ended    chan struct{} // closed when all waiters have their result

	mu   sync.Mutex
	last uint64 // number of the last proposal
	open map[uint64]*proposal
}

// proposal is a batch that Raft has, with the waiters of its entries.
type proposal struct {
	number  uint64
	entries []commitqueue.Entry
	began   time.Time
	result  raft.ApplyFuture
}

// newLeadership begins to propose batches after the end of the log. previous is the fingerprint of the last
// entry. No entry of an earlier leader may follow, so the caller has passed a barrier in this term.
func (n *Node) newLeadership(term uint64, previous uint32) *leadership {
	last, at := n.opt.Log.LastEntry()
	of := &leadership{
		node: n, id: randomNumber(), term: term, next: last + 1, at: at, previous: previous,
		queue: commitqueue.New(n.opt.QueueLen, n.opt.QueueBytes, func(dataLen int) int { return dataLen }),
		slots: make(chan struct{}, maxInFlight), proposed: make(chan *proposal, maxInFlight), ended: make(chan struct{}),
		open: map[uint64]*proposal{},
	}
	go of.propose()
	go of.awaitResults()
	return of
}

// end rejects further entries with ErrNotLeader and returns when all waiters have their result.
func (of *leadership) end() {
	of.failQueued()
	<-of.ended
}

// failQueued closes the queue and fails its entries, which were never proposed.
func (of *leadership) failQueued() {
	of.broken.Store(true)
	entries, calls := of.queue.CloseAndTakeAll(ErrNotLeader)
	commitqueue.NotifyFailed(entries, ErrNotLeader)
	for _, c := range calls {
		c.Done <- ErrNotLeader
	}
}

// propose takes batches from the queue until the queue is closed. It waits for a slot first, so that
// entries collect in the queue meanwhile and one batch covers them.
func (of *leadership) propose() {
	defer close(of.proposed)
	opt := &of.node.opt
	for {
		of.slots <- struct{}{}
		entries, _ := of.queue.DequeueBatch(nil, opt.MaxBatch, opt.MaxBatchBytes, opt.MaxBatchBytes)
		if len(entries) == 0 {
			return
		}
		if of.broken.Load() {
			commitqueue.NotifyFailed(entries, ErrNotLeader)
			return
		}
		p := of.add(entries)
		of.at = max(opt.Now(), of.at)
		b := batch{leadership: of.id, term: of.term, number: p.number, first: of.next, at: of.at, previous: of.previous}
		of.next += uint64(len(entries))
		of.previous = entryFingerprint(of.next-1, of.at, entries[len(entries)-1].Data)
		p.result = of.node.raft.ApplyLog(raft.Log{Data: encodeBatch(&b, entries)}, 0)
		of.proposed <- p
	}
}

// awaitResults waits for the results of the proposals, in their order.
func (of *leadership) awaitResults() {
	defer close(of.ended)
	for p := range of.proposed {
		err := p.result.Error()
		if err == nil {
			err, _ = p.result.Response().(error)
		}
		if err != nil {
			if of.take(p.number) != nil {
				commitqueue.NotifyFailed(p.entries, errorOfWaiter(err))
			}
			of.failQueued()
			of.node.requestRoleCheck()
		}
		of.queue.MarkBatchCommitted()
		<-of.slots
	}
}

// errIgnored is the result of a batch that every node ignores: see batchOrder.
var errIgnored = errors.New("cluster: the batch does not follow the one before it, and no node applies it")

// errorOfWaiter translates the error of a proposal. Only these errors prove that no node applies it.
func errorOfWaiter(err error) error {
	for _, certain := range []error{raft.ErrNotLeader, raft.ErrLeadershipTransferInProgress, raft.ErrEnqueueTimeout, errIgnored} {
		if errors.Is(err, certain) {
			return ErrNotLeader
		}
	}
	return ErrUnknown
}

// add registers the next proposal.
func (of *leadership) add(entries []commitqueue.Entry) *proposal {
	of.mu.Lock()
	defer of.mu.Unlock()
	of.last++
	p := &proposal{number: of.last, entries: entries, began: time.Now()}
	of.open[p.number] = p
	return p
}

// take removes and returns the proposal with this number. It returns nil if it was taken before.
func (of *leadership) take(number uint64) *proposal {
	of.mu.Lock()
	defer of.mu.Unlock()
	p := of.open[number]
	delete(of.open, number)
	return p
}

// ageOfOldestProposal returns how long the oldest proposal without a result waits; 0 if there is none.
func (of *leadership) ageOfOldestProposal(now time.Time) time.Duration {
	of.mu.Lock()
	defer of.mu.Unlock()
	var age time.Duration
	for _, p := range of.open {
		age = max(age, now.Sub(p.began))
	}
	return age
}

func randomNumber() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:])
}
