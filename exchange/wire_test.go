package exchange

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"pingpost/api/contract"
	"pingpost/internal/must"
)

// rawConn is a TCP connection to an exchange.
type rawConn struct {
	net.Conn
	t         testing.TB
	reader    *bufio.Reader
	received  bytes.Buffer // all bytes from the exchange
	unchecked bytes.Buffer // sent requests that are not checked against the OpenAPI document yet
}

func dial(t testing.TB, address string) *rawConn {
	t.Helper()
	conn := must.Value(net.Dial("tcp", address))(t)
	t.Cleanup(func() { conn.Close() })
	must.Succeed(t, conn.SetDeadline(time.Now().Add(waitTimeout)))
	w := &rawConn{Conn: conn, t: t}
	w.reader = bufio.NewReader(io.TeeReader(conn, &w.received))
	return w
}

// send writes the text. It ignores a closed connection.
func (w *rawConn) send(text string) {
	w.t.Helper()
	w.unchecked.WriteString(text)
	_, err := io.WriteString(w, text)
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		w.t.Fatal(err)
	}
}

// readAnswer reads the next answer and checks it against the OpenAPI document.
func (w *rawConn) readAnswer(method string) *answer {
	w.t.Helper()
	response, err := http.ReadResponse(w.reader, &http.Request{Method: method})
	if err != nil {
		w.t.Fatalf("no answer: %v; received %q", err, w.received.String())
	}
	a := readAnswer(w.t, response)
	if q, ok := contract.ReadRequest(&w.unchecked); ok && contract.ForPath(q.Path) != nil && a.status >= http.StatusOK {
		if err := contract.ForPath(q.Path).CheckTraffic(q, &contract.Answer{Status: a.status, Header: a.header, Body: []byte(a.body)}); err != nil {
			w.t.Error(err)
		}
	}
	return a
}

// mustBeClosed checks that the exchange closed the connection without further bytes.
func (w *rawConn) mustBeClosed() {
	w.t.Helper()
	if rest, err := io.ReadAll(w.reader); len(rest) > 0 || err != nil && !strings.Contains(err.Error(), "reset") {
		w.t.Errorf("connection is not closed: %q, %v", rest, err)
	}
}

// ingestRequest returns an ingest request with additional header lines.
func ingestRequest(body string, lines ...string) string {
	return fmt.Sprintf("POST /api/v1/ingest HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s",
		acmeKey, joinLines(lines), len(body), body)
}

// ingestRequestFramedBy returns an ingest request without a Content-Length of its own.
func ingestRequestFramedBy(body string, lines ...string) string {
	return fmt.Sprintf("POST /api/v1/ingest HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Type: application/json\r\n%s\r\n%s",
		acmeKey, joinLines(lines), body)
}

func joinLines(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(line + "\r\n")
	}
	return b.String()
}

// chunkedBody returns a body in chunks of size bytes.
func chunkedBody(body string, size int) string {
	var b strings.Builder
	for len(body) > 0 {
		n := min(size, len(body))
		fmt.Fprintf(&b, "%x\r\n%s\r\n", n, body[:n])
		body = body[n:]
	}
	return b.String() + "0\r\n\r\n"
}

// pauseSlowClient waits for a part of the read timeout.
func pauseSlowClient() { time.Sleep(50 * time.Millisecond) }
