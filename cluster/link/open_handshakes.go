package link

import (
	"crypto/tls"
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
)

// openHandshake is a handshake of an accepted connection.
type openHandshake struct {
	from  netip.Addr // of the other end
	began time.Time
}

// beginHandshake registers a handshake. If too many are open, it ends the oldest of that address or of all strangers:
// a node's handshake takes milliseconds, and programs that keep connections open must not keep a node out.
// Strangers never take the place of a node.
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
	n.open[conn] = openHandshake{from, time.Now()}
}

// endOldest ends the oldest handshake of the addresses that match if limit of them are open.
func (n *Network) endOldest(limit int, matches func(netip.Addr) bool) {
	count := 0
	var oldest net.Conn
	for conn, h := range n.open {
		if matches(h.from) {
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
