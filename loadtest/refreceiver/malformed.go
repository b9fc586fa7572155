package refreceiver

import (
	"net"

	"github.com/valyala/fasthttp"

	"pingpost/loadtest/refserver"
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
	r.WriteRaw(ctx, func(conn net.Conn) {
		switch m {
		case reset:
			refserver.ResetAfter(conn, []byte(noContentHead[:len(noContentHead)/2]))
		case slowHead:
			r.Trickle(conn, []byte(noContentHead))
		case slowBody:
			if _, err := conn.Write([]byte(slowBodyHead)); err == nil {
				r.Trickle(conn, []byte(slowBodyText))
			}
		}
	})
}
