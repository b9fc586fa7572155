// Package dialtest provides endpoints on real sockets for tests of HTTP clients. Their
// replies can be wrong in any way.
package dialtest

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"pingpost/internal/must"
)

// Request is an HTTP request that an Endpoint received.
type Request struct {
	Conn   int // number of the connection, from 0
	Header http.Header
	Target string
	Host   string
	Body   string
	Raw    string // as received
}

// ReplyFunc answers one request by writing to the connection, so that it can also write invalid
// HTTP. If keepOpen is true, the endpoint leaves the connection open for the next request.
type ReplyFunc func(c net.Conn) (keepOpen bool)

// Endpoint is an HTTP server for tests. It answers the first requests with its replies, one
// each, and all later ones with the last reply.
type Endpoint struct {
	Address string // host:port

	mu        sync.Mutex
	requests  []Request
	connCount int
	replies   []ReplyFunc
	conns     []net.Conn
}

// StartEndpoint starts an endpoint with these replies on a free port, and stops it at the end of the
// test.
func StartEndpoint(t *testing.T, replies ...ReplyFunc) *Endpoint {
	t.Helper()
	ln := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	return StartEndpointOn(t, ln, replies...)
}

// StartEndpointOn starts an endpoint on the listener ln, for example one with TLS, and stops it at the
// end of the test.
func StartEndpointOn(t *testing.T, ln net.Listener, replies ...ReplyFunc) *Endpoint {
	t.Helper()
	e := &Endpoint{Address: ln.Addr().String(), replies: replies}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { e.serveConn(conn) })
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		e.CloseConns()
		serving.Wait()
	})
	return e
}

func (e *Endpoint) serveConn(conn net.Conn) {
	defer conn.Close()
	e.mu.Lock()
	number := e.connCount
	e.connCount++
	e.conns = append(e.conns, conn)
	e.mu.Unlock()
	var raw bytes.Buffer
	in := bufio.NewReader(io.TeeReader(conn, &raw))
	for {
		raw.Reset()
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if !e.recordAndSelectReply(Request{number, r.Header, r.RequestURI, r.Host, string(body), raw.String()})(conn) {
			return
		}
	}
}

func (e *Endpoint) recordAndSelectReply(received Request) ReplyFunc {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.requests = append(e.requests, received)
	return e.replies[min(len(e.requests), len(e.replies))-1]
}

// Requests returns the requests received so far.
func (e *Endpoint) Requests() []Request {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]Request(nil), e.requests...)
}

// CloseConns closes all connections to the endpoint, as a server does that is stopped.
func (e *Endpoint) CloseConns() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.conns {
		_ = c.Close()
	}
}

// ReplyWithAnswer returns a ReplyFunc that writes an HTTP answer and leaves the connection open.
func ReplyWithAnswer(status, body string, headers ...string) ReplyFunc {
	return func(c net.Conn) bool {
		_, err := io.WriteString(c, FormatResponse(status, body, headers...))
		return err == nil
	}
}

// WriteAndClose returns a ReplyFunc that writes the text raw and closes the connection.
func WriteAndClose(raw string) ReplyFunc {
	return func(c net.Conn) bool {
		_, _ = io.WriteString(c, raw)
		return false
	}
}

// WriteAndReset returns a ReplyFunc that writes the text raw and ends the connection with a TCP
// reset.
func WriteAndReset(raw string) ReplyFunc {
	return func(c net.Conn) bool {
		_, _ = io.WriteString(c, raw)
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		return false
	}
}

// WriteAndHang returns a ReplyFunc that writes the text raw and then waits until the client closes
// the connection or sends a byte.
func WriteAndHang(raw string) ReplyFunc {
	return func(c net.Conn) bool {
		_, _ = io.WriteString(c, raw)
		_, _ = c.Read(make([]byte, 1))
		return false
	}
}

// WriteSlowlyForever returns a ReplyFunc that writes the text raw again and again, one byte every 5
// milliseconds, until the client closes the connection.
func WriteSlowlyForever(raw string) ReplyFunc {
	return func(c net.Conn) bool {
		for {
			for i := range len(raw) {
				if _, err := c.Write([]byte{raw[i]}); err != nil {
					return false
				}
				time.Sleep(5 * time.Millisecond)
			}
		}
	}
}

// FormatResponse returns the text of a complete HTTP answer with a Content-Length. status is the
// status line's end, such as "201 Created".
func FormatResponse(status, body string, headers ...string) string {
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 " + status + "\r\n")
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	b.WriteString("Content-Type: application/json\r\nContent-Length: ")
	b.WriteString(strconv.Itoa(len(body)) + "\r\n\r\n" + body)
	return b.String()
}

// ServerConn returns the endpoint's side of the connection with this number. The first connection has
// the number 0.
func (e *Endpoint) ServerConn(connNumber int) net.Conn {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.conns[connNumber]
}

// AnswerOnceAllArrived returns requestCount functions that answer 201 with an empty object, but
// only once all requests have arrived.
func AnswerOnceAllArrived(requestCount int) []ReplyFunc {
	var here sync.WaitGroup
	here.Add(requestCount)
	one := func(c net.Conn) bool {
		here.Done()
		here.Wait()
		return ReplyWithAnswer("201 Created", `{}`)(c)
	}
	return slices.Repeat([]ReplyFunc{one}, requestCount)
}

// UnusedAddress returns an address of this machine that refuses connections until the end of the test.
// A connection of the test has the port, so that no other test and no other program can listen on it.
// Rejected: the port of a closed listener, which the next one that asks for a free port may get.
func UnusedAddress(t testing.TB) string {
	t.Helper()
	ln := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}}
	conn := must.Value(dialer.DialContext(t.Context(), "tcp", ln.Addr().String()))(t)
	t.Cleanup(func() {
		_ = conn.Close()
		_ = ln.Close()
	})
	return conn.LocalAddr().String()
}
