package member

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"pingpost/cluster"
	"pingpost/internal/timer"
	"pingpost/server/admin/clusterapi"
)

// statuses asks the other nodes for their states regularly, and remembers the last answers.
type statuses struct {
	ask  Ask
	quit chan struct{}
	done sync.WaitGroup

	mu   sync.Mutex
	last map[string]seenStatus // of each peer and member
}

// seenStatus is the last answer of a node, and the result of the last request to it.
type seenStatus struct {
	NodeStatus
	at   time.Time // of the last answer; zero: never
	fail error     // of the last request; nil: it was answered
}

// statusPause is the time between two requests to a node.
const statusPause = time.Second

// SetAsk sets the function that asks other nodes. It is called once, before any other use of the member.
func (m *Member) SetAsk(ask Ask) {
	m.seen.ask, m.seen.quit, m.seen.last = ask, make(chan struct{}), map[string]seenStatus{}
}

// WatchOthers begins to ask the other nodes for their states, until Close.
func (m *Member) WatchOthers() { m.seen.start(m) }

func (s *statuses) start(m *Member) {
	for id, address := range m.opt.Peers {
		if id == m.opt.Node {
			continue
		}
		s.done.Go(func() {
			for {
				answer, err := s.ask.status(id, address)
				m.logIfReachabilityChanged(id, s.record(id, answer, err), err)
				select {
				case <-timer.After(statusPause):
				case <-s.quit:
					return
				}
			}
		})
	}
}

// record stores the result of a request, and returns the result before.
func (s *statuses) record(id string, answer NodeStatus, err error) (before seenStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before = s.last[id]
	if err != nil {
		s.last[id] = seenStatus{before.NodeStatus, before.at, err}
	} else {
		s.last[id] = seenStatus{answer, time.Now(), nil}
	}
	return before
}

// logIfReachabilityChanged logs that a node cannot be reached, or can be reached again.
func (m *Member) logIfReachabilityChanged(id string, before seenStatus, err error) {
	switch {
	case err != nil && before.fail == nil:
		m.opt.Logger.Warn("cannot reach another node of the cluster", "node", id, "error", err)
	case err == nil && before.fail != nil:
		m.opt.Logger.Info("another node of the cluster answers", "node", id)
	}
}

func (s *statuses) of(id string) (last seenStatus, asked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, asked = s.last[id]
	return last, asked
}

func (s *statuses) stop() {
	if s.quit == nil {
		return
	}
	close(s.quit)
	s.done.Wait()
}

// ClusterStatus returns the cluster as this node sees it.
func (m *Member) ClusterStatus() clusterapi.Status {
	self := m.Status()
	status := clusterapi.Status{Node: m.opt.Node, Role: clusterapi.Role(self.Role), Leader: m.Leader().ID, Term: self.Term, Entry: self.Entry}
	newest := self.Entry
	members := map[string]string{}
	for _, member := range m.Members() {
		members[member.ID] = member.Address
	}
	for id := range m.opt.Peers {
		last, _ := m.seen.of(id)
		newest = max(newest, last.Entry)
	}
	for _, id := range m.sortedIDs(members) {
		node := m.nodeStatus(id, members, &self, newest)
		status.Nodes = append(status.Nodes, node)
	}
	return status
}

func (m *Member) nodeStatus(id string, members map[string]string, self *NodeStatus, newest uint64) clusterapi.NodeStatus {
	address, isMember := members[id]
	if !isMember {
		address = m.opt.Peers[id]
	}
	node := clusterapi.NodeStatus{ID: id, Address: address, Role: clusterapi.RoleUnknown, Member: isMember}
	last, known := *self, true
	if id == m.opt.Node {
		node.Reachable = true
	} else {
		seen, asked := m.seen.of(id)
		last, known = seen.NodeStatus, !seen.at.IsZero()
		node.Reachable = asked && seen.fail == nil
		if known {
			age := time.Since(seen.at)
			node.LastContact = &age
		}
		if seen.fail != nil {
			node.Error = seen.fail.Error()
		}
	}
	if known {
		lag := max(newest, last.Entry) - last.Entry
		node.Entry, node.Lag, node.Version = &last.Entry, &lag, last.Version
	}
	if node.Reachable {
		node.Role, node.Error = clusterapi.Role(last.Role), last.Error
	}
	return node
}

