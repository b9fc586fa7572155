package forward

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/internal/must"
	"pingpost/server/connection"
)

// A long answer reaches the client piece by piece.
func TestAnswerStreamsPieceByPiece(t *testing.T) {
	for _, version := range []string{"1.1", "1.0"} {
		c := newCluster(t, "a", "b")
		next := make(chan string)
		c.nodes["a"].handle(func(ctx *fasthttp.RequestCtx) {
			ctx.SetContentType("text/event-stream")
			ctx.SetBodyStream(piecesReader(next), -1)
		})
		client := dialNode(t, c.nodes["b"])
		must.Value(io.WriteString(client, "GET /live HTTP/"+version+"\r\nHost: x\r\n\r\n"))(t)
		go func() { next <- "first\n" }()
		body, header, isChunked := readResponseHead(t, client.reader)
		lines := bufio.NewReader(body)
		for _, piece := range []string{"first\n", "second\n", "third\n"} {
			if piece != "first\n" {
				next <- piece // only after the client has the piece before
			}
			if got := must.Value(lines.ReadString('\n'))(t); got != piece {
				t.Errorf("HTTP/%s: %q, want %q", version, got, piece)
			}
		}
		close(next)
		if isChunked != (version == "1.1") {
			t.Errorf("HTTP/%s, chunked: %t", version, isChunked)
		}
		if rest, err := io.ReadAll(lines); len(rest) > 0 || err != nil || header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("HTTP/%s: %q, %v", version, rest, err)
		}
	}
}

// piecesReader returns each text at one Read. It ends when the channel closes.
type piecesReader chan string

func (r piecesReader) Read(p []byte) (int, error) {
	text, ok := <-r
	switch {
	case !ok:
		return 0, io.EOF
	case text == "broken":
		return 0, errors.New("broken")
	}
	return copy(p, text), nil
}

// A client does not take the part of an answer for the whole.
func TestBrokenStreamIsNoCompleteAnswer(t *testing.T) {
	for _, version := range []string{"1.1", "1.0"} {
		c := newCluster(t, "a", "b")
		next := make(chan string, 2)
		c.nodes["a"].handle(func(ctx *fasthttp.RequestCtx) { ctx.SetBodyStream(piecesReader(next), -1) })
		next <- "first\n"
		client := dialNode(t, c.nodes["b"])
		must.Value(io.WriteString(client, "GET / HTTP/"+version+"\r\nHost: x\r\n\r\n"))(t)
		body, _, _ := readResponseHead(t, client.reader)
		next <- "broken"
		if _, err := io.ReadAll(body); err == nil {
			t.Errorf("HTTP/%s: the answer is complete", version)
		}
	}
}

// readResponseHead reads the head of an answer. Its body is closed at the end of the test.
func readResponseHead(t *testing.T, from *bufio.Reader) (body io.Reader, header http.Header, isChunked bool) {
	t.Helper()
	response, err := http.ReadResponse(from, nil)
	must.Succeed(t, err)
	t.Cleanup(func() { response.Body.Close() })
	return response.Body, response.Header, len(response.TransferEncoding) > 0
}

