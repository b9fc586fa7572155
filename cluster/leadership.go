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
	l := &leadership{
		node: n, id: randomNumber(), term: term, next: last + 1, at: at, previous: previous,
		queue: commitqueue.New(n.opt.QueueLen, n.opt.QueueBytes, func(dataLen int) int { return dataLen }),
		slots: make(chan struct{}, maxInFlight), proposed: make(chan *proposal, maxInFlight), ended: make(chan struct{}),
		open: map[uint64]*proposal{},
	}
	go l.propose()
	go l.awaitResults()
	return l
}

// end rejects further entries with ErrNotLeader and returns when all waiters have their result.
func (l *leadership) end() {
	l.failQueued()
	<-l.ended
}

// failQueued closes the queue and fails its entries, which were never proposed.
func (l *leadership) failQueued() {
	l.broken.Store(true)
	entries, calls := l.queue.CloseAndTakeAll(ErrNotLeader)
	commitqueue.NotifyFailed(entries, ErrNotLeader)
	for _, c := range calls {
		c.Done <- ErrNotLeader
	}
}

// propose takes batches from the queue until the queue is closed. It waits for a slot first, so that
// entries collect in the queue meanwhile and one batch covers them.
func (l *leadership) propose() {
	defer close(l.proposed)
	opt := &l.node.opt
	for {
		l.slots <- struct{}{}
		entries, _ := l.queue.DequeueBatch(nil, opt.MaxBatch, opt.MaxBatchBytes, opt.MaxBatchBytes)
		if len(entries) == 0 {
			return
		}
		if l.broken.Load() {
			commitqueue.NotifyFailed(entries, ErrNotLeader)
			return
		}
		p := l.add(entries)
		l.at = max(opt.Now(), l.at)
		b := batch{leadership: l.id, term: l.term, number: p.number, first: l.next, at: l.at, previous: l.previous}
		l.next += uint64(len(entries))
		l.previous = entryFingerprint(l.next-1, l.at, entries[len(entries)-1].Data)
		p.result = l.node.raft.ApplyLog(raft.Log{Data: encodeBatch(&b, entries)}, 0)
		l.proposed <- p
	}
}

// awaitResults waits for the results of the proposals, in their order.
func (l *leadership) awaitResults() {
	defer close(l.ended)
	for p := range l.proposed {
		err := p.result.Error()
		if err == nil {
			err, _ = p.result.Response().(error)
		}
		if err != nil {
			if l.take(p.number) != nil {
				commitqueue.NotifyFailed(p.entries, errorOfWaiter(err))
			}
			l.failQueued()
			l.node.requestRoleCheck()
		}
		l.queue.MarkBatchCommitted()
		<-l.slots
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
func (l *leadership) add(entries []commitqueue.Entry) *proposal {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	p := &proposal{number: l.last, entries: entries, began: time.Now()}
	l.open[p.number] = p
	return p
}

// take removes and returns the proposal with this number. It returns nil if it was taken before.
func (l *leadership) take(number uint64) *proposal {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.open[number]
	delete(l.open, number)
	return p
}

// ageOfOldestProposal returns how long the oldest proposal without a result waits; 0 if there is none.
func (l *leadership) ageOfOldestProposal(now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	var age time.Duration
	for _, p := range l.open {
		age = max(age, now.Sub(p.began))
	}
	return age
}

func randomNumber() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:])
}
