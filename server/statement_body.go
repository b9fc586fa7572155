package server

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
)

// A statementBody is a statement on its way out: as much of it as the connection
// takes is read from the log, written down, and forgotten. So a statement of a
// million entries costs the memory of a few hundred, and whoever goes away in the
// middle ends the reading.
//
// Where the log cannot be read on, the connection is cut: half a statement must not
// look like a whole one.
type statementBody struct {
	conn    net.Conn
	writer  statementWriter
	entries Entries
	logger  *slog.Logger
	left    func() // gives back the place

	buf  []byte // written, of which the first sent bytes are sent
	sent int
	end  error // io.EOF, or why there is no more, once buf is sent
}

// statementPiece is about how many bytes are written down at once.
const statementPiece = 32 << 10

func newStatementBody(conn net.Conn, form statementForm, words statementWords, sum *engine.Statement, entries Entries, logger *slog.Logger) *statementBody {
	b := &statementBody{conn: conn, entries: entries, logger: logger, left: func() {}}
	switch form {
	case formCSV:
		b.writer = &csvStatement{statementWords: words}
	case formNDJSON:
		b.writer = &ndjsonStatement{statementWords: words}
	default:
		b.writer = &jsonStatement{statementWords: words}
	}
	b.buf = b.writer.begin(make([]byte, 0, 2*statementPiece), sum)
	return b
}

// Read is the library's, while it sends the answer.
func (b *statementBody) Read(p []byte) (int, error) {
	if b.sent == len(b.buf) {
		if b.end != nil {
			return 0, b.end
		}
		b.fill()
		if len(b.buf) == 0 {
			return 0, b.end
		}
	}
	// The library gives one time for the whole answer; this one may take longer
	// than others, as long as it moves.
	if err := b.conn.SetWriteDeadline(time.Now().Add(2 * slowest)); err != nil {
		return 0, err
	}
	n := copy(p, b.buf[b.sent:])
	b.sent += n
	return n, nil
}

func (b *statementBody) fill() {
	b.buf, b.sent = b.buf[:0], 0
	for len(b.buf) < statementPiece {
		entry, err := b.entries.Next()
		if errors.Is(err, io.EOF) {
			b.buf, b.end = b.writer.finish(b.buf), io.EOF
			return
		}
		if err != nil {
			b.logger.Error("a statement breaks off in the middle, and its connection with it", "error", err)
			b.buf, b.end = b.buf[:0], err
			return
		}
		b.buf = b.writer.entry(b.buf, entry)
	}
}

// Close is the library's, when the answer is sent or nobody takes it any more.
func (b *statementBody) Close() error {
	b.left()
	b.left = func() {}
	b.entries.Close()
	return nil
}

// sendToTheEnd sends the statement to who speaks HTTP/1.0, which knows no pieces: it
// ends with its connection. One that breaks off is cut by a reset, over TLS by the
// lack of a last word.
func (b *statementBody) sendToTheEnd(ctx *fasthttp.RequestCtx) {
	kind, guest := string(ctx.Response.Header.ContentType()), guestOf(ctx)
	ctx.HijackSetNoResponse(true)
	ctx.Hijack(func(conn net.Conn) {
		defer func() { _ = b.Close() }()
		_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: "+kind+"\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n")
		if err == nil {
			_, err = io.Copy(conn, b)
		}
		if err == nil || guest == nil {
			return
		}
		if tcp, ok := guest.Conn.(*net.TCPConn); ok && tcp.SetLinger(0) == nil {
			_ = guest.Close()
		}
	})
}
