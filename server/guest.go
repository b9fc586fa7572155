package server

import (
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// guest is a connection that is counted until it is closed.
type guest struct {
	net.Conn
	crowd *crowd
	from  netip.Prefix
	used  atomic.Int64 // Unix nanoseconds: when a byte last went over it
	known atomic.Bool  // a good credential has come over it
	gone  atomic.Bool  // counted out already
	spoke atomic.Bool  // a byte of a request has come over it
	cut   atomic.Bool  // its last request was not read to the end
	ended atomic.Bool  // nothing comes over it any more

	reading, writing patience
}

func newGuest(conn net.Conn, c *crowd) *guest {
	g := &guest{Conn: conn, crowd: c, from: origin(conn)}
	g.touch()
	return g
}

func (g *guest) touch() { g.used.Store(time.Now().UnixNano()) }

// SetReadDeadline holds from the next Read on.
func (g *guest) SetReadDeadline(t time.Time) error {
	g.reading.wanted = t
	return nil
}

// SetWriteDeadline holds from the next Write on.
func (g *guest) SetWriteDeadline(t time.Time) error {
	g.writing.wanted = t
	return nil
}

// SetDeadline is both.
func (g *guest) SetDeadline(t time.Time) error {
	g.reading.wanted, g.writing.wanted = t, t
	return nil
}

func (g *guest) Read(p []byte) (int, error) {
	if deadline, due := g.reading.due(); due {
		if err := g.Conn.SetReadDeadline(deadline); err != nil {
			return 0, err
		}
	}
	n, err := g.Conn.Read(p)
	if err != nil {
		g.ended.Store(true)
	}
	if n > 0 {
		g.touch()
		if g.crowd.seal == nil {
			g.speak()
		}
	}
	return n, err
}

// hungUp tells whether the other side has ended the connection, or it broke.
func (g *guest) hungUp() bool { return g != nil && g.ended.Load() }

// speak notes that a byte of a request has come.
func (g *guest) speak() {
	if !g.spoke.Load() {
		g.spoke.Store(true)
	}
}

func (g *guest) Write(p []byte) (int, error) {
	if deadline, due := g.writing.due(); due {
		if err := g.Conn.SetWriteDeadline(deadline); err != nil {
			return 0, err
		}
	}
	n, err := g.Conn.Write(p)
	if n > 0 {
		g.touch()
	}
	return n, err
}

// Close ends the connection and makes room for another.
func (g *guest) Close() error {
	if g.cut.Swap(false) {
		g.part()
	}
	if g.gone.CompareAndSwap(false, true) {
		g.crowd.leave(g)
	}
	return g.Conn.Close()
}

// recognize makes the guest one that nobody's coming evicts.
func (g *guest) recognize() {
	if g.known.Swap(true) {
		return
	}
	g.crowd.mu.Lock()
	defer g.crowd.mu.Unlock()
	delete(g.crowd.strangers, g)
}

// recognize notes that a good credential came over the request's connection.
func recognize(ctx *fasthttp.RequestCtx) {
	if g := guestOf(ctx); g != nil {
		g.recognize()
	}
}

// dismiss ends the connection of a stranger whose request was refused, where
// places are scarce.
func dismiss(ctx *fasthttp.RequestCtx) {
	if status := ctx.Response.StatusCode(); status < 400 || status > 499 {
		return
	}
	if g := guestOf(ctx); g != nil && !g.known.Load() && g.crowd.packed() {
		ctx.SetConnectionClose()
	}
}

// origin is whose connection it is.
func origin(conn net.Conn) netip.Prefix { return networkOf(addressOf(conn.RemoteAddr())) }
