package forward

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/internal/must"
	"pingpost/server/httperror"
	"pingpost/server/request"
)

// A follower and the leader give the same answer, and the leader decides once.
func TestFollowerForwardsToLeader(t *testing.T) {
	c := newCluster(t, "a", "b")
	leader := c.nodes["a"]
	for _, node := range c.nodes {
		client := dialNode(t, node)
		for range 3 { // over one connection
			before := leader.decided.Load()
			if head, body := client.send(post("{}")); statusOf(head) != "201" || body != "by a" {
				t.Errorf("node %s: %s %s", node.id, head, body)
			}
			if n := leader.decided.Load() - before; n != 1 {
				t.Errorf("node %s: %d decisions", node.id, n)
			}
		}
	}
	if n := c.nodes["b"].dials.Load(); n != 1 {
		t.Errorf("%d connections for three requests, want 1", n)
	}
	if c.nodes["b"].count(Answered) != 3 || leader.count(Answered) != 0 {
		t.Errorf("counted %v and %v", c.nodes["b"].counts, leader.counts)
	}
}

// A request that finds no leader is held until one decides.
func TestRequestIsHeldDuringElection(t *testing.T) {
	for _, row := range []struct{ name, at, next string }{
		{"the other node is elected", "b", "a"},
		{"this node is elected", "b", "b"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newCluster(t, "a", "b")
			c.setLeader("")
			time.AfterFunc(300*time.Millisecond, func() { c.setLeader(row.next) })
			began := time.Now()
			head, body := dialNode(t, c.nodes[row.at]).send(post("{}"))
			if took := time.Since(began); statusOf(head) != "201" || body != "by "+row.next || took < 290*time.Millisecond || took > 700*time.Millisecond {
				t.Errorf("%s %s after %s", head, body, took)
			}
		})
	}
}

// Without a leader the answer is a 503 after the hold time.
func TestNoLeaderIs503(t *testing.T) {
	c := newCluster(t, "a", "b")
	c.setLeader("")
	client, began := dialNode(t, c.nodes["b"]), time.Now()
	head, body := client.send(post("{}"))
	if took := time.Since(began); statusOf(head) != "503" || !strings.Contains(head, "Retry-After: 1\r\n") || !strings.Contains(body, `"unavailable"`) || took < 900*time.Millisecond || took > 1500*time.Millisecond {
		t.Errorf("%s %s after %s", head, body, took)
	}
	if strings.Contains(head, "X-Pingpost") || c.nodes["b"].count(NoLeader) != 1 {
		t.Errorf("%s, counted %v", head, c.nodes["b"].counts)
	}
	c.setLeader("a")
	if head, _ := client.send(post("{}")); statusOf(head) != "201" {
		t.Errorf("over the same connection, with a leader: %s", head)
	}
}

// A leader that loses the leadership during a request passes it to the next one, and only that one
// decides. The body is sent again.
func TestMarkedRequestGoesToNextLeader(t *testing.T) {
	for _, at := range []string{"a", "b", "c"} {
		c := newCluster(t, "a", "b", "c")
		c.nodes["a"].handle(func(ctx *fasthttp.RequestCtx) {
			_, _ = request.ReadBody(ctx, nil, 1<<20)
			c.setLeader("b")
			refuseAsFollower(ctx)
			ctx.Response.Header.Set("X-Old", "1")
			ctx.SetUserValue("old", true)
		})
		var got []string
		c.nodes["b"].handle(func(ctx *fasthttp.RequestCtx) {
			body, _ := request.ReadBody(ctx, nil, 1<<20)
			got = append(got, string(body))
			if ctx.UserValue("old") != nil {
				t.Error("a value of the first attempt is left")
			}
			ctx.SetStatusCode(201)
		})
		head, _ := dialNode(t, c.nodes[at]).send(post(strings.Repeat("body", 1000)))
		if statusOf(head) != "201" || strings.Contains(head, "X-Old") || strings.Contains(head, "X-Pingpost") || len(got) != 1 || got[0] != strings.Repeat("body", 1000) {
			t.Errorf("at %s: %s, %d decisions", at, head, len(got))
		}
	}
}

