package server

import (
	"cmp"
	"errors"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
)

// A streamedBody is an answer on its way out: as much of it as the connection takes is
// read, written down, and forgotten. So a statement of a million entries costs the memory
// of a few hundred, and whoever goes away in the middle ends the reading.
//
// Where it cannot be read on, the connection is cut: half an answer must not look like a
// whole one.
type streamedBody struct {
	conn   net.Conn
	lines  lines
	logger *slog.Logger
	left   func() // gives back the place

	buf  []byte // written, of which the first sent bytes are sent
	sent int
	end  error // io.EOF, or why there is no more, once buf is sent
}

// lines are what an answer is made of.
type lines interface {
	// next appends the next one; with io.EOF, what follows the last.
	next(dst []byte) ([]byte, error)
	Close()
}

// streamedPiece is about how many bytes are written down at once.
const streamedPiece = 32 << 10

// statementLines are a statement's entries.
type statementLines struct {
	writer  statementWriter
	entries Entries
}

func (l *statementLines) next(dst []byte) ([]byte, error) {
	entry, err := l.entries.Next()
	switch {
	case errors.Is(err, io.EOF):
		dst, failed := l.writer.finish(dst)
		return dst, cmp.Or(failed, err)
	case err != nil:
		return dst, err
	}
	return l.writer.entry(dst, entry), nil
}

func (l *statementLines) Close() { l.entries.Close() }

func newStatementBody(conn net.Conn, form statementForm, words statementWords, sum *engine.Statement, entries Entries, logger *slog.Logger) *streamedBody {
	of := &statementLines{entries: entries}
	switch form {
	case formCSV:
		of.writer = &csvStatement{statementWords: words}
	case formParquet:
		of.writer = &parquetStatement{statementWords: words}
	case formNDJSON:
		of.writer = &ndjsonStatement{statementWords: words}
	default:
		of.writer = &jsonStatement{statementWords: words}
	}
	b := streamed(conn, of, logger)
	b.buf = of.writer.begin(b.buf, sum)
	return b
}

func streamed(conn net.Conn, of lines, logger *slog.Logger) *streamedBody {
	return &streamedBody{conn: conn, lines: of, logger: logger, left: func() {}, buf: make([]byte, 0, 2*streamedPiece)}
}

// Read is the library's, while it sends the answer.
func (b *streamedBody) Read(p []byte) (int, error) {
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

func (b *streamedBody) fill() {
	b.buf, b.sent = b.buf[:0], 0
	for len(b.buf) < streamedPiece {
		var err error
		b.buf, err = b.lines.next(b.buf)
		if errors.Is(err, io.EOF) {
			b.end = io.EOF
			return
		}
		if err != nil {
			b.logger.Error("an answer breaks off in the middle, and its connection with it", "error", err)
			b.buf, b.end = b.buf[:0], err
			return
		}
	}
}

// Close is the library's, when the answer is sent or nobody takes it any more.
func (b *streamedBody) Close() error {
	b.left()
	b.left = func() {}
	b.lines.Close()
	return nil
}

// answer has the library send it.
func (b *streamedBody) answer(ctx *fasthttp.RequestCtx, kind string) {
	ctx.SetContentType(kind)
	ctx.Response.Header.Set("Cache-Control", "no-store")
	if !ctx.Request.Header.IsHTTP11() {
		toTheEnd(ctx, b)
		return
	}
	ctx.SetBodyStream(b, -1)
}

// toTheEnd sends a body to who speaks HTTP/1.0, which knows no pieces: it ends with its
// connection. One that breaks off is cut by a reset, over TLS by the lack of a last
// word.
func toTheEnd(ctx *fasthttp.RequestCtx, body io.ReadCloser) {
	kind, guest := string(ctx.Response.Header.ContentType()), guestOf(ctx)
	ctx.HijackSetNoResponse(true)
	ctx.Hijack(func(conn net.Conn) {
		defer func() { _ = body.Close() }()
		_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: "+kind+"\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n")
		if err == nil {
			_, err = io.Copy(conn, body)
		}
		if err == nil || guest == nil {
			return
		}
		if tcp, ok := guest.Conn.(*net.TCPConn); ok && tcp.SetLinger(0) == nil {
			_ = guest.Close()
		}
	})
}
