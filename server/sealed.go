package server

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/market"
)

// sealed is a guest that speaks TLS. All that holds of a guest holds below the seal:
// it is counted, evicted and timed as a connection of TCP, and its deadlines are
// given late in the same way. The library makes the handshake, within the read
// timeout, and keeps no memory for a request before it is through.
type sealed struct {
	*tls.Conn
	below *below
}

// below is what TLS reads from and writes to. Deadlines reach the guest from above
// alone, by the goroutine that serves it. What TLS sets itself is the time for its
// last word, when the connection is closed, and that may be by another goroutine,
// such as one that ends an idle connection: then the guest's own notes are passed by.
type below struct {
	*guest
	came    int // bytes, until the handshake is through
	through bool
	closing atomic.Bool
}

var faultPlain = fault{400, errcode.MalformedRequest, "This address speaks TLS. Send the request to it as https://."}

// maxHello is how many bytes a client may send until the handshake is through: many
// times what one needs, and a quarter of what the library of TLS would keep.
const maxHello = 16 << 10

var errHello = errors.New("the handshake is longer than one can be")

// sealed puts the guest under its seal, where there is one.
func (c *crowd) sealed(g *guest) net.Conn {
	if c.seal == nil {
		return g
	}
	under := &below{guest: g}
	return &sealed{tls.Server(under, c.seal), under}
}

// Handshake is the library's, before it reads a request. Who speaks plain HTTP here
// is told so.
func (s *sealed) Handshake() error {
	err := s.Conn.Handshake()
	s.below.through = true
	if err == nil {
		return nil
	}
	s.below.crowd.unsealed()
	var head tls.RecordHeaderError
	if errors.As(err, &head) && head.Conn != nil && isHTTP(head.RecordHeader) {
		s.sayPlain()
	}
	return err
}

// isHTTP tells whether a request begins with these bytes.
func isHTTP(head [5]byte) bool {
	for _, begins := range [...]string{"GET ", "POST ", "PUT ", "HEAD ", "DELETE ", "OPTIONS ", "PATCH ", "CONNECT ", "TRACE "} {
		if n := min(len(begins), len(head)); string(head[:n]) == begins[:n] {
			return true
		}
	}
	return false
}

// sayPlain tells what is spoken here. What the caller had begun to send is read for a
// moment: else the answer might be lost to it.
func (s *sealed) sayPlain() {
	conn := s.below.guest.Conn
	if conn.SetDeadline(time.Now().Add(time.Second)) != nil {
		return
	}
	if _, err := conn.Write(rawAnswer("400 Bad Request", "", s.below.crowd.newID(), faultPlain)); err != nil {
		return
	}
	if half, ok := conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_, _ = io.CopyN(io.Discard, conn, maxHello)
	}
}

func (s *sealed) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	if n > 0 {
		s.below.speak()
	}
	return n, err
}

// SetDeadline and its like are the library's.
func (s *sealed) SetDeadline(t time.Time) error      { return s.below.guest.SetDeadline(t) }
func (s *sealed) SetReadDeadline(t time.Time) error  { return s.below.guest.SetReadDeadline(t) }
func (s *sealed) SetWriteDeadline(t time.Time) error { return s.below.guest.SetWriteDeadline(t) }

// Close says the last word, if it can be said at once, and ends the connection.
func (s *sealed) Close() error {
	s.below.closing.Store(true)
	return s.Conn.Close()
}

func (b *below) Read(p []byte) (int, error) {
	if b.through {
		return b.guest.Read(p)
	}
	if b.came >= maxHello {
		return 0, errHello
	}
	n, err := b.guest.Read(p)
	b.came += n
	return n, err
}

func (b *below) Write(p []byte) (int, error) {
	if b.closing.Load() {
		return b.guest.Conn.Write(p)
	}
	return b.guest.Write(p)
}

// lastWord bounds what a connection's end waits for a peer that reads nothing.
const lastWord = 100 * time.Millisecond

// SetWriteDeadline is that of the last word. Until TLS has said it, it would wait for
// five seconds.
func (b *below) SetWriteDeadline(t time.Time) error {
	if soon := time.Now().Add(lastWord); t.After(soon) {
		t = soon
	}
	return b.guest.Conn.SetWriteDeadline(t)
}

// guestOf is the guest over whose connection a request came; nil where there is none.
func guestOf(ctx *fasthttp.RequestCtx) *guest {
	switch conn := ctx.Conn().(type) {
	case *guest:
		return conn
	case *sealed:
		return conn.below.guest
	}
	return nil
}

// rawAnswer is an error for a connection over which no request was read.
func rawAnswer(status, headers string, id market.RequestID, what fault) []byte {
	body := appendFault(nil, id, what)
	text := []byte("HTTP/1.1 " + status + "\r\nContent-Type: " + typeJSON + "\r\n" + headers + "Connection: close\r\n")
	text = id.AppendTo(append(text, headerRequestID+": "...))
	text = strconv.AppendInt(append(text, "\r\nContent-Length: "...), int64(len(body)), 10)
	return append(append(text, "\r\n\r\n"...), body...)
}
