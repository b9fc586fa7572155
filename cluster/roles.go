package cluster

import (
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"
)

// requestRoleCheck makes trackRole compare the node's role with Raft's soon.
func (n *Node) requestRoleCheck() {
	select {
	case n.check <- struct{}{}:
	default:
	}
}

// barrierTimeout limits how long a new leader waits until it has applied the entries before it. It then
// tries again, as long as it is the leader.
const barrierTimeout = 2 * time.Second

// trackRole starts and ends leaderships, and notifies Roles. It is one goroutine, so the end of one
// leadership is complete before the next begins, even if Raft changed its mind several times meanwhile.
func (n *Node) trackRole() {
	defer n.loops.Done()
	for {
		select {
		case <-n.stop:
			n.stopLeading()
			return
		case <-n.raft.LeaderCh():
		case <-n.check:
		case request := <-n.handOver:
			request.done <- n.transferLeadership(request.to)
		}
		if l := n.leading.Load(); l != nil && (l.broken.Load() || n.raft.State() != raft.Leader || n.raft.CurrentTerm() != l.term) {
			n.stopLeading()
		}
		if n.leading.Load() == nil && n.raft.State() == raft.Leader && n.raft.CurrentTerm() > n.handOverSentTerm.Load() {
			n.tryToLead()
		}
	}
}

// handOverRequest asks trackRole for a hand-over: see HandOver.
type handOverRequest struct {
	to   string
	done chan error
}

// transferLeadership ends this leadership and makes another member the leader. For "", without another member, it
// fails, and trackRole begins the next leadership. Raft gets one try, and only if the other member has all entries. A try that times out because of missing entries can
// leave Raft in a state in which it refuses each later barrier and hand-over.
func (n *Node) transferLeadership(to string) error {
	if n.raft.State() != raft.Leader {
		return ErrNotLeader
	}
	n.stopLeading()
	if err := n.awaitIndex(to, time.Now().Add(-n.opt.HeartbeatTimeout), n.opt.HeartbeatTimeout/2); err != nil {
		return err
	}
	n.handOverTerm.Store(n.raft.CurrentTerm())
	var future raft.Future
	if to == "" {
		future = n.raft.LeadershipTransfer()
	} else {
		address, err := n.addressOf(to)
		if err != nil {
			return err
		}
		future = n.raft.LeadershipTransferToServer(raft.ServerID(to), address)
	}
	switch err := future.Error(); {
	case err == nil:
		return nil
	case errors.Is(err, raft.ErrNotLeader):
		return ErrNotLeader
	default:
		return fmt.Errorf("%w: %w", ErrNotTakenOver, err)
	}
}

// tryToLead begins a leadership after this node has applied all entries before it. If it cannot, no
// leadership begins, and trackRole tries again while Raft reports this node as the leader.
func (n *Node) tryToLead() {
	term := n.raft.CurrentTerm()
	if err := n.raft.Barrier(barrierTimeout).Error(); err != nil || n.Err() != nil {
		n.opt.Logger.Info("this node is not the leader yet", "node", n.opt.ID, "term", term, "error", err)
		if n.raft.State() == raft.Leader {
			time.AfterFunc(n.opt.HeartbeatTimeout, n.requestRoleCheck)
		}
		return
	}
	previous, err := n.lastFingerprint()
	if err != nil {
		n.fail(fmt.Errorf("cannot read the last log entry: %w", err))
		return
	}
	l := n.newLeadership(term, previous)
	n.opt.Logger.Info("this node leads the cluster", "node", n.opt.ID, "term", term, "next entry", l.next)
	n.leading.Store(l)
	n.opt.Roles.Lead(&Log{l})
}

func (n *Node) stopLeading() {
	l := n.leading.Load()
	if l == nil {
		return
	}
	l.end()
	n.leading.Store(nil)
	n.opt.Logger.Info("this node no longer leads the cluster", "node", n.opt.ID, "term", l.term)
	n.opt.Roles.Follow()
}

// takeProposal returns the proposal of this node's leadership that b is, or nil. The state machine calls
// it once b is in the log.
func (n *Node) takeProposal(b *batch) *proposal {
	if l := n.leading.Load(); l != nil && l.id == b.leadership {
		return l.take(b.number)
	}
	return nil
}
