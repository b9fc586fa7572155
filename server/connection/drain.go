package connection

import (
	"io"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/server/httperror"
)

// MaxDrain is the number of bytes of a rejected request that are read and discarded, so
// that its client finishes sending and reads the answer. A longer request is cut off.
const MaxDrain = 1 << 20

// drainTime is how long a connection is read and its bytes discarded after the last answer,
// while the client may still be sending. Closing a connection with unread bytes resets it,
// and a reset can take the answer from the client. At most MaxDrain bytes are read.
const drainTime = time.Second

// CloseUnread closes the connection after this answer, because its request is not read to
// the end. It drains the connection unless the request timed out.
func CloseUnread(ctx *fasthttp.RequestCtx, sent httperror.Error) {
	ctx.SetConnectionClose()
	if g := FromRequest(ctx); g != nil && sent != httperror.RequestTimeout {
		g.unreadRequest.Store(true)
	}
}

// drainUnread half-closes the connection and discards further input, within
// drainTime.
func (g *Conn) drainUnread() {
	half, ok := g.Conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil || g.Conn.SetReadDeadline(time.Now().Add(drainTime)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, g.Conn, MaxDrain)
}