// The log has an event of a request that the next leader refuses, because its credential was revoked meanwhile.
// The client learns that the result is unknown.
func TestNextLeaderRefusesDecidedRequest(t *testing.T) {
	for _, at := range []string{"a", "b", "c"} {
		for _, status := range []int{401, 403, 429} {
			c := newCluster(t, "a", "b", "c")
			c.nodes["a"].handle(func(ctx *fasthttp.RequestCtx) {
				_, _ = request.ReadBody(ctx, nil, 1<<20)
				c.setLeader("b")
				httperror.WriteNextLeaderAnswers(ctx, httperror.NewRequestID())
			})
			c.nodes["b"].handle(func(ctx *fasthttp.RequestCtx) { ctx.SetStatusCode(status) })
			head, _ := dialNode(t, c.nodes[at]).send(post("{}"))
			if statusOf(head) != "503" || !strings.Contains(head, "Retry-After: 1\r\n") {
				t.Errorf("at %s, refused with %d: %s", at, status, head)
			}
		}
	}
}

// A new leader that cannot decide yet gets the same request again, with its body.
func TestLeaderThatBecomesReady(t *testing.T) {
	for _, at := range []string{"a", "b"} {
		c := newCluster(t, "a", "b")
		tries := 0
		c.nodes["a"].handle(func(ctx *fasthttp.RequestCtx) {
			body, _ := request.ReadBody(ctx, nil, 1<<20)
			if tries++; tries < 5 {
				refuseAsFollower(ctx)
				return
			}
			ctx.SetBody(body)
		})
		if head, body := dialNode(t, c.nodes[at]).send(post("the body")); statusOf(head) != "200" || body != "the body" || tries != 5 {
			t.Errorf("at %s: %s %s after %d attempts", at, head, body, tries)
		}
	}
}

// A marked answer to a body that is not kept becomes a 503, because the body cannot be sent again.
func TestLargeBodyIsNotSentAgain(t *testing.T) {
	for _, at := range []string{"a", "b"} {
		c := newCluster(t, "a", "b")
		c.nodes["a"].handle(func(ctx *fasthttp.RequestCtx) {
			_, _ = request.ReadBody(ctx, nil, 1<<20)
			c.setLeader("b")
			refuseAsFollower(ctx)
		})
		head, _ := dialNode(t, c.nodes[at]).send(post(strings.Repeat("x", 65<<10)))
		if statusOf(head) != "503" || strings.Contains(head, "X-Pingpost") || !strings.Contains(head, "Retry-After: 1") || c.nodes["b"].decided.Load() != 0 {
			t.Errorf("at %s: %s", at, head)
		}
	}
}

// After the request was sent, a broken connection is a 503, once, and no other node decides.
func TestBrokenConnectionIsNotRepeated(t *testing.T) {
	c := newCluster(t, "a", "b", "c")
	c.nodes["a"].handle(func(ctx *fasthttp.RequestCtx) {
		c.setLeader("c")
		c.nodes["a"].breakConns()
	})
	client := dialNode(t, c.nodes["b"])
	head, body := client.send(post("{}"))
	if statusOf(head) != "503" || !strings.Contains(head, "Retry-After: 1\r\n") || !strings.Contains(body, `"unavailable"`) {
		t.Errorf("%s %s", head, body)
	}
	if a, other := c.nodes["a"].decided.Load(), c.nodes["c"].decided.Load(); a != 1 || other != 0 || c.nodes["b"].count(Unknown) != 1 {
		t.Errorf("%d decisions by the old leader, %d by the new one, counted %v", a, other, c.nodes["b"].counts)
	}
	if head, body := client.send(post("{}")); statusOf(head) != "201" || body != "by c" {
		t.Errorf("the next request: %s %s", head, body)
	}
}

// A kept connection that the leader has closed fails no request.
func TestClosedKeptConnectionFailsNoRequest(t *testing.T) {
	c := newCluster(t, "a", "b")
	client := dialNode(t, c.nodes["b"])
	for i := range 20 {
		if head, _ := client.send(post("{}")); statusOf(head) != "201" {
			t.Fatalf("request %d: %s", i, head)
		}
		c.nodes["a"].breakConns()
		time.Sleep(5 * time.Millisecond) // the close arrives
	}
	if n := c.nodes["a"].decided.Load(); n != 20 {
		t.Errorf("%d decisions of 20 requests", n)
	}
	if n := len(c.nodes["b"].conns.open); n > 1 {
		t.Errorf("%d connections count as open", n)
	}
}

