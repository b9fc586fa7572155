package cluster

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// errSilent is returned by connections to other nodes while this node is silent.
var errSilent = errors.New("cluster: this node is silent, because it committed no entry for too long")

// nodeNetwork connects a node to the others, and can silence it: it then closes the node's outgoing
// connections and opens none. Incoming connections still work, so the node hears the next leader.
//
// It also closes all connections at the end. Raft's transport closes only those that it does not use at
// that moment.
type nodeNetwork struct {
	net.Listener
	dial func(id, address string, timeout time.Duration) (net.Conn, error)

	mu       sync.Mutex
	silent   bool // open no connections
	ended    bool // neither open nor accept connections
	outgoing map[*trackedConn]struct{}
	incoming map[*trackedConn]struct{}
}

func newNodeNetwork(listener net.Listener, dial func(id, address string, timeout time.Duration) (net.Conn, error)) *nodeNetwork {
	return &nodeNetwork{
		Listener: listener, dial: dial,
		outgoing: map[*trackedConn]struct{}{}, incoming: map[*trackedConn]struct{}{},
	}
}

// Dial connects to another node. The target is its id and its address, as ServerAddr returns it.
func (m *nodeNetwork) Dial(target raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	id, address, ok := strings.Cut(string(target), "@")
	if !ok {
		return nil, fmt.Errorf("cluster: the node at %q is no member", target)
	}
	m.mu.Lock()
	silent := m.silent
	m.mu.Unlock()
	if silent {
		return nil, errSilent
	}
	conn, err := m.dial(id, address, timeout)
	if err != nil {
		return nil, err
	}
	return m.track(conn, m.outgoing, true)
}

// Accept waits for a connection of another node.
func (m *nodeNetwork) Accept() (net.Conn, error) {
	conn, err := m.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return m.track(conn, m.incoming, false)
}

func (m *nodeNetwork) track(conn net.Conn, conns map[*trackedConn]struct{}, outgoing bool) (net.Conn, error) {
	c := &trackedConn{Conn: conn, network: m, conns: conns}
	m.mu.Lock()
	refused := m.ended || outgoing && m.silent
	if !refused {
		conns[c] = struct{}{}
	}
	m.mu.Unlock()
	if refused {
		return nil, errors.Join(errSilent, conn.Close())
	}
	return c, nil
}

// muteOutgoing silences the node or ends that. It reports whether this is a change.
func (m *nodeNetwork) muteOutgoing(silent bool) (changed bool) {
	m.mu.Lock()
	changed = m.silent != silent
	m.silent = silent
	m.mu.Unlock()
	if silent {
		m.closeConns(m.outgoing)
	}
	return changed
}

// closeAll closes all connections and refuses later ones.
func (m *nodeNetwork) closeAll() {
	m.mu.Lock()
	m.ended = true
	m.mu.Unlock()
	m.closeConns(m.outgoing)
	m.closeConns(m.incoming)
}

func (m *nodeNetwork) closeConns(conns map[*trackedConn]struct{}) {
	m.mu.Lock()
	list := slices.Collect(maps.Keys(conns))
	m.mu.Unlock()
	for _, c := range list {
		_ = c.Close() // the other end closes it too
	}
}

// trackedConn is a connection that leaves its network's set when it is closed.
type trackedConn struct {
	net.Conn
	network *nodeNetwork
	conns   map[*trackedConn]struct{}
}

// Close closes the connection.
func (c *trackedConn) Close() error {
	c.network.mu.Lock()
	delete(c.conns, c)
	c.network.mu.Unlock()
	return c.Conn.Close()
}

// ServerAddr returns the target of Dial for a member: its id and its address. Without the id, a node that
// answers at the address of another would have its vote.
func (n *Node) ServerAddr(id raft.ServerID) (raft.ServerAddress, error) {
	started := n.started.Load()
	if started == nil {
		return "", errors.New("cluster: Raft has not started")
	}
	for _, s := range started.GetConfiguration().Configuration().Servers {
		if s.ID == id {
			return raft.ServerAddress(string(id) + "@" + string(s.Address)), nil
		}
	}
	return "", fmt.Errorf("cluster: node %q is no member", id)
}

// checkAddress returns an error for an address that leads to another node on each machine.
func checkAddress(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("cluster: the address %q of this node is invalid: %w", address, err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		return fmt.Errorf("cluster: the address %q leads every node to itself; give the address at which the others reach this node", address)
	}
	return nil
}