// When the client leaves a stream, the leader's connection closes.
func TestStreamEndsWithClient(t *testing.T) {
	c := newCluster(t, "a", "b")
	ended := make(chan struct{})
	c.nodes["a"].handle(func(ctx *fasthttp.RequestCtx) { ctx.SetBodyStream(&endlessReader{ended: ended}, -1) })
	client := dialNode(t, c.nodes["b"])
	must.Value(io.WriteString(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"))(t)
	must.Value(client.reader.ReadString('e'))(t)
	must.Succeed(t, client.Close())
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		t.Error("the stream goes on")
	}
	deadline := time.Now().Add(5 * time.Second)
	for len(c.nodes["b"].conns.open) > 0 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if n := len(c.nodes["b"].conns.open); n > 0 {
		t.Errorf("%d connections to the leader are open", n)
	}
}

type endlessReader struct{ ended chan struct{} }

func (*endlessReader) Read(p []byte) (int, error) {
	time.Sleep(time.Millisecond)
	return copy(p, strings.Repeat("endless", 100)), nil
}

func (r *endlessReader) Close() error {
	close(r.ended)
	return nil
}

// Bodies of all sizes and forms arrive whole.
func TestBodiesArriveWhole(t *testing.T) {
	c := newCluster(t, "a", "b")
	c.nodes["a"].handle(echo)
	for _, size := range []int{1, 8191, 8192, 8193, 64 << 10, 64<<10 + 1, 300 << 10} {
		for _, chunked := range []bool{false, true} {
			body := strings.Repeat("0123456789abcdef", size/16+1)[:size]
			raw := post(body)
			if chunked {
				raw = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
				for rest := body; len(rest) > 0; {
					n := min(len(rest), 5000)
					raw, rest = raw+fmt.Sprintf("%x\r\n%s\r\n", n, rest[:n]), rest[n:]
				}
				raw += "0\r\n\r\n"
			}
			client := dialNode(t, c.nodes["b"])
			for range 2 {
				if head, got := client.send(raw); statusOf(head) != "200" || !strings.HasSuffix(got, fmt.Sprintf("\n%d %s", size, body)) {
					t.Errorf("%d bytes, chunked: %t: %s", size, chunked, head)
				}
			}
		}
	}
}

// A body that is passed on reaches the leader while the client still sends.
func TestLargeBodyStreams(t *testing.T) {
	c := newCluster(t, "a", "b")
	received := make(chan string, 100)
	c.nodes["a"].handle(func(ctx *fasthttp.RequestCtx) {
		buffer := make([]byte, 100)
		for {
			n, err := ctx.RequestBodyStream().Read(buffer)
			if n > 0 {
				received <- string(buffer[:n])
			}
			if err != nil {
				return
			}
		}
	})
	client := dialNode(t, c.nodes["b"])
	must.Value(io.WriteString(client, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"))(t)
	for _, piece := range []string{"first", "second"} {
		must.Value(fmt.Fprintf(client, "%x\r\n%s\r\n", len(piece), piece))(t)
		select {
		case got := <-received:
			if got != piece {
				t.Errorf("%q, want %q", got, piece)
			}
		case <-time.After(5 * time.Second):
			t.Fatal("the piece does not arrive")
		}
	}
	if head, _ := client.send("0\r\n\r\n"); statusOf(head) != "200" {
		t.Error(head)
	}
}

// The client gets the leader's early answer to a body that the leader does not read.
func TestEarlyAnswerToLargeBody(t *testing.T) {
	c := newCluster(t, "a", "b")
	c.nodes["a"].handle(func(ctx *fasthttp.RequestCtx) {
		ctx.SetStatusCode(401)
		ctx.SetBodyString("who?")
		ctx.SetConnectionClose()
	})
	client := dialNode(t, c.nodes["b"])
	go func() {
		_, _ = io.WriteString(client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n")
		for range 1000 {
			if _, err := io.WriteString(client, strings.Repeat("x", 100_000)); err != nil {
				return
			}
		}
	}()
	if head, body := client.read(false); statusOf(head) != "401" || body != "who?" || !strings.Contains(head, "Connection: close") {
		t.Error(head, body)
	}
}

// A body with a trailer, or one that breaks off, gets an error and no decision of the leader.
func TestBrokenBodiesAreRejected(t *testing.T) {
	c := newCluster(t, "a", "b")
	var completed atomic.Int64
	c.nodes["a"].handle(func(ctx *fasthttp.RequestCtx) {
		_, err := io.Copy(io.Discard, ctx.RequestBodyStream())
		if err == nil && !connection.FromRequest(ctx).HasReadFailed() {
			completed.Add(1)
		}
	})
	for name, raw := range map[string]string{
		"trailer":                        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Api-Key: k\r\n\r\n",
		"bad chunk":                      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\na\r\n0\r\n\r\n",
		"breaks off":                     "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc",
		"between two chunks, breaks off": "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
		"kept, breaks off":               "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\n\r\n" + strings.Repeat("x", 15_000),
		"large, breaks off":              "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" + strings.Repeat("x", 50_000),
		"chunked, breaks off":            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
	} {
		client := dialNode(t, c.nodes["b"])
		must.Value(io.WriteString(client, raw))(t)
		if strings.Contains(name, "breaks off") {
			must.Succeed(t, client.Conn.(interface{ CloseWrite() error }).CloseWrite())
		}
		if head, _ := client.read(false); statusOf(head) != "400" {
			t.Errorf("%s: %s", name, head)
		}
	}
	if n := completed.Load(); n != 0 {
		t.Errorf("%d bodies were complete for the leader", n)
	}
}

// A client that waits for 100 Continue gets it from a follower, then the leader's answer.
func TestExpectContinue(t *testing.T) {
	c := newCluster(t, "a", "b")
	c.nodes["a"].handle(echo)
	for _, at := range []string{"a", "b"} {
		client := dialNode(t, c.nodes[at])
		for range 2 {
			must.Value(io.WriteString(client, "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"))(t)
			head, _ := client.read(true)
			if head != "HTTP/1.1 100 Continue\r\n\r\n" {
				t.Fatalf("at %s: %q", at, head)
			}
			head, body := client.send("body")
			if statusOf(head) != "200" || !strings.HasSuffix(body, "\n4 body") || at == "b" && strings.Contains(body, "Expect") {
				t.Errorf("at %s: %s %s", at, head, body)
			}
		}
	}
}

// A client whose Expect the leader rejects at first is forwarded if the leader does not decide.
func TestExpectWithoutDecision(t *testing.T) {
	c := newCluster(t, "a", "b")
	expect := c.nodes["a"].ServeExpect(Public, func(ctx *fasthttp.RequestCtx) int {
		refuseAsFollower(ctx)
		return 503
	})
	var ctx fasthttp.RequestCtx
	if status := expect(&ctx); status != 100 || len(ctx.Response.Body()) > 0 || ctx.Response.StatusCode() != 200 {
		t.Errorf("%d %s", status, &ctx.Response)
	}
	expect = c.nodes["a"].ServeExpect(Public, func(*fasthttp.RequestCtx) int { return 401 })
	if status := expect(&ctx); status != 401 {
		t.Error(status)
	}
}

// A node answers the questions of other nodes.
func TestAsk(t *testing.T) {
	c := newCluster(t, "a", "b")
	ask := func() (int, string) {
		t.Helper()
		status, body, err := c.nodes["b"].Ask("a", c.nodes["a"].internal, "/status", time.Second)
		must.Succeed(t, err)
		defer body.Close()
		return status, string(must.Value(io.ReadAll(body))(t))
	}
	for i := range 4 {
		if status, body := ask(); status != 200 || body != "status of a" {
			t.Errorf("%d %s", status, body)
		}
		if i == 1 {
			c.nodes["a"].breakConns()
		}
	}
	if n := c.nodes["b"].dials.Load(); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
	for path, want := range map[string]int{"/nothing": 404, "/panic": 500} {
		status, body, err := c.nodes["b"].Ask("a", c.nodes["a"].internal, path, time.Second)
		if must.Succeed(t, err); status != want {
			t.Errorf("%s: %d", path, status)
		}
		must.Succeed(t, body.Close())
	}
	if _, _, err := c.nodes["b"].Ask("x", "127.0.0.1:1", "/status", time.Second); err == nil {
		t.Error("an unreachable node answered")
	}
}

// After Shutdown, other nodes learn that this node does not decide, and no connection stays open.
func TestShutdown(t *testing.T) {
	c := newCluster(t, "a", "b")
	client := dialNode(t, c.nodes["b"])
	client.send(post("{}"))
	must.Succeed(t, c.nodes["b"].Shutdown())
	if n := len(c.nodes["b"].conns.open); n != 0 {
		t.Errorf("%d connections are open", n)
	}
	must.Succeed(t, c.nodes["a"].Shutdown())
	var ctx fasthttp.RequestCtx
	ctx.Request.Header.Set(headerKind, string(Public))
	if c.nodes["a"].forwardedHandler(&Handlers{})(&ctx); ctx.Response.StatusCode() != 503 || string(ctx.Response.Header.Peek(headerMaySendAgain)) != "1" {
		t.Error(&ctx.Response)
	}
	time.AfterFunc(100*time.Millisecond, func() { c.setLeader("b") })
	if head, body := client.send(post("{}")); statusOf(head) != "201" || body != "by b" {
		t.Errorf("%s %s", head, body)
	}
}