// A leader that does not answer, and no longer leads, ends the wait.
func TestSilentOldLeaderIs503(t *testing.T) {
	c := newCluster(t, "a", "b", "c")
	release := make(chan struct{})
	defer close(release)
	c.nodes["a"].handle(func(*fasthttp.RequestCtx) {
		c.setLeader("c")
		<-release
	})
	began := time.Now()
	head, _ := dialNode(t, c.nodes["b"]).send(post("{}"))
	if took := time.Since(began); statusOf(head) != "503" || took > 6*time.Second || c.nodes["c"].decided.Load() != 0 {
		t.Errorf("%s after %s", head, took)
	}
}

// A leader that accepts no connection is like none: the request waits for the next one.
func TestUnreachableLeaderIsReplaced(t *testing.T) {
	c := newCluster(t, "a", "b")
	dead := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	c.nodes["dead"] = &testNode{id: "dead", internal: dead.Addr().String()}
	must.Succeed(t, dead.Close())
	c.setLeader("dead")
	time.AfterFunc(200*time.Millisecond, func() { c.setLeader("a") })
	if head, body := dialNode(t, c.nodes["b"]).send(post("{}")); statusOf(head) != "201" || body != "by a" {
		t.Errorf("%s %s", head, body)
	}
	if n := c.nodes["b"].dials.Load(); n > 15 {
		t.Errorf("%d dials in 200 ms", n)
	}
}

// A dial that hangs ends when the leader changes.
func TestHangingDialEndsAtChange(t *testing.T) {
	c := newCluster(t, "a", "b")
	hang := make(chan struct{})
	defer close(hang)
	inner := c.nodes["b"].conns.dial
	c.nodes["b"].conns.dial = func(id, address string, timeout time.Duration) (net.Conn, error) {
		if id == "dead" {
			<-hang
			return nil, io.EOF
		}
		return inner(id, address, timeout)
	}
	c.nodes["dead"] = &testNode{id: "dead"}
	c.setLeader("dead")
	time.AfterFunc(200*time.Millisecond, func() { c.setLeader("a") })
	if head, body := dialNode(t, c.nodes["b"]).send(post("{}")); statusOf(head) != "201" || body != "by a" {
		t.Errorf("%s %s", head, body)
	}
}

// A 503 to a request whose body was not read closes the connection.
func TestUnreadBodyClosesConnection(t *testing.T) {
	c := newCluster(t, "a", "b")
	c.setLeader("")
	chunked := "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
	if head, _ := dialNode(t, c.nodes["b"]).send(chunked + "\r\n1\r\na\r\n0\r\n\r\n"); statusOf(head) != "503" || !strings.Contains(head, "Connection: close") {
		t.Error(head)
	}
	k := must.Value(net.Dial("tcp", c.nodes["b"].internal))(t)
	defer k.Close()
	must.Value(io.WriteString(k, chunked+headerKind+": admin\r\n\r\n1\r\na\r\n0\r\n\r\n"))(t)
	answer := make([]byte, 4096)
	n := must.Value(k.Read(answer))(t)
	if text := string(answer[:n]); !strings.HasPrefix(text, "HTTP/1.1 503 ") || !strings.Contains(text, "Connection: close") || strings.Count(text, "HTTP/1.1") != 1 {
		t.Error(text)
	}
}

// A node that is not the leader never forwards a forwarded request again.
func TestForwardedRequestIsNotForwardedAgain(t *testing.T) {
	c := newCluster(t, "a", "b", "c")
	k := must.Value(net.Dial("tcp", c.nodes["b"].internal))(t)
	defer k.Close()
	must.Value(io.WriteString(k, "GET / HTTP/1.1\r\nHost: x\r\n"+headerKind+": public\r\n"+headerClient+": 192.0.2.1:5\r\n\r\n"))(t)
	answer := make([]byte, 4096)
	n := must.Value(k.Read(answer))(t)
	if text := string(answer[:n]); !strings.HasPrefix(text, "HTTP/1.1 503 ") || !strings.Contains(text, headerMaySendAgain+": 1\r\n") || c.nodes["a"].decided.Load() != 0 {
		t.Error(text)
	}
}
