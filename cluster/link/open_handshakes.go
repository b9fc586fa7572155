package link

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

const (
	// handshakeRounds is the number of times that the ends of a handshake wait for each other.
	handshakeRounds = 4
	// maxHandshakes limits the handshakes with strangers, and those with each address of a node.
	maxHandshakes = 64
	// maxOfStranger limits the handshakes with each other address.
	maxOfStranger = 16
	// maxDials limits the handshakes of this node with another one for requests. They stay below maxHandshakes,
	// also if three nodes have one address. A new leader gets a connection for each request that waits for it.
	maxDials = 16
)

// openHandshake is a handshake of an accepted connection.
type openHandshake struct {
	from   netip.Addr // of the other end
	began  time.Time
	proven bool // the other end has the exchange's key
}

// beginHandshake registers a handshake. If too many are open, it ends the oldest of that address or of all strangers:
// a node proves its key within milliseconds, and programs that keep connections open must not keep a node out.
// Strangers never take the place of a node. A handshake with a proven key is never ended: its dialer may have sent a
// request already.
func (n *Network) beginHandshake(conn net.Conn) {
	from := addressOf(conn)
	n.mu.Lock()
	defer n.mu.Unlock()
	_, isNode := n.nodes[from]
	limit := maxHandshakes
	if !isNode {
		limit = maxOfStranger
		n.endOldest(maxHandshakes, func(other netip.Addr) bool { _, known := n.nodes[other]; return !known })
	}
	n.endOldest(limit, func(other netip.Addr) bool { return other == from })
	n.open[conn] = openHandshake{from: from, began: time.Now()}
}

// endOldest ends the oldest handshake of the addresses that match if limit of them are open.
func (n *Network) endOldest(limit int, matches func(netip.Addr) bool) {
	count := 0
	var oldest net.Conn
	for conn, h := range n.open {
		if !h.proven && matches(h.from) {
			if count++; oldest == nil || h.began.Before(n.open[oldest].began) {
				oldest = conn
			}
		}
	}
	if count >= limit {
		delete(n.open, oldest)
		closeAtOnce(oldest)
	}
}

// markProven remembers that the other end of an open handshake has the exchange's key.
func (n *Network) markProven(conn net.Conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if h, open := n.open[conn]; open {
		h.proven = true
		n.open[conn] = h
	}
}

// beginDial waits for one of the maxDials handshakes with a node, and returns a function that ends it.
func (n *Network) beginDial(id string, timeout time.Duration) (end func(), err error) {
	n.mu.Lock()
	slots := n.dials[id]
	if slots == nil {
		slots = make(chan struct{}, maxDials)
		n.dials[id] = slots
	}
	n.mu.Unlock()
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-time.After(timeout):
		return nil, fmt.Errorf("cannot connect to node %q: %d other connections to it are being opened", id, maxDials)
	}
}

// closeAtOnce closes a connection without a farewell by TLS, which could wait for the other end.
func closeAtOnce(conn net.Conn) {
	if c, ok := conn.(*tls.Conn); ok {
		conn = c.NetConn()
	}
	_ = conn.Close()
}

// refusalLog logs failed handshakes of accepted connections: refusals, and also timeouts and broken connections. It
// writes at most one line in refusalPause, because a node tries again several times a second, and a stranger more
// often. It does not count connections beyond the limits of beginHandshake.
type refusalLog struct {
	sometimes rate.Sometimes
	count     atomic.Int64 // since the last line
}

const refusalPause = 5 * time.Second

func newRefusalLog() refusalLog {
	return refusalLog{sometimes: rate.Sometimes{Interval: refusalPause}}
}

func (l *refusalLog) log(logger *slog.Logger, conn net.Conn, err error) {
	l.count.Add(1)
	l.sometimes.Do(func() {
		logger.Warn("refused a connection; count includes others since the last such line", "address", conn.RemoteAddr().String(), "count", l.count.Swap(0), "error", err)
	})
}
