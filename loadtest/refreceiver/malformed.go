package refreceiver

import (
	"net"
	"time"

	"github.com/valyala/fasthttp"
)

// malformation is one way to answer badly. The first two are no acknowledgement,
// whatever the bytes begin with; the last one is: an answer's head is enough.
type malformation int

const (
	reset    malformation = iota // the connection is reset in the middle of the head
	slowHead                     // a byte every tenth of a second, and no end within the second
	slowBody                     // a head at once, and then a body like that
	malformations
)

const (
	nothing = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
	some    = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 20\r\nConnection: close\r\n\r\n"
	words   = "taken, if you listen"

	trickled = 100 * time.Millisecond // between two bytes
)

// acknowledges tells whether it is an acknowledgement all the same.
func (m malformation) acknowledges() bool { return m == slowBody }

// nonsense draws one; false: the answer is to be sound.
func (r *Receiver) nonsense(d *delivery, attempt int) (m malformation, ok bool) {
	if r.options.MalformedRate == 0 || r.draw(drawMalformed, d, attempt) >= r.options.MalformedRate {
		return 0, false
	}
	return malformation(r.draw(drawMalformation, d, attempt) * float64(malformations)), true
}

// babble writes such an answer to the connection past the server, which then closes it.
func (r *Receiver) babble(ctx *fasthttp.RequestCtx, m malformation) {
	conn := ctx.Conn()
	_ = conn.SetWriteDeadline(time.Time{}) // what the server set for its last answer may be near
	switch m {
	case reset:
		_, _ = conn.Write([]byte(nothing[:len(nothing)/2]))
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
	case slowHead:
		r.trickle(conn, nothing)
	case slowBody:
		if _, err := conn.Write([]byte(some)); err == nil {
			r.trickle(conn, words)
		}
	}
	ctx.HijackSetNoResponse(true)
	ctx.Hijack(func(net.Conn) {})
}

// trickle writes until nobody listens any more, or Close.
func (r *Receiver) trickle(conn net.Conn, text string) {
	for i := range len(text) {
		if _, err := conn.Write([]byte(text[i : i+1])); err != nil || !r.pause(trickled) {
			return
		}
	}
}
