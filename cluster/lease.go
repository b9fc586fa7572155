package cluster

import (
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// lease decides how long no other node can be the leader. A follower grants no vote within HeartbeatTimeout of a
// message of the leader (see voteGuard). So the leader holds the lease while a majority has answered messages that it sent
// within HeartbeatTimeout.
//
// The time of sending counts, by the monotonic clock of this process, which goes on while the process is
// suspended. A leader that was suspended therefore finds that its lease is over before it sends anything.
// The method assumes that clocks run at the same speed within a few percent; their times may differ.
//
// Rejected: raft.VerifyLeader. It accepts the answer to a message that was sent before the call, for
// example before the process was suspended.
type lease struct {
	mu       sync.Mutex
	term     uint64 // of the messages
	answered map[raft.ServerID]time.Time
}

// leaseMargin is the part of HeartbeatTimeout by which a lease ends early, because clocks differ in speed.
const leaseMargin = 20 // 1/20

// record remembers that a node has accepted a message of this node as the leader in a term.
func (l *lease) record(node raft.ServerID, term uint64, sent time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if term > l.term {
		l.term, l.answered = term, map[raft.ServerID]time.Time{}
	}
	if term == l.term && sent.After(l.answered[node]) {
		l.answered[node] = sent
	}
}

// holds reports whether a majority of the voters, with self, has accepted a message in the term that was
// sent after `since`.
func (l *lease) holds(self raft.ServerID, voters []raft.Server, term uint64, since time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if term != l.term && len(voters) > 1 {
		return false
	}
	all, current := 0, 0
	for _, v := range voters {
		if v.Suffrage != raft.Voter {
			continue
		}
		all++
		if v.ID == self || l.answered[v.ID].After(since) {
			current++
		}
	}
	return current > all/2
}

// heard reports whether a node has accepted a message in the term that was sent after `since`.
func (l *lease) heard(node raft.ServerID, term uint64, since time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return term == l.term && l.answered[node].After(since)
}

// HoldsLease reports whether this node is the leader and no other node can be. A leader checks it before
// it decides, and before each request to a buyer or a supplier.
func (n *Node) HoldsLease() bool {
	l := n.leading.Load()
	if l == nil {
		return false
	}
	since := time.Now().Add(-n.opt.HeartbeatTimeout + n.opt.HeartbeatTimeout/leaseMargin)
	voters := n.raft.GetConfiguration().Configuration().Servers
	return n.lease.holds(raft.ServerID(n.opt.ID), voters, l.term, since)
}
