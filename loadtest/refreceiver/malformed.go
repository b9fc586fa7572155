package refreceiver

import (
	"net"
	"time"

	"github.com/valyala/fasthttp"
)

// malformation is a kind of malformed answer. The first two are no acknowledgement,
// whatever their first bytes are. The last one is, because the head of an answer is
// enough.
type malformation int

const (
	reset    malformation = iota // a connection reset in the middle of the head
	slowHead                     // one byte of the head every tenth of a second, for longer than a second
	slowBody                     // a complete head, and then a body with one byte every tenth of a second
	malformations
)

const (
	noContentHead = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
	slowBodyHead  = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 20\r\nConnection: close\r\n\r\n"
	slowBodyText  = "taken, if you listen"

	trickleInterval = 100 * time.Millisecond // between two bytes
)

// acknowledges reports whether the answer is an acknowledgement.
func (m malformation) acknowledges() bool { return m == slowBody }

// drawMalformation returns a malformation; ok is false for a normal answer.
func (r *Receiver) drawMalformation(d *delivery, attempt int) (m malformation, ok bool) {
	if r.options.MalformedRate == 0 || r.draw(drawMalformed, d, attempt) >= r.options.MalformedRate {
		return 0, false
	}
	return malformation(r.draw(drawMalformation, d, attempt) * float64(malformations)), true
}

// answerMalformed writes to the connection directly. The server then closes it.
func (r *Receiver) answerMalformed(ctx *fasthttp.RequestCtx, m malformation) {
	conn := ctx.Conn()
	_ = conn.SetWriteDeadline(time.Time{}) // the deadline of the previous answer may be near
	switch m {
	case reset:
		_, _ = conn.Write([]byte(noContentHead[:len(noContentHead)/2]))
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
	case slowHead:
		r.trickle(conn, noContentHead)
	case slowBody:
		if _, err := conn.Write([]byte(slowBodyHead)); err == nil {
			r.trickle(conn, slowBodyText)
		}
	}
	ctx.HijackSetNoResponse(true)
	ctx.Hijack(func(net.Conn) {})
}

// trickle writes byte by byte until the peer or the receiver closes.
func (r *Receiver) trickle(conn net.Conn, text string) {
	for i := range len(text) {
		if _, err := conn.Write([]byte(text[i : i+1])); err != nil || !r.pause(trickleInterval) {
			return
		}
	}
}