// CountReachableMembers returns the number of members that answer, with this node if it is one.
func (m *Member) CountReachableMembers() (n int) {
	for _, member := range m.Members() {
		if seen, asked := m.seen.of(member.ID); member.ID == m.opt.Node || asked && seen.fail == nil {
			n++
		}
	}
	return n
}

// LagEntries returns the number of log entries that this node lacks, as far as it knows.
func (m *Member) LagEntries() int {
	own := m.Status().Entry
	newest := own
	for id := range m.opt.Peers {
		seen, _ := m.seen.of(id)
		newest = max(newest, seen.Entry)
	}
	return int(newest - own)
}

// AddNode makes a running node of the configured peers a voting member.
func (m *Member) AddNode(id string) error {
	address := m.opt.Peers[id]
	switch {
	case address == "":
		return clusterapi.ErrUnknownNode
	case m.isMember(id):
		return clusterapi.ErrAlreadyMember
	case !m.HoldsLease():
		return clusterapi.ErrNotLeader
	}
	status, err := m.seen.ask.status(id, address) // a node that does not run could cost the cluster its majority
	if err != nil {
		return fmt.Errorf("%w: %w", clusterapi.ErrNotReachable, err)
	}
	compacted, err := CompactedEntry(m.opt.DataDir)
	if err != nil {
		return fmt.Errorf("cannot find the first entry of this node's Raft log: %w", err)
	}
	if status.Entry < compacted {
		return fmt.Errorf("%w: it ends with entry %d, and the leader's Raft log begins after entry %d", clusterapi.ErrStaleCopy, status.Entry, compacted)
	}
	if status.Role == RoleFailed {
		return fmt.Errorf("%w: %s", clusterapi.ErrNotReachable, status.Error)
	}
	return m.Node.Add(id, address)
}

// RemoveNode ends the membership of a node.
func (m *Member) RemoveNode(id string) error {
	switch {
	case !m.isMember(id):
		return clusterapi.ErrNotMember
	case !m.HoldsLease():
		return clusterapi.ErrNotLeader
	case id == m.opt.Node:
		return clusterapi.ErrIsLeader
	}
	return m.Node.Remove(id)
}

// HandOver makes another member the leader.
func (m *Member) HandOver(to string) error {
	switch {
	case !m.HoldsLease():
		return clusterapi.ErrNotLeader
	case to == m.opt.Node:
		return clusterapi.ErrIsLeader
	case to != "" && !m.isMember(to):
		return clusterapi.ErrNotMember
	}
	switch err := m.Node.HandOver(to); {
	case errors.Is(err, cluster.ErrNotTakenOver):
		return fmt.Errorf("%w: %w", clusterapi.ErrNotTakenOver, err)
	case errors.Is(err, cluster.ErrNotLeader):
		return clusterapi.ErrNotLeader
	default:
		return err
	}
}

// Starting is the controller of a node that replays its log or copies the data of another node.
type Starting struct{ Node string }

// ClusterStatus returns the status of a node that starts.
func (s Starting) ClusterStatus() clusterapi.Status {
	return clusterapi.Status{Node: s.Node, Role: clusterapi.RoleStarting}
}

// AddNode returns ErrNotLeader.
func (Starting) AddNode(string) error { return clusterapi.ErrNotLeader }

// RemoveNode returns ErrNotLeader.
func (Starting) RemoveNode(string) error { return clusterapi.ErrNotLeader }

// HandOver returns ErrNotLeader.
func (Starting) HandOver(string) error { return clusterapi.ErrNotLeader }
