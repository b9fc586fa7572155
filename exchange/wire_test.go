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

// wire is a bare connection to an exchange.
type wire struct {
	net.Conn
	t      testing.TB
	reader *bufio.Reader
	heard  bytes.Buffer // every byte that came
	said   bytes.Buffer // and not held against the OpenAPI document yet
}

func dial(t testing.TB, address string) *wire {
	t.Helper()
	conn := must.Value(net.Dial("tcp", address))(t)
	t.Cleanup(func() { conn.Close() })
	must.Succeed(t, conn.SetDeadline(time.Now().Add(patience)))
	w := &wire{Conn: conn, t: t}
	w.reader = bufio.NewReader(io.TeeReader(conn, &w.heard))
	return w
}

// say writes; a peer that has closed already is no fault of the test.
func (w *wire) say(text string) {
	w.t.Helper()
	w.said.WriteString(text)
	_, err := io.WriteString(w, text)
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		w.t.Fatal(err)
	}
}

// next is the next answer on the connection.
func (w *wire) next(method string) *answer {
	w.t.Helper()
	response, err := http.ReadResponse(w.reader, &http.Request{Method: method})
	if err != nil {
		w.t.Fatalf("no answer: %v; heard %q", err, w.heard.String())
	}
	a := hear(w.t, response)
	if q, ok := contract.ReadRequest(&w.said); ok && contract.ForPath(q.Path) != nil && a.status >= http.StatusOK {
		if err := contract.ForPath(q.Path).CheckTraffic(q, &contract.Answer{Status: a.status, Header: a.header, Body: []byte(a.body)}); err != nil {
			w.t.Error(err)
		}
	}
	return a
}

// ends sees that the exchange has closed the connection, and sent nothing more.
func (w *wire) ends() {
	w.t.Helper()
	if rest, err := io.ReadAll(w.reader); len(rest) > 0 || err != nil && !strings.Contains(err.Error(), "reset") {
		w.t.Errorf("the connection goes on: %q, %v", rest, err)
	}
}

// post is a whole request for ingest with more header lines, as they are.
func post(body string, lines ...string) string {
	return fmt.Sprintf("POST /api/v1/ingest HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s",
		acmeKey, header(lines), len(body), body)
}

// framed is one whose framing is in its lines.
func framed(body string, lines ...string) string {
	return fmt.Sprintf("POST /api/v1/ingest HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Type: application/json\r\n%s\r\n%s",
		acmeKey, header(lines), body)
}

func header(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(line + "\r\n")
	}
	return b.String()
}

// chunked is a body in pieces of size bytes.
func chunked(body string, size int) string {
	var b strings.Builder
	for len(body) > 0 {
		n := min(size, len(body))
		fmt.Fprintf(&b, "%x\r\n%s\r\n", n, body[:n])
		body = body[n:]
	}
	return b.String() + "0\r\n\r\n"
}

// pause is the slow client's: it only has to be short against its patience.
func pause() { time.Sleep(50 * time.Millisecond) }
