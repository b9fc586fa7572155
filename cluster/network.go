package cluster

import (
	"errors"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// errSilent is returned by connections to other nodes while this node is silent.
var errSilent = errors.New("cluster: this node is silent, because it committed nothing for too long")

// mutableNetwork connects a node to the others, and can silence it: it then closes the node's outgoing
// connections and opens none. Incoming connections still work, so the node hears the next leader.
type mutableNetwork struct {
	net.Listener
	dial func(address string, timeout time.Duration) (net.Conn, error)

	mu     sync.Mutex
	silent bool
	conns  map[*outgoingConn]struct{}
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
	c := &outgoingConn{Conn: conn, network: m}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.silent {
		return nil, errors.Join(errSilent, conn.Close())
	}
	if m.conns == nil {
		m.conns = map[*outgoingConn]struct{}{}
	}
	m.conns[c] = struct{}{}
	return c, nil
}

// setSilent silences the node or ends that. It reports whether this is a change.
func (m *mutableNetwork) setSilent(silent bool) (changed bool) {
	m.mu.Lock()
	changed = m.silent != silent
	m.silent = silent
	var conns []*outgoingConn
	if silent {
		for c := range m.conns {
			conns = append(conns, c)
		}
	}
	m.mu.Unlock()
	for _, c := range conns {
		c.Close()
	}
	return changed
}

type outgoingConn struct {
	net.Conn
	network *mutableNetwork
}

// Close closes the connection.
func (c *outgoingConn) Close() error {
	c.network.mu.Lock()
	delete(c.network.conns, c)
	c.network.mu.Unlock()
	return c.Conn.Close()
}
