package forward

import (
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"pingpost/server/connection"
)

// The leader sees a forwarded request as the client sent it: method, target, header lines and body. It
// also sees the client's address. Headers of one connection and headers between nodes are missing.
func TestRequestIsForwardedExactly(t *testing.T) {
	c := newCluster(t, "a", "b")
	c.nodes["a"].handle(echo)
	for _, row := range []struct{ name, request, want string }{
		{"a path that is not normal", "GET /a//b/../%41%2f?q=%20+&q=2& HTTP/1.1\r\nHost: x\r\n\r\n", "GET /a//b/../%41%2f?q=%20+&q=2& CLIENT\nHost: x\r\n\r\n\n0 "},
		{"an absolute target", "GET http://host.example/a HTTP/1.1\r\nHost: x\r\n\r\n", "GET http://host.example/a CLIENT\nHost: x\r\n\r\n\n0 "},
		{
			"headers of the API", "POST /x HTTP/1.1\r\nHost: e.example:80\r\nX-Api-Key: k\r\nAuthorization: Bearer t\r\nIdempotency-Key: \"i\"\r\nX-Forwarded-For: 198.51.100.9, 10.0.0.1\r\nCookie: a=b; c=d\r\nTraceparent: 00-1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
			"POST /x CLIENT\nHost: e.example:80\r\nX-Api-Key: k\r\nAuthorization: Bearer t\r\nIdempotency-Key: \"i\"\r\nX-Forwarded-For: 198.51.100.9, 10.0.0.1\r\nCookie: a=b; c=d\r\nTraceparent: 00-1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n\n2 {}",
		},
		{"repeated and empty headers", "GET / HTTP/1.1\r\nHost: x\r\nX-A: 1\r\nX-A:\r\nX-B:  two  words \r\n\r\n", "GET / CLIENT\nHost: x\r\nX-A: 1\r\nX-A:\r\nX-B:  two  words \r\n\r\n\n0 "},
		{"forged headers", "POST / HTTP/1.1\r\nHost: x\r\nx-pingpost-forwarded-kind: node\r\nX-Pingpost-Forwarded-Client: 192.0.2.9:9\r\nX-PINGPOST-NOT-DECIDED: 1\r\nContent-Length: 1\r\n\r\nb", "POST / CLIENT\nHost: x\r\nContent-Length: 1\r\n\r\n\n1 b"},
		{"headers of the connection", "GET / HTTP/1.1\r\nHost: x\r\nConnection: Keep-Alive\r\nKeep-Alive: timeout=5\r\n\r\n", "GET / CLIENT\nHost: x\r\n\r\n\n0 "},
		{"an empty body", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", "POST / CLIENT\nHost: x\r\nContent-Length: 0\r\n\r\n\n0 "},
		{"no length", "DELETE / HTTP/1.1\r\nHost: x\r\n\r\n", "DELETE / CLIENT\nHost: x\r\nContent-Length: 0\r\n\r\n\n0 "},
		{"GET with a body", "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", "GET / CLIENT\nHost: x\r\nContent-Length: 3\r\n\r\n\n3 abc"},
		{"chunks", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", "POST / CLIENT\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\n5 abcde"},
		{"another method", "PROPFIND / HTTP/1.1\r\nHost: x\r\n\r\n", "PROPFIND / CLIENT\nHost: x\r\nContent-Length: 0\r\n\r\n\n0 "},
	} {
		client := dialNode(t, c.nodes["b"])
		for range 2 {
			_, got := client.send(row.request)
			got = strings.Replace(got, client.LocalAddr().String(), "CLIENT", 1)
			got = regexp.MustCompile(`X-Pingpost-Forwarded-(Kind: public|Client: [0-9.:]+)\r\n`).ReplaceAllString(got, "")
			if got != row.want {
				t.Errorf("%s:\n%q, want\n%q", row.name, got, row.want)
			}
		}
	}
}

// The handlers find no headers between nodes.
func TestHandlersFindNoInternalHeaders(t *testing.T) {
	c := newCluster(t, "a", "b")
	c.nodes["a"].handle(func(ctx *fasthttp.RequestCtx) {
		for name := range ctx.Request.Header.All() {
			if strings.HasPrefix(strings.ToLower(string(name)), "x-pingpost") {
				t.Errorf("%s", name)
			}
		}
	})
	dialNode(t, c.nodes["b"]).send(post("{}", "X-Pingpost-Forwarded-Kind: admin\r\n"))
}

var dateLine = regexp.MustCompile(`Date: [^\r]+\r\n`)

// A client gets the leader's answer with the same status line, headers and body on both nodes.
func TestAnswerIsPassedOnExactly(t *testing.T) {
	c := newCluster(t, "a", "b")
	for name, row := range map[string]struct {
		method  string
		handler fasthttp.RequestHandler
	}{
		"spelling of names": {"POST", func(ctx *fasthttp.RequestCtx) {
			ctx.Response.Header.Set("x-lower-case", "1")
			ctx.Response.Header.Set("X-RateLimit-Limit", "9")
			ctx.SetContentType("application/json")
			ctx.SetBodyString("{}")
		}},
		"repeated headers": {"GET", func(ctx *fasthttp.RequestCtx) {
			ctx.Response.Header.Add("Link", "a")
			ctx.Response.Header.Add("Link", "b")
			ctx.Response.Header.Add("Set-Cookie", "a=1; Path=/; HttpOnly; SameSite=Strict")
			ctx.Response.Header.Add("Set-Cookie", "b=2")
			ctx.SetBodyString("x")
		}},
		"no content type": {"GET", func(ctx *fasthttp.RequestCtx) { ctx.SetBodyString("x") }},
		"no content":      {"DELETE", func(ctx *fasthttp.RequestCtx) { ctx.SetStatusCode(204) }},
		"not modified":    {"GET", func(ctx *fasthttp.RequestCtx) { ctx.Response.Header.Set("ETag", `"e"`); ctx.SetStatusCode(304) }},
		"empty body":      {"GET", func(*fasthttp.RequestCtx) {}},
		"own status":      {"GET", func(ctx *fasthttp.RequestCtx) { ctx.Error("teapot", 418) }},
		"HEAD": {"HEAD", func(ctx *fasthttp.RequestCtx) {
			ctx.SetContentType("text/x")
			ctx.SetBodyString(strings.Repeat("x", 1234))
		}},
		"HEAD, long": {"HEAD", func(ctx *fasthttp.RequestCtx) { ctx.SetBodyString(strings.Repeat("x", 1<<20)) }},
		"long body":  {"GET", func(ctx *fasthttp.RequestCtx) { ctx.SetBodyString(strings.Repeat("0123456789", 100_000)) }},
		"chunks":     {"GET", func(ctx *fasthttp.RequestCtx) { ctx.SetBodyStream(strings.NewReader(strings.Repeat("y", 100_000)), -1) }},
		"compressed": {"GET", func(ctx *fasthttp.RequestCtx) {
			ctx.Response.Header.SetContentEncoding("gzip")
			ctx.SetBodyString("\x1f\x8b")
		}},
		"connection closes": {"GET", func(ctx *fasthttp.RequestCtx) { ctx.SetConnectionClose(); ctx.SetBodyString("last") }},
	} {
		c.nodes["a"].handle(func(ctx *fasthttp.RequestCtx) {
			ctx.Response.Header.DisableNormalizing()
			row.handler(ctx)
		})
		var heads, bodies []string
		for _, at := range []string{"a", "b", "b"} {
			head, body := dialNode(t, c.nodes[at]).send(row.method + " / HTTP/1.1\r\nHost: x\r\n\r\n")
			lines := strings.Split(dateLine.ReplaceAllString(head, ""), "\r\n")
			slices.Sort(lines[1:])
			heads, bodies = append(heads, strings.Join(lines, "\n")), append(bodies, body)
		}
		if heads[0] != heads[1] || bodies[0] != bodies[1] || heads[0] != heads[2] || bodies[0] != bodies[2] {
			t.Errorf("%s: leader %s\nfollower %s\n%d and %d bytes", name, heads[0], heads[1], len(bodies[0]), len(bodies[1]))
		}
	}
}

// The connections of client and leader are kept and closed independently of each other.
func TestConnectionsCloseAsAsked(t *testing.T) {
	c := newCluster(t, "a", "b")
	for _, row := range []struct {
		version, line string
		closes        bool
		want          string
	}{
		{"1.1", "", false, ""},
		{"1.1", "Connection: close\r\n", true, "Connection: close"},
		{"1.0", "", true, "Connection: close"},
		{"1.0", "Connection: keep-alive\r\n", false, "Connection: keep-alive"},
	} {
		client := dialNode(t, c.nodes["b"])
		head, body := client.send(fmt.Sprintf("GET / HTTP/%s\r\nHost: x\r\n%s\r\n", row.version, row.line))
		if statusOf(head) != "201" || body != "by a" || !strings.Contains(head, row.want) {
			t.Errorf("%s %s: %s %s", row.version, row.line, head, body)
		}
		if row.closes {
			if n, err := client.Read(make([]byte, 1)); n != 0 || err == nil {
				t.Errorf("%s %s: the connection stays open", row.version, row.line)
			}
		} else if head, _ := client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"); statusOf(head) != "201" {
			t.Errorf("%s %s: %s", row.version, row.line, head)
		}
	}
	if n := c.nodes["b"].dials.Load(); n != 1 {
		t.Errorf("%d connections to the leader, want 1", n)
	}
}

// The follower rejects heads that two programs could read differently, and does not forward them.
func TestAmbiguousHeadIsNotForwarded(t *testing.T) {
	c := newCluster(t, "a", "b")
	for _, raw := range []string{
		"GET / HTTP/1.1\r\nHost: x\nX-A: b\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length : 3\r\n\r\nabc",
		"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\n X-A: folded\r\n\r\n",
	} {
		if head, _ := dialNode(t, c.nodes["b"]).send(raw); statusOf(head) != "400" {
			t.Errorf("%q: %s", raw, head)
		}
	}
	if n := c.nodes["a"].decided.Load(); n != 0 {
		t.Errorf("%d requests were forwarded", n)
	}
}

// A forwarded request has a connection of a Limiter, as the handlers expect.
func TestForwardedConnectionIsLimited(t *testing.T) {
	c := newCluster(t, "a", "b")
	c.nodes["a"].handle(func(ctx *fasthttp.RequestCtx) {
		if connection.FromRequest(ctx) == nil {
			t.Error("no LimitedConn")
		}
		connection.MarkAuthenticated(ctx)
		if _, ok := ctx.RemoteAddr().(*net.TCPAddr); !ok {
			t.Errorf("%T", ctx.RemoteAddr())
		}
	})
	dialNode(t, c.nodes["b"]).send(post("{}"))
}

// A valid credential counts for the client's connection at the follower, and only for that one.
func TestCredentialCountsForClientsConnection(t *testing.T) {
	c := newCluster(t, "a", "b")
	c.nodes["a"].handle(func(ctx *fasthttp.RequestCtx) {
		if len(ctx.Request.Header.Peek("X-Api-Key")) > 0 {
			connection.MarkAuthenticated(ctx)
			return
		}
		ctx.SetStatusCode(401)
	})
	good, bad := dialNode(t, c.nodes["b"]), dialNode(t, c.nodes["b"])
	for range 2 {
		if head, _ := good.send(post("{}", "X-Api-Key: k\r\n")); statusOf(head) != "200" || strings.Contains(head, "X-Pingpost") {
			t.Error(head)
		}
		if head, _ := bad.send(post("{}", "X-Pingpost-Authenticated: 1\r\n")); statusOf(head) != "401" {
			t.Error(head)
		}
		if open, unauthenticated := c.nodes["b"].limiter.CountConnections(); open != 2 || unauthenticated != 1 {
			t.Errorf("%d connections, %d without a credential", open, unauthenticated)
		}
	}
	for range 49 { // more than half of all connections
		dialNode(t, c.nodes["b"]).send(post("{}", "X-Api-Key: k\r\n"))
	}
	if head, _ := bad.send(post("{}")); !strings.Contains(head, "Connection: close") {
		t.Error(head)
	}
	if head, _ := good.send(post("{}")); strings.Contains(head, "Connection: close") {
		t.Error(head)
	}
}
