package connection

import (
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/server/clientaddr"
)

// LimitedConn is an accepted connection. The Limiter counts it until it is closed.
type LimitedConn struct {
	net.Conn
	limiter       *Limiter
	network       netip.Prefix
	lastUsed      atomic.Int64 // Unix nanoseconds: time of the last byte in either direction
	authenticated atomic.Bool  // a valid credential has come over it
	removed       atomic.Bool  // the limiter counts it no longer
	received      atomic.Bool  // at least one byte of a request has come
	unreadRequest atomic.Bool  // its last request was not read to the end
	readFailed    atomic.Bool  // a read has failed: the client closed it, it broke, or a deadline passed

	readDeadline, writeDeadline lazyDeadline
	head                        bareLineFeedScanner
}

func newConn(conn net.Conn, limiter *Limiter) *LimitedConn {
	g := &LimitedConn{Conn: conn, limiter: limiter, network: peerNetworkOf(conn), head: bareLineFeedScanner{idle: true}}
	g.markUsed()
	return g
}

func (g *LimitedConn) markUsed() { g.lastUsed.Store(time.Now().UnixNano()) }

// SetReadDeadline stores the deadline. The next Read that may block applies it.
func (g *LimitedConn) SetReadDeadline(t time.Time) error {
	g.readDeadline.wanted = t
	return nil
}

// SetWriteDeadline stores the deadline. The next Write applies it.
func (g *LimitedConn) SetWriteDeadline(t time.Time) error {
	g.writeDeadline.wanted = t
	return nil
}

// RenewWriteDeadlineForLibrary gives the request's connection the timeout for an answer that the HTTP library
// itself writes: an error before the handler, or 100 Continue. The library would use the deadline
// of the previous answer, which may have passed while the connection was idle.
func RenewWriteDeadlineForLibrary(ctx *fasthttp.RequestCtx, timeout time.Duration) {
	if g := FromRequest(ctx); g != nil && timeout > 0 {
		g.writeDeadline.wanted = time.Now().Add(timeout)
	}
}

// SetDeadline stores the deadline for both reading and writing.
func (g *LimitedConn) SetDeadline(t time.Time) error {
	g.readDeadline.wanted, g.writeDeadline.wanted = t, t
	return nil
}

func (g *LimitedConn) Read(p []byte) (int, error) {
	if g.head.bare {
		return 0, ErrBareLineFeed
	}
	if deadline, due := g.readDeadline.deadlineToSet(); due {
		if err := g.Conn.SetReadDeadline(deadline); err != nil {
			return 0, err
		}
	}
	n, err := g.Conn.Read(p)
	if err != nil {
		g.readFailed.Store(true)
	}
	if n > 0 {
		g.markUsed()
		if g.limiter.TLS == nil {
			g.markReceivedAndScan(p[:n])
		}
	}
	return n, err
}

// MayHaveBareLineFeed reports whether the head of a request on this connection may have a line that
// ends in LF without CR. It finds those that the library's header lines no longer show. A proxy
// may see another request in such a head.
func (g *LimitedConn) MayHaveBareLineFeed(header *fasthttp.RequestHeader) bool {
	return g != nil && g.head.mayHaveBareLineFeed(header)
}

// MayHaveBareLineFeedAfterLastChunk reports whether, since the connection was last idle, LF without CR
// came directly after a line that ends a chunked body (0, CR, LF). Text inside a body can look
// like that too.
func (g *LimitedConn) MayHaveBareLineFeedAfterLastChunk() bool {
	return g != nil && g.head.trailer.bare
}

// Abort closes a TCP connection with a reset, so that the client does not take a partial answer
// for a complete one. Under TLS it closes the connection below TLS: the client then gets no
// close_notify, which would mark the answer as complete. Connections other than TCP stay open.
func (g *LimitedConn) Abort() {
	if g == nil {
		return
	}
	if tcp, ok := g.Conn.(*net.TCPConn); ok && tcp.SetLinger(0) == nil {
		_ = g.Close()
	}
}

// HasReadFailed reports whether a read has failed, because the client closed the connection, the
// connection broke, or the read deadline passed.
func (g *LimitedConn) HasReadFailed() bool { return g != nil && g.readFailed.Load() }

// markReceivedAndScan passes received bytes to the scanners that search for bare line feeds.
func (g *LimitedConn) markReceivedAndScan(received []byte) {
	if !g.received.Load() {
		g.received.Store(true)
	}
	g.head.scan(received)
}

func (g *LimitedConn) Write(p []byte) (int, error) {
	if deadline, due := g.writeDeadline.deadlineToSet(); due {
		if err := g.Conn.SetWriteDeadline(deadline); err != nil {
			return 0, err
		}
	}
	n, err := g.Conn.Write(p)
	if n > 0 {
		g.markUsed()
	}
	return n, err
}

// Close closes the connection, and the Limiter no longer counts it. If the last request was not
// read to its end, Close first reads and drops some of the rest.
func (g *LimitedConn) Close() error {
	if g.unreadRequest.Swap(false) {
		g.drainUnread()
	}
	if g.removed.CompareAndSwap(false, true) {
		g.limiter.stopCountingConn(g)
	}
	return g.Conn.Close()
}

// markAuthenticated records that a valid credential came over the connection. The Limiter never
// closes such a connection to make room for a new one.
func (g *LimitedConn) markAuthenticated() {
	if g.authenticated.Swap(true) {
		return
	}
	g.limiter.mu.Lock()
	defer g.limiter.mu.Unlock()
	delete(g.limiter.unauthenticated, g)
}

// MarkAuthenticated records that the request's connection carried a valid credential. The
// Limiter never closes such a connection to make room for a new one. Of a shared connection it
// records this for the request only: see IsMarkedAuthenticated.
func MarkAuthenticated(ctx *fasthttp.RequestCtx) {
	switch g := FromRequest(ctx); {
	case g == nil:
	case g.limiter.Shared:
		ctx.SetUserValue(authenticatedKey{}, true)
	default:
		g.markAuthenticated()
	}
}

// authenticatedKey is the key of the mark in the user values of a request over a shared connection.
type authenticatedKey struct{}

// IsMarkedAuthenticated reports whether MarkAuthenticated was called for this request over a shared
// connection.
func IsMarkedAuthenticated(ctx *fasthttp.RequestCtx) bool {
	return ctx.UserValue(authenticatedKey{}) != nil
}

// CloseUnauthenticatedOn4xxIfMoreThanHalfFull closes the request's connection after a 4xx answer if more than half
// of all allowed connections are open. It spares a connection over which a valid credential
// came.
func CloseUnauthenticatedOn4xxIfMoreThanHalfFull(ctx *fasthttp.RequestCtx) {
	if status := ctx.Response.StatusCode(); status < 400 || status > 499 {
		return
	}
	if g := FromRequest(ctx); g != nil && !g.authenticated.Load() && g.limiter.isMoreThanHalfFull() {
		ctx.SetConnectionClose()
	}
}

// peerNetworkOf returns the network under which the Limiter counts the connection.
func peerNetworkOf(conn net.Conn) netip.Prefix {
	return clientaddr.NetworkForLimits(clientaddr.FromRemoteAddr(conn.RemoteAddr()))
}
