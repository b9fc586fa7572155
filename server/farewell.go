package server

import (
	"io"
	"time"

	"github.com/valyala/fasthttp"
)

// farewell is how long a connection is read from, and thrown away what comes, when its
// last answer is on its way and its client may still be sending. A connection that is
// closed with bytes unread is reset, and a reset can take the answer from the client. It is
// read no further than a body over the limit.
const farewell = time.Second

// cutOff notes that the request over this connection is not read to its end, and that its
// answer, which tells of this fault, is the last. Who was too slow is not given more time.
func cutOff(ctx *fasthttp.RequestCtx, told fault) {
	ctx.SetConnectionClose()
	if g := guestOf(ctx); g != nil && told != faultSlow {
		g.cut.Store(true)
	}
}

// part says that nothing more comes, and hears the client out, for as long as a farewell.
func (g *guest) part() {
	half, ok := g.Conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil || g.Conn.SetReadDeadline(time.Now().Add(farewell)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, g.Conn, drained)
}
