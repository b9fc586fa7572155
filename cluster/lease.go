package cluster

import (
	"sync/atomic"
	"time"
)

// lease is the time until which no other node can be the leader. A leader renews it with a round of
// heartbeats to a majority. A follower votes for no other node within Heartbeat of the last one, so the
// lease ends that long after the round began.
//
// The lease uses the monotonic clock of this process, which goes on while the process is suspended. A
// leader that was suspended therefore finds that its lease is over before it sends anything. The method
// assumes that clocks run at the same speed within a few percent; their times may differ.
type lease struct{ until atomic.Pointer[time.Time] }

func (l *lease) holds(now time.Time) bool {
	until := l.until.Load()
	return until != nil && now.Before(*until)
}

// leaseMargin is the part of Heartbeat by which a lease ends early, because clocks differ in speed.
const leaseMargin = 20 // 1/20

// HoldsLease reports whether this node is the leader and no other node can be. A leader checks it before
// it decides, and before each request to a buyer or a supplier.
func (n *Node) HoldsLease() bool { return n.leading.Load() != nil && n.lease.holds(time.Now()) }

// keepLease renews the lease while this node leads. If no entry is committed for MaxStall, the node stops
// its heartbeats, so that the others elect another leader.
//
// Raft does not do that on its own: a leader whose disk stalls keeps sending heartbeats from another
// goroutine. A hand-over does not help either, because Raft's main loop waits for the disk.
func (n *Node) keepLease() {
	defer n.loops.Done()
	ticker := time.NewTicker(n.opt.Heartbeat / 8)
	defer ticker.Stop()
	var verified chan verification
	var began time.Time
	for {
		select {
		case <-n.stop:
			if verified != nil {
				<-verified
			}
			return
		case answer := <-verified:
			verified = nil
			if answer.err != nil {
				n.checkRole()
				break
			}
			until := began.Add(n.opt.Heartbeat - n.opt.Heartbeat/leaseMargin)
			n.lease.until.Store(&until)
		case <-ticker.C:
		}
		of := n.leading.Load()
		if of != nil && verified == nil {
			began = time.Now()
			verified = n.verifyLeader()
		}
		n.silenceStalledLeader(of, verified != nil, began)
	}
}

// verification is the answer of a majority: err is nil if this node is still the leader.
type verification struct{ err error }

// verifyLeader asks a majority whether this node is still the leader.
func (n *Node) verifyLeader() chan verification {
	result := make(chan verification, 1)
	future := n.raft.VerifyLeader()
	go func() { result <- verification{future.Error()} }()
	return result
}

// silenceStalledLeader stops this node's heartbeats while its oldest proposal, or its verification since
// `began`, has waited for MaxStall.
func (n *Node) silenceStalledLeader(of *leadership, verifying bool, began time.Time) {
	now := time.Now()
	stalled := of != nil && (of.ageOfOldestProposal(now) > n.opt.MaxStall || verifying && now.Sub(began) > n.opt.MaxStall)
	if n.network.setSilent(stalled) && stalled {
		n.opt.Logger.Warn("the leader commits nothing; it stops its heartbeats, so that another node takes over", "node", n.opt.ID, "after", n.opt.MaxStall)
	}
}
