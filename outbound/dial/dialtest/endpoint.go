// Package dialtest has endpoints made of sockets, for the tests of what speaks
// HTTP to others: they answer as they are told, however wrong that is.
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
)

// Heard is a request as the endpoint got it.
type Heard struct {
	Conn   int // which of the connections, from 0
	Header http.Header
	Target string
	Host   string
	Body   string
	Raw    string // as it came over the wire
}

// Reply answers one request on a bare connection; keep leaves it open for the
// next.
type Reply func(c net.Conn) (keep bool)

// Endpoint gives its replies in their order, and
// the last one for ever.
type Endpoint struct {
	Address string // host:port

	mu       sync.Mutex
	requests []Heard
	conns    int
	replies  []Reply
	open     []net.Conn
}

// Listen opens an endpoint on a free port, which closes with the test.
func Listen(t *testing.T, replies ...Reply) *Endpoint {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ServeOn(t, ln, replies...)
}

// ServeOn is Listen with a listener of the caller's, which may speak TLS.
func ServeOn(t *testing.T, ln net.Listener, replies ...Reply) *Endpoint {
	t.Helper()
	e := &Endpoint{Address: ln.Addr().String(), replies: replies}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { e.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		e.HangUp()
		serving.Wait()
	})
	return e
}

func (e *Endpoint) serve(conn net.Conn) {
	defer conn.Close()
	e.mu.Lock()
	number := e.conns
	e.conns++
	e.open = append(e.open, conn)
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
		if !e.next(Heard{number, r.Header, r.RequestURI, r.Host, string(body), raw.String()})(conn) {
			return
		}
	}
}

func (e *Endpoint) next(h Heard) Reply {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.requests = append(e.requests, h)
	return e.replies[min(len(e.requests), len(e.replies))-1]
}

// Got is what has come so far.
func (e *Endpoint) Got() []Heard {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]Heard(nil), e.requests...)
}

// HangUp closes every connection from the endpoint's side.
func (e *Endpoint) HangUp() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.open {
		_ = c.Close()
	}
}

// Answers writes a whole answer and keeps the connection.
func Answers(status, body string, headers ...string) Reply {
	return func(c net.Conn) bool {
		_, err := io.WriteString(c, Message(status, body, headers...))
		return err == nil
	}
}

// BreaksOff writes what it is given and closes.
func BreaksOff(raw string) Reply {
	return func(c net.Conn) bool {
		_, _ = io.WriteString(c, raw)
		return false
	}
}

// Resets writes what it is given and ends with a TCP reset.
func Resets(raw string) Reply {
	return func(c net.Conn) bool {
		_, _ = io.WriteString(c, raw)
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		return false
	}
}

// Hangs writes what it is given, and then nothing until the caller hangs up.
func Hangs(raw string) Reply {
	return func(c net.Conn) bool {
		_, _ = io.WriteString(c, raw)
		_, _ = c.Read(make([]byte, 1))
		return false
	}
}

// Trickles writes a byte at a time until the caller hangs up.
func Trickles(raw string) Reply {
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

// Message is a whole answer, with its length.
func Message(status, body string, headers ...string) string {
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 " + status + "\r\n")
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	b.WriteString("Content-Type: application/json\r\nContent-Length: ")
	b.WriteString(strconv.Itoa(len(body)) + "\r\n\r\n" + body)
	return b.String()
}

// Conn is the endpoint's side of a connection, counted from 0.
func (e *Endpoint) Conn(number int) net.Conn {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open[number]
}

// Together gives n replies that accept, none before all n requests are there.
func Together(n int) []Reply {
	var here sync.WaitGroup
	here.Add(n)
	one := func(c net.Conn) bool {
		here.Done()
		here.Wait()
		return Answers("201 Created", `{}`)(c)
	}
	return slices.Repeat([]Reply{one}, n)
}
