package cluster

import (
	"time"

	"github.com/hashicorp/raft"
)

// watchForStalls stops this node's heartbeats, so that the others elect another leader: for ever after this
// node has failed, and for the time in which it commits no entry although it is the leader. That is so if its
// oldest proposal or part of a file has waited for MaxStall, or if the leadership has not begun MaxStall after
// the election.
//
// Raft does not do that on its own: a leader with a disk that stalls keeps sending heartbeats from another
// goroutine. A hand-over does not help either, because Raft's main loop waits for the disk.
func (n *Node) watchForStalls() {
	defer n.loops.Done()
	ticker := time.NewTicker(n.opt.MaxStall / 8)
	defer ticker.Stop()
	var elected time.Time // when this node became the leader; zero if it leads, or follows
	for {
		select {
		case <-n.stop:
			return
		case now := <-ticker.C:
			l := n.leading.Load()
			switch {
			case l != nil || n.raft.State() != raft.Leader:
				elected = time.Time{}
			case elected.IsZero():
				elected = now
			}
			stalled := l != nil && max(l.ageOfOldestProposal(now), n.ageOfOldestFileChunk(now)) > n.opt.MaxStall || !elected.IsZero() && now.Sub(elected) > n.opt.MaxStall
			if n.network.muteOutgoing(stalled || n.Err() != nil) && stalled {
				n.opt.Logger.Warn("the leader commits no entry; it stops its heartbeats, so that another node takes over", "node", n.opt.ID, "after", n.opt.MaxStall)
			}
		}
	}
}
