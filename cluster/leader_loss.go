package cluster

import (
	"time"

	"github.com/hashicorp/raft"
)

// candidatePause is the time between the elections that two followers begin after the loss of their leader. It
// is longer than the leader's longest pause between two heartbeats, a fifth of HeartbeatTimeout, so that the followers
// begin in a fixed order.
func (n *Node) candidatePause() time.Duration { return n.opt.HeartbeatTimeout / 4 }

// watchForLeaderLoss makes Raft check the last contact with the leader when it is HeartbeatTimeout ago. Raft's own check
// comes up to two Heartbeats later, at a random moment. A follower votes only after its own check, so the
// slower of two followers would decide when an election can succeed.
//
// The check alone begins an election. If both followers began at the same moment, each would vote for itself. So
// each has its own delay. The election usually succeeds with the check of the last follower that is needed for
// a majority.
//
// Rejected: only a shorter HeartbeatTimeout. For the same time until the takeover it must be so short that a pause
// of the machine of less than 150 ms ends the lease of a healthy leader.
func (n *Node) watchForLeaderLoss() {
	defer n.loops.Done()
	timer := time.NewTimer(n.opt.HeartbeatTimeout)
	defer timer.Stop()
	for {
		select {
		case <-n.stop:
			return
		case <-timer.C:
		}
		pause := n.opt.HeartbeatTimeout // after a check, and while Raft's own checks suffice
		if last := n.raft.LastContact(); n.raft.State() == raft.Follower && !last.IsZero() {
			if left := time.Until(last.Add(n.opt.HeartbeatTimeout + n.electionDelay())); left > 0 {
				pause = left
			} else {
				n.checkLeaderContact()
			}
		}
		timer.Reset(pause)
	}
}

// electionDelay returns the time by which this node's check comes after HeartbeatTimeout: 0 for the follower with the
// lowest id, then candidatePause more for each.
func (n *Node) electionDelay() time.Duration {
	_, leader := n.raft.LeaderWithID()
	followers := 0
	for _, m := range n.Members() {
		if m.ID != string(leader) && m.ID < n.opt.ID {
			followers++
		}
	}
	return time.Duration(followers) * n.candidatePause()
}

// checkLeaderContact makes Raft, as a follower, check the last contact with the leader. Raft does that when it
// gets a shorter timeout than before.
func (n *Node) checkLeaderContact() {
	c := n.raft.ReloadableConfig()
	for _, timeout := range []time.Duration{n.opt.HeartbeatTimeout + time.Nanosecond, n.opt.HeartbeatTimeout} {
		c.HeartbeatTimeout, c.ElectionTimeout = timeout, electionTimeout(n.opt.HeartbeatTimeout)
		if err := n.raft.ReloadConfig(c); err != nil {
			panic("BUG: Raft refuses its own configuration: " + err.Error())
		}
	}
}

// electionTimeout returns the time after which a candidate begins another election. Raft refuses one that is shorter
// than its heartbeat timeout, which is a nanosecond longer for a moment in checkLeaderContact.
func electionTimeout(heartbeatTimeout time.Duration) time.Duration {
	return heartbeatTimeout + time.Nanosecond
}
