package cluster

import (
	"sync"
	"time"
)

// voteGuard prevents this node from helping to elect another leader while the present one may hold a lease.
// Within HeartbeatTimeout of an accepted message of the leader the node grants no vote and requests none.
//
// Raft has a similar rule, with gaps. It checks the time of the last message only before it requests votes,
// and it handles heartbeats on another goroutine at the same time. It grants each vote of a hand-over, even
// if the message that began the hand-over arrived late. So the guard is in front of Raft.
//
// The votes of a hand-over are the exception. Its leader has released the lease for the rest of its term
// (see HandOver), so the next term may begin at once.
type voteGuard struct {
	heartbeatTimeout time.Duration
	holdsLease       func() bool // of this node

	mu       sync.Mutex // while a heartbeat or a vote is processed
	accepted time.Time  // when the node last accepted a message of a leader
	term     uint64     // of that leader
	handOver uint64     // the term whose leader made this node its successor
}

// accept processes a heartbeat of a term. process reports whether Raft accepted it.
func (g *voteGuard) accept(term uint64, process func() bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if process() {
		g.term, g.accepted = max(g.term, term), time.Now()
	}
}

// grant calls process, which lets Raft decide about the vote that another node requests for a term. It
// returns false without the call if the present leader may hold a lease. handOver says that the other node
// is the successor in a hand-over.
func (g *voteGuard) grant(term uint64, handOver bool, process func()) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.holdsLease() || g.heardLeader() && !(handOver && term == g.term+1) {
		return false
	}
	process()
	return true
}

// mayRequestVotes reports whether this node may request votes for a term. The caller has stored the term, so
// Raft accepts no heartbeat of an earlier one after this check.
func (g *voteGuard) mayRequestVotes(term uint64, handOver bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.heardLeader() || handOver && term == g.handOver+1 && term == g.term+1
}

// beginHandOver remembers that the leader of a term made this node its successor.
func (g *voteGuard) beginHandOver(term uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.handOver = term
}

// heardLeader reports whether a leader may count on this node for its lease. The caller holds mu.
func (g *voteGuard) heardLeader() bool { return time.Since(g.accepted) < g.heartbeatTimeout }
