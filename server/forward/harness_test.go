package forward

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/internal/must"
	"pingpost/server/connection"
	"pingpost/server/httperror"
	"pingpost/server/request"
)

// testCluster has nodes that know the same leader.
type testCluster struct {
	t     *testing.T
	nodes map[string]*testNode

	mu     sync.Mutex
	leader string // empty: none
}

// testNode is a node with a server for clients and a listener for other nodes.
type testNode struct {
	*Forwarder
	id       string
	clients  string // address for clients
	internal string // address for other nodes
	decided  atomic.Int64
	decide   atomic.Pointer[fasthttp.RequestHandler]
	dials    atomic.Int64 // by this node
	mu       sync.Mutex
	counts   map[Outcome]int
	accepted []net.Conn // from other nodes
	limiter  *connection.Limiter
}

// newCluster returns a cluster of nodes with these ids, whose handler answers 201. The first one leads.
func newCluster(t *testing.T, ids ...string) *testCluster {
	t.Helper()
	c := &testCluster{t: t, nodes: make(map[string]*testNode), leader: ids[0]}
	for _, id := range ids {
		c.nodes[id] = c.newNode(id)
	}
	return c
}

func (c *testCluster) setLeader(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leader = id
}

func (c *testCluster) leaderSeenBy(id string) Leader {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.leader {
	case "":
		return Leader{}
	case id:
		return Leader{Self: true, ID: id}
	}
	return Leader{ID: c.leader, Address: c.nodes[c.leader].internal}
}

// acceptedConns remembers the connections that it accepts.
type acceptedConns struct {
	net.Listener
	node *testNode
}

func (l acceptedConns) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		l.node.mu.Lock()
		l.node.accepted = append(l.node.accepted, conn)
		l.node.mu.Unlock()
	}
	return conn, err
}

// breakConns closes the connections from other nodes.
func (n *testNode) breakConns() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, conn := range n.accepted {
		_ = conn.Close()
	}
	n.accepted = nil
}

func (n *testNode) count(outcome Outcome) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.counts[outcome]
}

func (n *testNode) handle(h fasthttp.RequestHandler) { n.decide.Store(&h) }

func (c *testCluster) newNode(id string) *testNode {
	n := &testNode{id: id, counts: make(map[Outcome]int)}
	n.Forwarder = New(Options{
		Leader: func() Leader { return c.leaderSeenBy(id) }, Logger: slog.New(slog.DiscardHandler),
		Dial: func(_, address string, timeout time.Duration) (net.Conn, error) {
			n.dials.Add(1)
			return net.DialTimeout("tcp", address, timeout)
		},
		Count: func(_ Kind, outcome Outcome) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.counts[outcome]++
		},
	})
	n.handle(func(ctx *fasthttp.RequestCtx) {
		ctx.SetStatusCode(201)
		ctx.SetBodyString("by " + id)
	})
	call := func(ctx *fasthttp.RequestCtx) {
		n.decided.Add(1)
		(*n.decide.Load())(ctx)
	}
	internal := must.Value(net.Listen("tcp", "127.0.0.1:0"))(c.t)
	n.internal = internal.Addr().String()
	go func() {
		_ = n.Serve(acceptedConns{internal, n}, Handlers{Public: call, Admin: call, MaxHeader: 8 << 10, Node: map[string]fasthttp.RequestHandler{
			"/status": func(ctx *fasthttp.RequestCtx) { ctx.SetBodyString("status of " + id) },
			"/panic":  func(*fasthttp.RequestCtx) { panic("BUG: in a test") },
		}})
	}()
	clients := must.Value(net.Listen("tcp", "127.0.0.1:0"))(c.t)
	n.clients = clients.Addr().String()
	server := &fasthttp.Server{
		Handler: n.ServeClients(Public, 64<<10, call), ConnState: connection.UpdateHeadScannerOnStateChange,
		ExpectHandler:  n.ServeExpect(Public, func(*fasthttp.RequestCtx) int { return 100 }),
		ReadBufferSize: 8 << 10, StreamRequestBody: true, NoDefaultContentType: true, NoDefaultServerHeader: true, DisablePreParseMultipartForm: true,
		Logger: slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo),
	}
	n.limiter = connection.NewLimiter(clients, 100, 100, httperror.NewRequestID, func(error) {})
	go func() { _ = server.Serve(n.limiter) }()
	c.t.Cleanup(func() {
		_ = clients.Close()
		n.breakConns()
		_ = internal.Close()
	})
	return n
}

// refuseAsFollower answers like a node that does not decide.
func refuseAsFollower(ctx *fasthttp.RequestCtx) {
	httperror.WriteMaySendAgain(ctx, httperror.NewRequestID())
}

// echo answers with the request as it arrived.
func echo(ctx *fasthttp.RequestCtx) {
	body, bad := request.ReadBody(ctx, nil, 1<<20)
	if bad.Status != 0 {
		httperror.Write(ctx, httperror.NewRequestID(), bad)
		return
	}
	header := &ctx.Request.Header
	fmt.Fprintf(ctx, "%s %s %s\n%s\n%d %s", header.Method(), header.RequestURI(), ctx.RemoteAddr(), header.RawHeaders(), len(body), body)
}

// testClient is a connection of a client.
type testClient struct {
	t *testing.T
	net.Conn
	reader *bufio.Reader
}

func dialNode(t *testing.T, n *testNode) *testClient {
	t.Helper()
	conn := must.Value(net.Dial("tcp", n.clients))(t)
	must.Succeed(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	t.Cleanup(func() { _ = conn.Close() })
	return &testClient{t, conn, bufio.NewReader(conn)}
}

// send sends raw bytes and reads one answer. It returns the head and the body.
func (c *testClient) send(raw string) (head, body string) {
	c.t.Helper()
	must.Value(io.WriteString(c, raw))(c.t)
	return c.read(strings.HasPrefix(raw, "HEAD"))
}

func (c *testClient) read(noBody bool) (head, body string) {
	c.t.Helper()
	for !strings.HasSuffix(head, "\r\n\r\n") {
		line, err := c.reader.ReadString('\n')
		if err != nil {
			c.t.Fatalf("%q, then %v", head, err)
		}
		head += line
	}
	if noBody {
		return head, ""
	}
	var answer fasthttp.Response
	if err := answer.Read(bufio.NewReader(io.MultiReader(strings.NewReader(head), c.reader))); err != nil {
		c.t.Fatal(head, err)
	}
	return head, string(answer.Body())
}

// statusOf returns the status in the head of an answer.
func statusOf(head string) string { return head[len("HTTP/1.1 "):][:3] }

// post returns a request with a body.
func post(body string, lines ...string) string {
	return fmt.Sprintf("POST /api/v1/ingest HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n%s", strings.Join(lines, ""), len(body), body)
}
