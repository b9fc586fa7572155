package cluster

import "time"

// watchForStalls stops this node's heartbeats while its oldest proposal has waited for MaxStall, so that
// the others elect another leader.
//
// Raft does not do that on its own: a leader with a disk that stalls keeps sending heartbeats from another
// goroutine. A hand-over does not help either, because Raft's main loop waits for the disk.
func (n *Node) watchForStalls() {
	defer n.loops.Done()
	ticker := time.NewTicker(n.opt.MaxStall / 8)
	defer ticker.Stop()
	for {
		select {
		case <-n.stop:
			return
		case now := <-ticker.C:
			of := n.leading.Load()
			stalled := of != nil && of.ageOfOldestProposal(now) > n.opt.MaxStall
			if n.network.setSilent(stalled) && stalled {
				n.opt.Logger.Warn("the leader commits no entry; it stops its heartbeats, so that another node takes over", "node", n.opt.ID, "after", n.opt.MaxStall)
			}
		}
	}
}
