package connection

import (
	"io"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/server/httperror"
)

// MaxDrain is the greatest number of bytes of a rejected request that the server reads and drops,
// so that the client finishes sending and reads the answer. A longer request is cut off.
const MaxDrain = 1 << 20

// drainTime is how long a connection is read and its bytes discarded after the last answer,
// while the client may still be sending. Closing a connection with unread bytes resets it,
// and a reset can take the answer from the client. At most MaxDrain bytes are read.
const drainTime = time.Second

// CloseAfterAnswerDrainUnlessTimeout makes the connection close after this answer, because the request
// is not read to its end. Some of the rest is read and dropped first, except if the request timed out.
// cause is the error that the answer reports.
func CloseAfterAnswerDrainUnlessTimeout(ctx *fasthttp.RequestCtx, cause httperror.Error) {
	ctx.SetConnectionClose()
	if g := FromRequest(ctx); g != nil && cause != httperror.RequestTimeout {
		g.unreadRequest.Store(true)
	}
}

// drainUnread tells the client that no more data follows, and then reads and drops its data for
// at most drainTime. Without this, a reset could destroy the answer before the client reads it.
func (g *LimitedConn) drainUnread() {
	half, ok := g.Conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil || g.Conn.SetReadDeadline(time.Now().Add(drainTime)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, g.Conn, MaxDrain)
}
