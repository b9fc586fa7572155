package forward

import (
	"errors"
	"io"
	"net"
	"net/http/httputil"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/server/connection"
)

const (
	// maxBufferedAnswer is the greatest size in bytes of an answer that is read completely before it
	// is passed on.
	maxBufferedAnswer = 64 << 10
	// answerPause is the most time between two pieces of a longer answer.
	answerPause = 2 * time.Minute
	// clientPause is the most time that a client may take to read a piece.
	clientPause = time.Minute
)

// relay passes the leader's answer on to the client: status, headers and body.
func (r *clientRequest) relay(conn *nodeConn, answer *fasthttp.Response) sendResult {
	length := answer.Header.ContentLength()
	hasBody := !r.ctx.IsHead() && !hasNoBody(answer.StatusCode())
	if hasBody && length >= 0 && length <= maxBufferedAnswer {
		if conn.SetReadDeadline(time.Now().Add(writeTime)) != nil || answer.ReadBody(conn.reader, maxBufferedAnswer) != nil {
			fasthttp.ReleaseResponse(answer)
			conn.close()
			return sendUnknown
		}
	}
	r.f.opt.Count(r.kind, Answered)
	r.copyHead(answer)
	if hasBody && (length < 0 || length > maxBufferedAnswer) {
		r.relayStream(conn, answer, length)
		return sendAnswered
	}
	if hasBody {
		r.ctx.Response.SetBody(answer.Body())
	}
	if answer.ConnectionClose() {
		conn.close()
	} else {
		conn.keep()
	}
	fasthttp.ReleaseResponse(answer)
	return sendAnswered
}

// hasNoBody reports whether answers with this status never have a body.
func hasNoBody(status int) bool {
	return status == fasthttp.StatusNoContent || status == fasthttp.StatusNotModified
}

// copyHead copies status and headers. It also applies the rules for the client's connection that depend
// on the answer.
func (r *clientRequest) copyHead(answer *fasthttp.Response) {
	header := &r.ctx.Response.Header
	if len(answer.Header.Peek(headerAuthenticated)) > 0 {
		connection.MarkAuthenticated(r.ctx)
		answer.Header.Del(headerAuthenticated)
	}
	answer.Header.CopyTo(header)
	header.DisableNormalizing()
	header.SetNoDefaultContentType(true)
	r.removeReplayMark()
	connection.CloseUnauthenticatedOn4xxIfMoreThanHalfFull(r.ctx)
}

// relayStream passes a long answer on, piece by piece.
func (r *clientRequest) relayStream(conn *nodeConn, answer *fasthttp.Response, length int) {
	body := newRelayedBody(conn, answer)
	body.client = r.ctx.Conn()
	if length < 0 && !r.ctx.Request.Header.IsHTTP11() {
		relayOverHTTP10(r.ctx, body)
		return
	}
	r.ctx.Response.SetBodyStream(body, length)
}

// relayedBody reads a long answer from the leader, while the HTTP library sends it to the client. The
// library's own reader takes a broken connection between two chunks for the end.
type relayedBody struct {
	conn   *nodeConn
	answer *fasthttp.Response
	chunks io.Reader // nil: the answer has a length
	left   int       // bytes that are missing, without chunks
	client net.Conn  // nil: the reader is no client
	ended  bool
}

func newRelayedBody(conn *nodeConn, answer *fasthttp.Response) *relayedBody {
	b := &relayedBody{conn: conn, answer: answer, left: answer.Header.ContentLength()}
	if b.left < 0 {
		b.chunks = httputil.NewChunkedReader(conn.reader)
	}
	return b
}

func (b *relayedBody) Read(p []byte) (n int, err error) {
	if b.ended {
		return 0, io.EOF
	}
	now := time.Now()
	if err := b.conn.SetReadDeadline(now.Add(answerPause)); err != nil {
		return 0, err
	}
	if b.chunks != nil {
		n, err = b.readChunks(p)
	} else {
		n, err = b.readRest(p)
	}
	// The library sets one deadline for the whole answer. This one may take longer, as long as the
	// client reads.
	if b.client != nil {
		if err := b.client.SetWriteDeadline(time.Now().Add(clientPause)); err != nil {
			return 0, err
		}
	}
	b.ended = errors.Is(err, io.EOF)
	return n, err
}

func (b *relayedBody) readChunks(p []byte) (n int, err error) {
	n, err = b.chunks.Read(p)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	var end [2]byte // there is no trailer
	if _, broken := io.ReadFull(b.conn.reader, end[:]); broken != nil || string(end[:]) != "\r\n" {
		return n, io.ErrUnexpectedEOF
	}
	return n, io.EOF
}

func (b *relayedBody) readRest(p []byte) (n int, err error) {
	if b.left > 0 {
		n, err = b.conn.reader.Read(p[:min(len(p), b.left)])
		b.left -= n
	}
	switch {
	case b.left == 0:
		err = io.EOF
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Close keeps the leader's connection if the answer was read to its end.
func (b *relayedBody) Close() error {
	reuse := b.ended && !b.answer.ConnectionClose()
	fasthttp.ReleaseResponse(b.answer)
	if reuse {
		b.conn.keep()
	} else {
		b.conn.close()
	}
	return nil
}

// relayOverHTTP10 sends an answer of unknown length to an HTTP/1.0 client, which does not understand
// chunks: the body ends with the connection. After an error it resets the connection, so that the client
// does not take the part for the whole.
func relayOverHTTP10(ctx *fasthttp.RequestCtx, body io.ReadCloser) {
	header := &ctx.Response.Header
	header.Del(fasthttp.HeaderTransferEncoding)
	header.SetConnectionClose()
	head, client := string(header.Header()), connection.FromRequest(ctx)
	ctx.HijackSetNoResponse(true)
	ctx.Hijack(func(conn net.Conn) {
		defer func() { _ = body.Close() }()
		_, err := io.WriteString(conn, head)
		if err == nil {
			_, err = io.Copy(conn, body)
		}
		if err != nil {
			client.Abort()
		}
	})
}
