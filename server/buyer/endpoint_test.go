package buyer

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"pingpost/engine/market"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// soon is a deadline for rows that are meant to run into it; ample is one for
// all the others.
const (
	soon  = 600 * time.Millisecond
	ample = 20 * time.Second
)

// heard is a request as the endpoint got it.
type heard struct {
	conn   int // which of the connections, from 0
	header http.Header
	target string
	host   string
	body   string
	raw    string // as it came over the wire
}

// reply answers one request on a bare connection; keep leaves it open for the
// next.
type reply func(c net.Conn) (keep bool)

// endpoint is a buyer made of sockets: it gives its replies in their order, and
// the last one for ever.
type endpoint struct {
	address string

	mu       sync.Mutex
	requests []heard
	conns    int
	replies  []reply
	open     []net.Conn
}

func listen(t *testing.T, replies ...reply) *endpoint {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, ln, replies...)
}

func serveOn(t *testing.T, ln net.Listener, replies ...reply) *endpoint {
	t.Helper()
	e := &endpoint{address: ln.Addr().String(), replies: replies}
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
		e.hangUp()
		serving.Wait()
	})
	return e
}

func (e *endpoint) serve(conn net.Conn) {
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
		if !e.next(heard{number, r.Header, r.RequestURI, r.Host, string(body), raw.String()})(conn) {
			return
		}
	}
}

func (e *endpoint) next(h heard) reply {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.requests = append(e.requests, h)
	return e.replies[min(len(e.requests), len(e.replies))-1]
}

func (e *endpoint) got() []heard {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]heard(nil), e.requests...)
}

// hangUp closes every connection from the buyer's side.
func (e *endpoint) hangUp() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.open {
		_ = c.Close()
	}
}

// answers writes a whole answer and keeps the connection.
func answers(status, body string, headers ...string) reply {
	return func(c net.Conn) bool {
		_, err := io.WriteString(c, message(status, body, headers...))
		return err == nil
	}
}

// breaksOff writes what it is given and closes.
func breaksOff(raw string) reply {
	return func(c net.Conn) bool {
		_, _ = io.WriteString(c, raw)
		return false
	}
}

// resets writes what it is given and ends with a TCP reset.
func resets(raw string) reply {
	return func(c net.Conn) bool {
		_, _ = io.WriteString(c, raw)
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		return false
	}
}

// hangs writes what it is given, and then nothing until the caller hangs up.
func hangs(raw string) reply {
	return func(c net.Conn) bool {
		_, _ = io.WriteString(c, raw)
		_, _ = c.Read(make([]byte, 1))
		return false
	}
}

// trickles writes a byte at a time until the caller hangs up.
func trickles(raw string) reply {
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

func message(status, body string, headers ...string) string {
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 " + status + "\r\n")
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	b.WriteString("Content-Type: application/json\r\nContent-Length: ")
	b.WriteString(strconv.Itoa(len(body)) + "\r\n\r\n" + body)
	return b.String()
}

// newClient makes a client that trusts loopback and knows no secret.
func newClient(t *testing.T, change func(*Options)) *Client {
	t.Helper()
	options := Options{
		Secrets: func(string) (string, bool) { return "", false },
		Trusted: loopback,
	}
	if change != nil {
		change(&options)
	}
	c := New(options)
	t.Cleanup(c.Close)
	return c
}

// leadTo is a post of a lead to an address.
func leadTo(url string, within time.Duration) *market.PostRequest {
	return &market.PostRequest{
		Endpoint:  market.Endpoint{URL: url},
		Key:       "key-1",
		RequestID: market.RequestID{1},
		Body:      []byte(`{"auction_id":"auc_1","lead":{"lead_uuid":"lead_1"}}`),
		Deadline:  time.Now().Add(within),
	}
}

func (e *endpoint) post() string { return "http://" + e.address + "/v1/post" }

// withoutElapsed leaves of a result what a table can state.
func withoutElapsed(r market.PostResult) market.PostResult {
	r.Elapsed = 0
	return r
}

// warm opens n connections to a buyer and leaves them idle. The buyer's first n
// replies have to be by together(n).
func warm(t *testing.T, client *Client, buyer *endpoint, n int) {
	t.Helper()
	var posting sync.WaitGroup
	for range n {
		posting.Go(func() {
			if got := client.Post(leadTo(buyer.post(), ample)); got.Verdict != market.VerdictAccepted {
				t.Errorf("got %+v", got)
			}
		})
	}
	posting.Wait()
	if idle := buyer.idleOf(client); idle != n {
		t.Fatalf("%d idle connections, want %d", idle, n)
	}
}

// together gives n replies that accept, none before all n requests are there.
func together(n int) []reply {
	var here sync.WaitGroup
	here.Add(n)
	one := func(c net.Conn) bool {
		here.Done()
		here.Wait()
		return answers("201 Created", `{}`)(c)
	}
	return slices.Repeat([]reply{one}, n)
}

// idleOf is how many idle connections a client keeps to the buyer.
func (e *endpoint) idleOf(client *Client) int {
	target, _ := client.targets.find(e.post())
	return target.host.pool.IdleConnsCount()
}
