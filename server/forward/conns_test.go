package forward

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/internal/must"
)

// failingConn fails a write after some bytes, once it is told to.
type failingConn struct {
	net.Conn
	allowed *atomic.Int64 // bytes; negative: all
}

func (c failingConn) Write(p []byte) (int, error) {
	allowed := c.allowed.Load()
	if allowed < 0 {
		return c.Conn.Write(p)
	}
	n, _ := c.Conn.Write(p[:min(int(allowed), len(p))])
	_ = c.Conn.Close()
	c.allowed.Store(-1)
	return n, errors.New("broken")
}

// After a failed write the request is sent again only if the leader cannot have got its head.
func TestFailedWriteOverKeptConnection(t *testing.T) {
	for _, row := range []struct {
		name    string
		allowed int64
		status  string
	}{
		{"nothing sent", 0, "201"},
		{"a part of the head sent", 40, "201"},
		{"the head and a part of the body sent", 250, "503"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newCluster(t, "a", "b")
			var allowed atomic.Int64
			allowed.Store(-1)
			inner := c.nodes["b"].conns.dial
			c.nodes["b"].conns.dial = func(id, address string, timeout time.Duration) (net.Conn, error) {
				conn, err := inner(id, address, timeout)
				return failingConn{conn, &allowed}, err
			}
			client := dialNode(t, c.nodes["b"])
			client.send(post("{}"))
			before := c.nodes["a"].decided.Load()
			allowed.Store(row.allowed)
			c.nodes["a"].handle(func(ctx *fasthttp.RequestCtx) {
				ctx.SetStatusCode(201)
				_, _ = io.Copy(io.Discard, ctx.RequestBodyStream())
			})
			if head, _ := client.send(post(strings.Repeat("x", 20_000))); statusOf(head) != row.status {
				t.Errorf("%s, want %s", head, row.status)
			}
			if n := c.nodes["a"].decided.Load() - before; n > 1 || row.status == "201" && n != 1 {
				t.Errorf("%d decisions", n)
			}
		})
	}
}

// A connection that the other end closed just now is not used.
func TestTakeIdleSkipsClosedConnection(t *testing.T) {
	var c nodeConns
	c.init(nil)
	to := nodeKey{"a", "x"}
	near, far := net.Pipe()
	defer far.Close()
	watched := make(chan struct{})
	close(watched)
	c.open <- struct{}{}
	c.idle[to] = []*nodeConn{{Conn: near, to: to, conns: &c, watched: watched}}
	if c.takeIdle(to) != nil || len(c.open) != 0 {
		t.Error("a closed connection was used, or is still counted")
	}
}

// An answer that breaks off is not complete, wherever it does.
func TestRelayedBodyNoticesBrokenEnd(t *testing.T) {
	for raw, complete := range map[string]bool{
		"\r\n3\r\nabc\r\n0\r\n\r\n": true,
		"\r\n3\r\nabc\r\n0\r\n":     false,
		"\r\n3\r\nabc\r\n0\r\nX: y": false,
		"\r\n3\r\nabc\r\n":          false,
		"\r\n3\r\nab":               false,
	} {
		checkRelayedBody(t, "Transfer-Encoding: chunked\r\n", raw, complete)
	}
	checkRelayedBody(t, "Content-Length: 3\r\n", "\r\nabc", true)
	checkRelayedBody(t, "Content-Length: 3\r\n", "\r\nab", false)
	checkRelayedBody(t, "Content-Length: 0\r\n", "\r\n", true)
}

func checkRelayedBody(t *testing.T, lengthLine, raw string, complete bool) {
	t.Helper()
	var c nodeConns
	c.init(nil)
	c.open <- struct{}{}
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	near := must.Value(net.Dial("tcp", listener.Addr().String()))(t)
	far := must.Value(listener.Accept())(t)
	must.Value(io.WriteString(far, "HTTP/1.1 200 OK\r\n"+lengthLine+raw))(t)
	must.Succeed(t, far.Close())
	conn := &nodeConn{Conn: near, conns: &c, reader: bufio.NewReader(near)}
	answer := fasthttp.AcquireResponse()
	must.Succeed(t, answer.Header.Read(conn.reader))
	body := newRelayedBody(conn, answer)
	if _, err := io.ReadAll(body); (err == nil) != complete {
		t.Errorf("%q: %v", raw, err)
	}
	_ = body.Close()
}
