package clusterapi

import (
	"errors"
	"time"
)

// Controller shows and changes the cluster of the exchange. The exchange implements it, also for a
// single node.
type Controller interface {
	// ClusterStatus returns the cluster as this node sees it. It does not wait for other nodes, and works
	// while the exchange starts and after it failed.
	ClusterStatus() Status
	// AddNode makes a running node of the configured peers a voting member. Only the leader can.
	AddNode(id string) error
	// RemoveNode ends the membership of a node, which may have failed. Only the leader can, and not its
	// own.
	RemoveNode(id string) error
	// HandOver makes another member the leader: the one with this id, or, if it is empty, the one with the
	// newest data. It returns once the other node leads, or returns an error.
	HandOver(to string) error
}

// The errors of a Controller. Other errors are answered with a 503.
var (
	ErrNoCluster     = errors.New("the exchange is a single node")
	ErrUnknownNode   = errors.New("the configuration has no node with this id")
	ErrNotReachable  = errors.New("the node cannot be reached, or it has failed")
	ErrStaleCopy     = errors.New("the node's copy of the data is too old to join the cluster")
	ErrAlreadyMember = errors.New("the node is a member already")
	ErrNotMember     = errors.New("the node is not a member")
	ErrNotTakenOver  = errors.New("the node did not take over")
	ErrIsLeader      = errors.New("the node is the leader")
	ErrNotLeader     = errors.New("this node is not the leader")
)

// Role is the part of a node in its cluster.
type Role string

// The roles of a node. Another node is RoleLeader, RoleFollower or RoleUnknown.
const (
	RoleLeader   Role = "leader"
	RoleFollower Role = "follower"
	RoleStarting Role = "starting" // it replays the log, or copies the data of another node
	RoleFailed   Role = "failed"   // it applies no further entry until it is repaired
	RoleSingle   Role = "single"   // the exchange is not a node of a cluster
	RoleUnknown  Role = "unknown"  // the node has not answered, or is not a member
)

// Status is the cluster as one node sees it.
type Status struct {
	Node   string // id of the answering node; empty: a single node
	Role   Role
	Leader string // id; empty: an election is under way
	Term   uint64 // number of the election that chose the leader
	Entry  uint64 // last log entry that the answering node has applied
	Nodes  []NodeStatus
}

// NodeStatus is one node of the cluster as another node, or the node itself, sees it.
type NodeStatus struct {
	ID          string
	Address     string // host:port for the other nodes
	Role        Role
	Member      bool // the node has a vote
	Reachable   bool
	LastContact *time.Duration // time since its last answer; nil: never, or the answering node itself
	Entry       *uint64        // last log entry that it has; nil: unknown
	Lag         *uint64        // log entries that it lacks; nil: unknown
	Version     string         // of the program; empty: unknown
	Error       string         // why it is not reachable, or why it failed
}

// Single is the Controller of an exchange that is not a node of a cluster.
type Single struct {
	// LastEntry returns the number of the last log entry.
	LastEntry func() uint64
}

// ClusterStatus returns the status of a single node.
func (s Single) ClusterStatus() Status { return Status{Role: RoleSingle, Entry: s.LastEntry()} }

// AddNode returns ErrNoCluster.
func (Single) AddNode(string) error { return ErrNoCluster }

// RemoveNode returns ErrNoCluster.
func (Single) RemoveNode(string) error { return ErrNoCluster }

// HandOver returns ErrNoCluster.
func (Single) HandOver(string) error { return ErrNoCluster }
