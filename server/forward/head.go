package forward

import (
	"bytes"
	"strconv"

	"github.com/valyala/fasthttp"
)

// Headers between nodes. A node removes them from the requests of clients before it forwards these, and
// from the answers that it passes on. Their names do not change, because the nodes of a cluster are
// upgraded one at a time.
const (
	headerKind         = "X-Pingpost-Forwarded-Kind"   // of the request
	headerClient       = "X-Pingpost-Forwarded-Client" // address and port from which the client sent the request
	headerMaySendAgain = "X-Pingpost-Not-Decided"      // of an answer: see httperror.MaySendAgain
	markEvent          = "event"                       // its value after httperror.WriteNextLeaderAnswers

	headerAuthenticated = "X-Pingpost-Authenticated" // of an answer: see connection.MarkAuthenticated
)

// droppedHeaders are the headers of a client that are not forwarded: those between nodes, and those that
// concern one connection only.
var droppedHeaders = [...][]byte{
	[]byte(headerKind), []byte(headerClient), []byte(headerMaySendAgain), []byte(headerAuthenticated),
	[]byte("Connection"), []byte("Keep-Alive"), []byte("Proxy-Connection"), []byte("Expect"),
	[]byte("Content-Length"), []byte("Transfer-Encoding"),
}

func isDropped(name []byte) bool {
	name = bytes.TrimSpace(name)
	for _, dropped := range droppedHeaders {
		if bytes.EqualFold(name, dropped) {
			return true
		}
	}
	return false
}

// appendHead appends the head of a forwarded request: method, target and header lines of the client as
// it sent them. Only droppedHeaders are left out. length is the body's; -1 means chunked.
func appendHead(dst []byte, ctx *fasthttp.RequestCtx, kind Kind, length int) []byte {
	header := &ctx.Request.Header
	dst = append(append(dst, header.Method()...), ' ')
	dst = append(append(dst, header.RequestURI()...), " HTTP/1.1\r\n"...)
	dst = appendLine(dst, headerKind, string(kind))
	dst = appendLine(dst, headerClient, ctx.RemoteAddr().String())
	for line := range bytes.Lines(header.RawHeaders()) {
		name, _, named := bytes.Cut(line, []byte(":"))
		if named && !isDropped(name) {
			dst = append(dst, line...)
		}
	}
	switch {
	case length < 0:
		dst = append(dst, "Transfer-Encoding: chunked\r\n"...)
	case length > 0 || !header.IsGet() && !header.IsHead():
		dst = append(strconv.AppendInt(append(dst, "Content-Length: "...), int64(length), 10), "\r\n"...)
	}
	return append(dst, "\r\n"...)
}

func appendLine(dst []byte, name, value string) []byte {
	return append(append(append(append(dst, name...), ": "...), value...), "\r\n"...)
}
