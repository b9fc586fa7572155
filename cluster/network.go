package cluster

import (
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// errSilent is returned by connections to other nodes while this node is silent.
var errSilent = errors.New("cluster: this node is silent, because it committed no entry for too long")

// mutableNetwork connects a node to the others, and can silence it: it then closes the node's outgoing
// connections and opens none. Incoming connections still work, so the node hears the next leader.
//
// It also closes all connections at the end. Raft's transport closes only those that it does not use at
// that moment.
type mutableNetwork struct {
	net.Listener
	dial func(address string, timeout time.Duration) (net.Conn, error)

	mu       sync.Mutex
	silent   bool // open no connections
	ended    bool // neither open nor accept connections
	outgoing map[*trackedConn]struct{}
	incoming map[*trackedConn]struct{}
}

func newMutableNetwork(listener net.Listener, dial func(string, time.Duration) (net.Conn, error)) *mutableNetwork {
	return &mutableNetwork{
		Listener: listener, dial: dial,
		outgoing: map[*trackedConn]struct{}{}, incoming: map[*trackedConn]struct{}{},
	}
}

// Dial connects to another node.
func (m *mutableNetwork) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	m.mu.Lock()
	silent := m.silent
	m.mu.Unlock()
	if silent {
		return nil, errSilent
	}
	conn, err := m.dial(string(address), timeout)
	if err != nil {
		return nil, err
	}
	return m.track(conn, m.outgoing, true)
}

// Accept waits for a connection of another node.
func (m *mutableNetwork) Accept() (net.Conn, error) {
	conn, err := m.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return m.track(conn, m.incoming, false)
}

func (m *mutableNetwork) track(conn net.Conn, conns map[*trackedConn]struct{}, outgoing bool) (net.Conn, error) {
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

// setSilent silences the node or ends that. It reports whether this is a change.
func (m *mutableNetwork) setSilent(silent bool) (changed bool) {
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
func (m *mutableNetwork) closeAll() {
	m.mu.Lock()
	m.ended = true
	m.mu.Unlock()
	m.closeConns(m.outgoing)
	m.closeConns(m.incoming)
}

func (m *mutableNetwork) closeConns(conns map[*trackedConn]struct{}) {
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
	network *mutableNetwork
	conns   map[*trackedConn]struct{}
}

// Close closes the connection.
func (c *trackedConn) Close() error {
	c.network.mu.Lock()
	delete(c.conns, c)
	c.network.mu.Unlock()
	return c.Conn.Close()
}
