package connection

import (
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"pingpost/engine/market"
	"pingpost/server/httperror"
)

// Limiter limits the open connections, in total and per client network. It answers a connection
// over a limit with a 503 in the form of the API and closes it; with TLS it only closes it. (The
// HTTP library has such limits too, but answers in its own format.)
//
// A connection is unauthenticated until a valid credential has come over it. At the total limit,
// a new connection replaces an unauthenticated one: of a sample, the one that has been idle
// longest. If all are authenticated, the new connection is rejected. So clients without a
// credential may use all connections, but cannot keep them. Rejected: reserved connections per
// supplier, because a connection shows its supplier only after it is accepted.
//
// A trusted proxy carries many clients over few addresses, so only the total limit applies
// to it.
//
// Accept has one caller; any goroutine may close connections.
type Limiter struct {
	net.Listener
	max, maxPerNetwork int
	newID              func() market.RequestID
	reportError        func(error) // reports why connections cannot be accepted at present
	reportedAt         time.Time   // time of the last report; only Accept uses it

	TLS               *tls.Config           // nil: connections are plain
	OnFailedHandshake func()                // called for each failed handshake
	IsProxy           func(netip.Addr) bool // reports a trusted proxy; nil: no proxy is trusted
	Shared            bool                  // each connection carries the requests of many clients

	Accepting     chan struct{} // closed at the first Accept, or at a shutdown before it
	acceptingOnce sync.Once

	mu              sync.Mutex // guards the rest
	open            int
	perNetwork      map[netip.Prefix]int
	unauthenticated map[*LimitedConn]struct{}
}

func NewLimiter(listener net.Listener, maxOpen, maxPerNetwork int, newRequestID func() market.RequestID, reportError func(error)) *Limiter {
	return &Limiter{
		Listener: listener, max: maxOpen, maxPerNetwork: maxPerNetwork, newID: newRequestID, reportError: reportError,
		perNetwork: make(map[netip.Prefix]int), unauthenticated: make(map[*LimitedConn]struct{}), Accepting: make(chan struct{}),
	}
}

// The pause after a temporary error of the listener, which doubles from minPause to maxPause, and
// the shortest time between two reports of such errors.
const (
	minPause    = 5 * time.Millisecond
	maxPause    = time.Second
	reportEvery = time.Minute
)

// Accept returns the next connection that the limits allow, and rejects others with a 503. After
// a temporary error of the listener it closes an unauthenticated connection and tries again. An
// error that it returns is final.
func (c *Limiter) Accept() (net.Conn, error) {
	c.MarkAccepting()
	pause := minPause
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			if !isTransientAcceptError(err) {
				return nil, err
			}
			if now := time.Now(); now.Sub(c.reportedAt) >= reportEvery {
				c.reportedAt = now
				c.reportError(err)
			}
			c.closeIdlestUnauthenticated()
			time.Sleep(pause)
			pause = min(2*pause, maxPause)
			continue
		}
		pause = minPause
		accepted := newConn(conn, c)
		in, evicted := c.admitConn(accepted)
		if evicted != nil {
			_ = evicted.Conn.Close()
		}
		if in {
			return c.wrapTLSIfConfigured(accepted), nil
		}
		c.send503IfPlainAndClose(conn)
	}
}

// MarkAccepting records that the library has got the listener and will close it at a shutdown.
// Until then a shutdown must wait.
func (c *Limiter) MarkAccepting() { c.acceptingOnce.Do(func() { close(c.Accepting) }) }

// isTransientAcceptError reports whether accepting connections may work again later: the system lacks a
// resource, or the error concerns a single connection.
func isTransientAcceptError(err error) bool {
	for _, one := range [...]error{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.ECONNRESET,
		syscall.EPROTO, syscall.EPERM, syscall.ENETDOWN, syscall.ENETUNREACH, syscall.EHOSTUNREACH, syscall.ETIMEDOUT,
	} {
		if errors.Is(err, one) {
			return true
		}
	}
	return false
}

