package connection

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/server/httperror"
)

// tlsConn is a connection that speaks TLS over a LimitedConn. The Limiter counts, evicts and times the
// LimitedConn below, and deadlines take effect as late as for plain connections. The library makes the
// handshake within the read timeout, and allocates no memory for a request before it is
// complete.
type tlsConn struct {
	*tls.Conn
	transport *tlsUnderlyingConn
}

// tlsUnderlyingConn is the connection that TLS reads from and writes to. It limits the bytes that a
// client may send during the handshake. The goroutine that serves the connection sets deadlines on the
// LimitedConn directly. TLS itself only sets the deadline of its close_notify, possibly from another
// goroutine that closes an idle connection; that deadline bypasses the LimitedConn's stored ones.
type tlsUnderlyingConn struct {
	*LimitedConn
	handshakeBytes int // bytes of the handshake
	handshakeDone  bool
	closing        atomic.Bool
}

var errPlainHTTP = httperror.New(400, errcode.MalformedRequest, "This address accepts only TLS. Send the request to its https:// address.")

// maxHandshake is how many bytes a client may send during the TLS handshake. It is many times
// the usual size, and a quarter of the TLS library's own limit.
const maxHandshake = 16 << 10

var errLongHandshake = errors.New("the client sent more than 16 KiB in the TLS handshake")

// wrapTLSIfConfigured returns a TLS connection over g, or g itself if the Limiter has no TLS
// configuration.
func (c *Limiter) wrapTLSIfConfigured(g *LimitedConn) net.Conn {
	if c.TLS == nil {
		return g
	}
	under := &tlsUnderlyingConn{LimitedConn: g}
	return &tlsConn{tls.Server(under, c.TLS), under}
}

// Handshake completes the TLS handshake. The library calls it before it reads a request. A
// client that sends plain HTTP gets a 400 in plain HTTP.
func (s *tlsConn) Handshake() error {
	err := s.Conn.Handshake()
	s.transport.handshakeDone = true
	if err == nil {
		return nil
	}
	s.transport.limiter.OnFailedHandshake()
	var head tls.RecordHeaderError
	if errors.As(err, &head) && head.Conn != nil && looksLikeHTTP(head.RecordHeader) {
		s.answerPlainHTTP()
	}
	return err
}

// looksLikeHTTP reports whether the first bytes of a connection are the beginning of a plain
// HTTP request.
func looksLikeHTTP(head [5]byte) bool {
	for _, begins := range [...]string{"GET ", "POST ", "PUT ", "HEAD ", "DELETE ", "OPTIONS ", "PATCH ", "CONNECT ", "TRACE "} {
		if n := min(len(begins), len(head)); string(head[:n]) == begins[:n] {
			return true
		}
	}
	return false
}

// answerPlainHTTP answers 400 in plain HTTP to a client that did not use TLS. It then reads for
// a moment, because a reset could destroy the answer for a client that is still sending.
func (s *tlsConn) answerPlainHTTP() {
	conn := s.transport.LimitedConn.Conn
	if conn.SetDeadline(time.Now().Add(time.Second)) != nil {
		return
	}
	if _, err := conn.Write(httperror.RawResponse("400 Bad Request", s.transport.limiter.newID(), errPlainHTTP)); err != nil {
		return
	}
	if half, ok := conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_, _ = io.CopyN(io.Discard, conn, maxHandshake)
	}
}

func (s *tlsConn) Read(p []byte) (int, error) {
	if s.transport.head.bare {
		return 0, ErrBareLineFeed
	}
	n, err := s.Conn.Read(p)
	if n > 0 {
		s.transport.markReceivedAndScan(p[:n])
	}
	return n, err
}

// SetDeadline, SetReadDeadline and SetWriteDeadline store the deadline in the LimitedConn below TLS,
// which applies it before it may block. The library calls them.
func (s *tlsConn) SetDeadline(t time.Time) error { return s.transport.LimitedConn.SetDeadline(t) }

func (s *tlsConn) SetReadDeadline(t time.Time) error {
	return s.transport.LimitedConn.SetReadDeadline(t)
}

func (s *tlsConn) SetWriteDeadline(t time.Time) error {
	return s.transport.LimitedConn.SetWriteDeadline(t)
}

// Close sends the client TLS's closing message (close_notify), which takes at most
// closeNotifyTime, and closes the connection.
func (s *tlsConn) Close() error {
	s.transport.closing.Store(true)
	return s.Conn.Close()
}

func (b *tlsUnderlyingConn) Read(p []byte) (int, error) {
	if b.handshakeDone {
		return b.LimitedConn.Read(p)
	}
	if b.handshakeBytes >= maxHandshake {
		return 0, errLongHandshake
	}
	n, err := b.LimitedConn.Read(p)
	b.handshakeBytes += n
	return n, err
}

func (b *tlsUnderlyingConn) Write(p []byte) (int, error) {
	if b.closing.Load() {
		return b.LimitedConn.Conn.Write(p)
	}
	return b.LimitedConn.Write(p)
}

// closeNotifyTime limits how long Close waits for a client that does not read.
const closeNotifyTime = 100 * time.Millisecond

// SetWriteDeadline sets the deadline for TLS's closing message (close_notify) to at most
// closeNotifyTime. The TLS library alone would wait five seconds for a client that does not
// read.
func (b *tlsUnderlyingConn) SetWriteDeadline(t time.Time) error {
	if soon := time.Now().Add(closeNotifyTime); t.After(soon) {
		t = soon
	}
	return b.LimitedConn.Conn.SetWriteDeadline(t)
}

// FromRequest returns the connection over which a request came, or nil in a test without a
// connection.
func FromRequest(ctx *fasthttp.RequestCtx) *LimitedConn { return unwrapConn(ctx.Conn()) }

func unwrapConn(conn net.Conn) *LimitedConn {
	switch conn := conn.(type) {
	case *LimitedConn:
		return conn
	case *tlsConn:
		return conn.transport.LimitedConn
	}
	return nil
}
