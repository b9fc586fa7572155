package member

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"pingpost/cluster"
	"pingpost/cluster/clusterid"
	"pingpost/cluster/link"
	"pingpost/internal/durable"
	"pingpost/wal"
)

// Settings are those of the configuration's section `cluster`.
type Settings struct {
	Node    string            // id of this node
	Listen  string            // address for the other nodes
	Peers   map[string]string // address of each node, this one included, by its id
	TLS     *tls.Config       // nil only between addresses of one machine
	DataDir string
	LinkKey [32]byte // derived from the exchange's key; the nodes prove to each other that they have it
	Version string   // of the program
	Logger  *slog.Logger

	HeartbeatTimeout time.Duration // of all nodes, and a third of cluster.Options.MaxStall; 0: the defaults of both
}

// Options of a member.
type Options struct {
	Settings
	Exchange     [16]byte // identifies the exchange; from its log's first entry
	Log          *wal.Replica
	StateMachine cluster.StateMachine
	Roles        cluster.Roles
	Now          func() int64
	QueueLen     int
	QueueBytes   int
}

// Member is the running membership of this node.
type Member struct {
	*cluster.Node
	opt      Options
	network  *link.Network
	registry *link.Registry
	seen     statuses
	started  atomic.Pointer[cluster.Node]

	copies       atomic.Int64 // that this node sends now
	keepLogUntil atomic.Int64 // Unix nanoseconds: see mayCompact
}

func folder(dataDir string) string { return filepath.Join(dataDir, "cluster") }