// admitConn counts a new connection if the limits allow it, and reports whether they do. If
// another connection had to give way, admitConn returns that one as evicted, and the caller
// closes it.
func (c *Limiter) admitConn(g *LimitedConn) (admitted bool, evicted *LimitedConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.perNetwork[g.network] >= c.maxPerNetwork && !(c.IsProxy != nil && c.IsProxy(g.network.Addr())) {
		return false, nil
	}
	if c.open >= c.max {
		if evicted = c.removeIdlestUnauthenticatedLocked(); evicted == nil {
			return false, nil
		}
	}
	c.open++
	c.perNetwork[g.network]++
	c.unauthenticated[g] = struct{}{}
	return true, evicted
}

func (c *Limiter) stopCountingConn(g *LimitedConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopCountingLocked(g)
}

func (c *Limiter) stopCountingLocked(g *LimitedConn) {
	c.open--
	if c.perNetwork[g.network]--; c.perNetwork[g.network] == 0 {
		delete(c.perNetwork, g.network)
	}
	delete(c.unauthenticated, g)
}

// closeIdlestUnauthenticated closes the connection without a valid credential that was idle for
// longest. Accept calls it after each temporary error of the listener, because the system may
// have run out of file descriptors.
func (c *Limiter) closeIdlestUnauthenticated() {
	c.mu.Lock()
	evicted := c.removeIdlestUnauthenticatedLocked()
	c.mu.Unlock()
	if evicted != nil {
		_ = evicted.Conn.Close()
	}
}

// evictionSample is how many connections without a credential are compared to find the one that
// was idle for longest.
const evictionSample = 64

// removeIdlestUnauthenticatedLocked stops counting the connection without a valid credential that
// was idle for longest, and returns it for closing. Among many it compares only a random sample. It
// returns nil if there is none, or if another goroutine closes it. The caller holds c.mu.
func (c *Limiter) removeIdlestUnauthenticatedLocked() (idlest *LimitedConn) {
	seen := 0
	for g := range c.unauthenticated {
		if idlest == nil || g.lastUsed.Load() < idlest.lastUsed.Load() {
			idlest = g
		}
		if seen++; seen == evictionSample {
			break
		}
	}
	if idlest == nil || !idlest.removed.CompareAndSwap(false, true) {
		return nil
	}
	c.stopCountingLocked(idlest)
	return idlest
}

// CloseConnsAwaitingFirstRequest closes the connections over which no byte of a request has come. A
// shutdown would otherwise wait for requests that may never arrive.
func (c *Limiter) CloseConnsAwaitingFirstRequest() {
	var silent []*LimitedConn
	c.mu.Lock()
	for g := range c.unauthenticated {
		if !g.received.Load() {
			silent = append(silent, g)
		}
	}
	c.mu.Unlock()
	for _, g := range silent {
		_ = g.Close()
	}
}

// isMoreThanHalfFull reports whether more than half of the allowed connections are open.
func (c *Limiter) isMoreThanHalfFull() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return 2*c.open > c.max
}

// CountConnections returns the number of open connections, and how many of them have carried no
// valid credential yet.
func (c *Limiter) CountConnections() (open, unauthenticated int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open, len(c.unauthenticated)
}

// send503IfPlainAndClose answers 503 and closes the connection. The answer fits into the empty
// send buffer, so the write does not block. Over TLS it only closes the connection.
func (c *Limiter) send503IfPlainAndClose(conn net.Conn) {
	defer conn.Close()
	if c.TLS != nil { // the client could not read a plain answer before the handshake
		return
	}
	if conn.SetWriteDeadline(time.Now().Add(time.Second)) != nil {
		return
	}
	_, _ = conn.Write(httperror.RawResponse("503 Service Unavailable", c.newID(), errTooManyConnections))
}
