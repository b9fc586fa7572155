package cluster

import (
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"pingpost/cluster/clusterid"
)

// Bootstrap makes this node the first member of a new cluster, with a new id. It fails if the node has a
// Raft log.
func (n *Node) Bootstrap() error {
	if n.raft.LastIndex() > 0 {
		return raft.ErrCantBootstrap
	}
	if err := clusterid.Create(n.opt.DataDir); err != nil {
		return err
	}
	self := raft.Server{ID: raft.ServerID(n.opt.ID), Address: raft.ServerAddress(n.opt.Address)}
	return n.raft.BootstrapCluster(raft.Configuration{Servers: []raft.Server{self}}).Error()
}

// membershipTimeout limits how long a change of the members waits for earlier work of the leader.
const membershipTimeout = 5 * time.Second

// Add makes a node a voting member. Only the leader can add one. The node must have a copy of the data
// that reaches into the leader's Raft log.
func (n *Node) Add(id, address string) error {
	return n.raft.AddVoter(raft.ServerID(id), raft.ServerAddress(address), 0, membershipTimeout).Error()
}

// Remove removes a member. Only the leader can remove one.
func (n *Node) Remove(id string) error {
	return n.raft.RemoveServer(raft.ServerID(id), 0, membershipTimeout).Error()
}

// HandOver makes another member the leader: the one with the id to, or for "" the one with the most
// entries. First that member must answer and get the entries that it lacks, while this node goes on; it has four
// heartbeat timeouts for that. Then this node finishes its leadership: it rejects new entries with ErrNotLeader, and waits for
// the results of those that it has proposed. So a planned hand-over leaves no result unknown. If the other
// member does not take over, the error is ErrNotTakenOver.
//
// If its message to the successor was sent and the successor did not take over, this node does not lead again in
// this term. After MaxStall its heartbeats stop, so another election begins.
func (n *Node) HandOver(to string) error {
	to, err := n.chooseSuccessor(to)
	if err == nil {
		err = n.awaitIndex(to, time.Now(), handOverPatience*n.opt.HeartbeatTimeout)
	}
	if err != nil {
		return err
	}
	request := handOverRequest{to: to, done: make(chan error, 1)}
	select {
	case n.handOver <- request:
		err = <-request.done
	case <-n.stop:
		err = ErrNotLeader
	}
	if err != nil {
		return err
	}
	return n.awaitNextLeader(to)
}

// awaitNextLeader waits until a node leads, and returns an error unless it is the successor `to`. Raft reports a
// hand-over as done when this node steps down, but an election can still end otherwise, for example because the
// successor's process was suspended.
func (n *Node) awaitNextLeader(to string) error {
	for deadline := time.Now().Add(handOverPatience * n.opt.HeartbeatTimeout); time.Now().Before(deadline); time.Sleep(n.opt.HeartbeatTimeout / 100) {
		switch n.Leader().ID {
		case to:
			return nil
		case "", n.opt.ID: // the election goes on; Raft can name this node a moment longer
		default:
			return ErrNotTakenOver
		}
	}
	return ErrNotTakenOver
}

// handOverPatience is the number of heartbeat timeouts in which a member must get the entries that it lacks, and in
// which it must lead after that.
const handOverPatience = 4

// chooseSuccessor returns the id of the member to, or for "" of the other member with the most entries. One
// that did not answer in the last heartbeat timeout counts as having none. It returns "" if this node is the only
// member.
func (n *Node) chooseSuccessor(to string) (id string, err error) {
	most := uint64(0)
	for _, m := range n.Members() {
		switch has := n.storedIndexOf(m.ID, time.Now().Add(-n.opt.HeartbeatTimeout)); {
		case m.ID == n.opt.ID:
		case m.ID == to:
			return to, nil
		case to == "" && (id == "" || has > most):
			id, most = m.ID, has
		}
	}
	if to != "" {
		return "", fmt.Errorf("cluster: node %q is no other member", to)
	}
	return id, nil
}

// awaitIndex waits until a member has answered a message that was sent after `since`, and has the entries that are
// in the Raft log at the call. For the id "" it only returns an error if this node is not the leader.
func (n *Node) awaitIndex(id string, since time.Time, limit time.Duration) error {
	last := n.raft.LastIndex()
	for deadline := time.Now().Add(limit); ; time.Sleep(n.opt.HeartbeatTimeout / 100) {
		switch {
		case n.raft.State() != raft.Leader:
			return ErrNotLeader
		case id == "" || n.storedIndexOf(id, since) >= last:
			return nil
		case time.Now().After(deadline):
			return ErrNotTakenOver
		}
	}
}

// storedIndexOf returns the last index of this leader's Raft log that a member has; 0 if it has answered no message
// that was sent after `since`.
func (n *Node) storedIndexOf(id string, since time.Time) uint64 {
	term := n.raft.CurrentTerm()
	if !n.lease.heard(raft.ServerID(id), term, since) {
		return 0
	}
	return n.stored.lastOf(raft.ServerID(id), term)
}

func (n *Node) addressOf(id string) (raft.ServerAddress, error) {
	for _, m := range n.Members() {
		if m.ID == id {
			return raft.ServerAddress(m.Address), nil
		}
	}
	return "", fmt.Errorf("cluster: node %q is no member", id)
}

// Member is a voting member of the cluster.
type Member struct{ ID, Address string }

// Leader returns the leader, or the zero Member during an election.
func (n *Node) Leader() Member {
	_, id := n.raft.LeaderWithID() // its address can be a target of nodeNetwork.Dial
	for _, m := range n.Members() {
		if m.ID == string(id) {
			return m
		}
	}
	return Member{}
}

// Members returns the members of the cluster as this node knows them.
func (n *Node) Members() []Member { return membersOf(n.raft.GetConfiguration().Configuration()) }

func membersOf(configuration raft.Configuration) (members []Member) {
	for _, s := range configuration.Servers {
		members = append(members, Member{string(s.ID), string(s.Address)})
	}
	return members
}

// Term returns Raft's present term.
func (n *Node) Term() uint64 { return n.raft.CurrentTerm() }

// SinceLeaderContact returns the time since the last message of the leader: 0 on the leader itself.
func (n *Node) SinceLeaderContact() time.Duration {
	if n.raft.State() == raft.Leader {
		return 0
	}
	return time.Since(n.raft.LastContact())
}