// IsClusterData reports whether the data directory belongs to a node of a cluster.
func IsClusterData(dataDir string) (bool, error) {
	_, err := os.Stat(filepath.Join(folder(dataDir), "log"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// CompactedEntry returns the log entry up to which the cluster no longer delivers entries to this node again.
// The node's log must reach it.
func CompactedEntry(dataDir string) (uint64, error) { return cluster.CompactedEntry(folder(dataDir)) }

// ReadRaftPosition returns the end of the Raft log of a stopped node.
func ReadRaftPosition(dataDir string) (cluster.RaftPosition, error) {
	return cluster.ReadRaftPosition(folder(dataDir))
}

// ApplyRaftLog appends and applies all entries of a stopped node's Raft log that its log lacks.
func ApplyRaftLog(dataDir string, log *wal.Replica, machine cluster.StateMachine, logger *slog.Logger) error {
	return cluster.Recover(cluster.Options{Dir: folder(dataDir), DataDir: dataDir, Log: log, StateMachine: machine, Logger: logger})
}

// RemoveMembership deletes the files of a stopped node's membership. Its data are then those of a single
// exchange.
func RemoveMembership(dataDir string) error {
	for _, name := range []string{clusterid.FileName, link.RegistryFile, link.ConfirmedFile, "incoming", filepath.Base(folder(dataDir))} { // the folder last: it marks the data
		if err := os.RemoveAll(filepath.Join(dataDir, name)); err != nil {
			return fmt.Errorf("cannot remove the node's membership: %w", err)
		}
	}
	return durable.SyncFolder(dataDir)
}

// openNetwork begins to listen for the other nodes. exchange is zero if this node has no data yet.
func openNetwork(s *Settings, exchange [16]byte, mayBeMember func(node string) bool) (*link.Network, *link.Registry, error) {
	registry, self, err := link.OpenRegistry(s.DataDir, s.Node)
	if err != nil {
		return nil, nil, err
	}
	self.Exchange, self.HeartbeatTimeout = exchange, cmp.Or(s.HeartbeatTimeout, cluster.DefaultHeartbeatTimeout)
	if self.Position.Index, self.Position.Term, self.Position.Vote, err = cluster.ReadPosition(folder(s.DataDir)); err != nil {
		return nil, nil, err
	}
	listener, err := net.Listen("tcp", s.Listen)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot listen for the other nodes; choose another address in cluster.listen: %w", err)
	}
	network, err := link.Listen(listener, link.Self{Identity: self, LinkKey: s.LinkKey, Registry: registry, MayBeMember: mayBeMember}, s.TLS, s.Logger)
	if err != nil {
		return nil, nil, errors.Join(err, listener.Close())
	}
	return network, registry, nil
}

// Open connects this node to the others and starts it. Roles are notified from now on.
func Open(opt Options) (*Member, error) {
	m := &Member{opt: opt}
	var err error
	if m.network, m.registry, err = openNetwork(&opt.Settings, opt.Exchange, m.mayBeMember); err != nil {
		return nil, err
	}
	m.Node, err = cluster.Start(m.nodeOptions())
	if err != nil {
		return nil, errors.Join(err, m.network.Close())
	}
	m.started.Store(m.Node)
	m.network.AllowRaftFrom(m.MayOpenRaft)
	if members := m.Members(); len(members) > 0 {
		m.forgetRemovedNodes(members)
	}
	return m, nil
}

func (m *Member) nodeOptions() cluster.Options {
	opt := &m.opt
	return cluster.Options{
		ID: opt.Node, Dir: folder(opt.DataDir), DataDir: opt.DataDir, Listener: m.network.Listener(link.Raft), Address: opt.Peers[opt.Node],
		Dial: func(id, address string, timeout time.Duration) (net.Conn, error) {
			return m.network.Dial(link.Raft, id, address, timeout)
		},
		Log: opt.Log, StateMachine: opt.StateMachine, Roles: opt.Roles, HeartbeatTimeout: opt.HeartbeatTimeout, MaxStall: 3 * opt.HeartbeatTimeout,
		MayCompact: m.mayCompact, MembersChanged: m.forgetRemovedNodes, Confirmed: m.registry.Confirm, QueueLen: opt.QueueLen, QueueBytes: opt.QueueBytes, Now: opt.Now, Logger: opt.Logger,
	}
}

// mayBeMember reports whether a node is a member, as far as this node knows. It returns true for every node until
// this one has started, because the members are unknown before.
func (m *Member) mayBeMember(id string) bool { return m.started.Load() == nil || m.isMember(id) }

func (m *Member) isMember(id string) bool {
	return slices.ContainsFunc(m.started.Load().Members(), func(member cluster.Member) bool { return member.ID == id })
}

// IsMember reports whether this node is a member.
func (m *Member) IsMember() bool { return m.isMember(m.opt.Node) }

// sortedIDs returns the ids of the configured nodes and of the members.
func (m *Member) sortedIDs(members map[string]string) []string {
	ids := slices.AppendSeq(slices.Collect(maps.Keys(m.opt.Peers)), maps.Keys(members))
	slices.Sort(ids)
	return slices.Compact(ids)
}

// forgetRemovedNodes makes a new node with the id of a removed one possible.
func (m *Member) forgetRemovedNodes(members []cluster.Member) {
	ids := make([]string, 0, len(members))
	for _, member := range members {
		ids = append(ids, member.ID)
	}
	if err := m.registry.ForgetExcept(ids); err != nil {
		m.opt.Logger.Error("cannot forget the removed nodes of the cluster; new nodes cannot have their ids yet", "error", err)
	}
}

// Close ends the membership. A leader first makes another node the leader.
func (m *Member) Close() error {
	m.seen.stop()
	return errors.Join(m.Node.Close(), m.network.Close())
}

// RequestListener returns the listener for HTTP requests of other nodes.
func (m *Member) RequestListener() net.Listener { return m.network.Listener(link.Requests) }

// DialForRequests connects to another node to send it HTTP requests.
func (m *Member) DialForRequests(id, address string, timeout time.Duration) (net.Conn, error) {
	return m.network.Dial(link.Requests, id, address, timeout)
}

// MustStop returns a channel that receives an error if another node found that this one must stop.
func (m *Member) MustStop() <-chan error { return m.network.MustStop() }
