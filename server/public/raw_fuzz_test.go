package public

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/server/connection"
	"pingpost/server/httperror"
	"pingpost/server/servertest"
)

// sentConn is a connection whose client has sent all bytes and reads all answers.
type sentConn struct {
	in     *bytes.Reader
	out    bytes.Buffer
	closed bool
}

func (w *sentConn) Read(p []byte) (int, error) { return w.in.Read(p) }

func (w *sentConn) Write(p []byte) (int, error) {
	if w.closed {
		return 0, net.ErrClosed
	}
	return w.out.Write(p)
}

func (w *sentConn) Close() error { w.closed = true; return nil }

func (*sentConn) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (*sentConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 2} }

func (*sentConn) SetDeadline(time.Time) error { return nil }

func (*sentConn) SetReadDeadline(time.Time) error { return nil }

func (*sentConn) SetWriteDeadline(t time.Time) error { return nil }

// oneConn is a listener that accepts one connection.
type oneConn struct {
	net.Listener
	conn net.Conn
}

func (l oneConn) Accept() (net.Conn, error) { return l.conn, nil }

// parsedRequest is a request that a parser found in the bytes, or empty if it is invalid.
type parsedRequest struct {
	method, uri string
	hasBareLine bool // a line of the head ends in a bare line feed, or the body has a trailer
}

// serve passes bytes to a server, and returns the requests that it recognized and its
// answers.
func (x *fuzzedExchange) serve(t *testing.T, server *fasthttp.Server, raw []byte) (requests []parsedRequest, answers []byte) {
	handle, unreadable, expected := server.Handler, server.ErrorHandler, server.ExpectHandler
	defer func() { server.Handler, server.ErrorHandler, server.ExpectHandler = handle, unreadable, expected }()
	read := func(ctx *fasthttp.RequestCtx) {
		requests = append(requests, parsedRequest{method: string(ctx.Method()), uri: string(ctx.Request.Header.RequestURI())})
	}
	server.Handler = func(ctx *fasthttp.RequestCtx) {
		read(ctx)
		handle(ctx)
	}
	if expected != nil {
		server.ExpectHandler = func(ctx *fasthttp.RequestCtx) (status int) {
			if status = expected(ctx); status != fasthttp.StatusContinue {
				read(ctx)
			}
			return status
		}
	}
	server.ErrorHandler = func(ctx *fasthttp.RequestCtx, err error) {
		requests = append(requests, parsedRequest{})
		unreadable(ctx, err)
	}
	conn := &sentConn{in: bytes.NewReader(raw)}
	accepted := must.Value(connection.NewLimiter(oneConn{conn: conn}, 10, 10, x.newRequestID, func(error) {}).Accept())(t)
	ended := make(chan error, 1)
	go func() { ended <- server.ServeConn(accepted) }()
	select {
	case <-ended: // an invalid request may end it with an error
	case <-time.After(20 * time.Second):
		t.Fatalf("the server did not end the connection of\n%q", raw)
	}
	return requests, conn.out.Bytes()
}

var bareLine = regexp.MustCompile(`(?:^|[^\r])\n`)

// readByNetHTTP returns the requests that net/http recognizes, and the number of those
// whose body it read to the end.
func readByNetHTTP(raw []byte) (requests []parsedRequest, whole int) {
	left := bytes.NewReader(raw)
	in := bufio.NewReaderSize(left, 1<<16)
	for {
		for next, err := in.Peek(1); err == nil && (next[0] == '\r' || next[0] == '\n'); next, err = in.Peek(1) {
			_, _ = in.ReadByte() // skip empty lines before a request
		}
		begin := len(raw) - left.Len() - in.Buffered()
		request, err := http.ReadRequest(in)
		if err != nil {
			return requests, whole
		}
		head := raw[begin : len(raw)-left.Len()-in.Buffered()]
		requests = append(requests, parsedRequest{request.Method, request.RequestURI, bareLine.Match(head)})
		if _, err := io.Copy(io.Discard, request.Body); err != nil {
			return requests, whole
		}
		body := raw[begin+len(head) : len(raw)-left.Len()-in.Buffered()]
		if request.ContentLength < 0 && (len(request.Trailer) > 0 || !bytes.HasSuffix(body, []byte("\r\n\r\n"))) {
			requests[whole].hasBareLine = true
		}
		whole++
	}
}

// FuzzRawHTTP sends bytes as a whole connection. The server ends without a panic and gives
// one well-formed answer for each request, with X-Request-Id and in JSON. Each request
// that has an effect, or a request after it, is exactly the request that net/http reads
// there, so no request hides in another. Its head has no bare line feed and its body no
// trailer, which net/http accepts.
func FuzzRawHTTP(f *testing.F) {
	for _, raw := range rawSeeds() {
		f.Add([]byte(raw), false)
		f.Add([]byte(raw), true)
		f.Add([]byte(strings.NewReplacer("/api/v1/ingest", "/admin/v1/buyers/buy_blue/funds", "x-api-key: key-of-acme", "Authorization: Basic b3A6dGhlLXBhc3N3b3Jk").Replace(raw)), true)
	}
	for _, path := range []string{
		"/healthz", "/metrics", "/admin/v1/hash", "/admin/v1/explain?id=a%20b", "/admin/v1/suppliers/sup%2Facme/keys",
		"/admin/v1/statement?buyer=buy_blue&from=2026-01-01&to=2026-02-01T00:00:00Z&format=csv", "/admin/v1/deliveries?state=pending&limit=5&after=lead_1", "/admin/v1/returns?limit=0&after=", "/admin/v1/webhooks?supplier=sup_acme",
		"/admin/v1/webhooks/sup_acme/dead?limit=1", "/admin/v1/suppliers/sup_acme/clients/a%3Ab/secrets/x", "/admin/v1/explain/lead_00000000000000000000000000?supplier=%00", "/debug/pprof/../x", "/admin/v1/config?dry=1;a",
	} {
		f.Add([]byte("GET "+path+" HTTP/1.1\r\nHost: x\r\n"+servertest.BasicAuth+"\r\nHEAD "+path+" HTTP/1.1\r\n"+servertest.BasicAuth+"\r\n"), true)
	}
	var x fuzzedExchange
	f.Cleanup(x.close)
	f.Fuzz(func(t *testing.T, raw []byte, operators bool) {
		server := x.prepareRequest(t).http
		if operators {
			server = x.admin.HTTP()
		}
		requests, answers := x.serve(t, server, raw)
		statuses, err := checkAnswers(requests, answers, operators)
		if err != nil {
			t.Fatalf("%q\nwas answered with %q: %v", raw, answers, err)
		}
		parsed, whole := readByNetHTTP(raw)
		for i, status := range statuses {
			if status == 500 {
				t.Fatalf("%q\nwas answered with 500: %q", raw, answers)
			}
			if i+1 == len(statuses) && status >= 300 {
				break // rejected; the server reads no further request
			}
			if i == whole && i+2 >= len(statuses) && endsInTrailerLine(raw, i) {
				break
			}
			if i >= whole || parsed[i] != requests[i] {
				t.Fatalf("%q\nrequest %d is %v, answered %d; net/http reads %v, %d of them to the end", raw, i, requests[i], status, parsed, whole)
			}
		}
	})
}

// endsInTrailerLine reports the one permitted difference: the connection ended within a
// line after the body's last chunk. fasthttp accepts the body and rejects the rest of the
// line as a request; net/http rejects both. No request can follow.
func endsInTrailerLine(raw []byte, request int) bool {
	head := max(bytes.LastIndex(raw, []byte("\n\r\n")), bytes.LastIndex(raw, []byte("\n\n"))) // the end of the last head
	for range 64 {
		end := bytes.LastIndexByte(raw, '\n')
		if end <= head+len("\r\n") {
			return false
		}
		if _, whole := readByNetHTTP(append(bytes.Clone(raw[:end+1]), "\r\n"...)); whole == request+1 {
			return true
		}
		raw = raw[:end]
	}
	return false
}

// checkAnswers checks that the bytes are one answer for each request and no more.
// Successful answers to operators have other forms.
func checkAnswers(requests []parsedRequest, answers []byte, operators bool) (statuses []int, err error) {
	out := bufio.NewReader(bytes.NewReader(answers))
	for len(statuses) < len(requests) {
		method := requests[len(statuses)].method
		response, err := http.ReadResponse(out, &http.Request{Method: method})
		if err != nil {
			return nil, fmt.Errorf("%d of %d answers, then: %w", len(statuses), len(requests), err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if response.StatusCode == http.StatusContinue {
			continue
		}
		if err != nil || response.ContentLength < 0 && len(response.TransferEncoding) == 0 {
			return nil, fmt.Errorf("answer %d has no length: %w", len(statuses), err)
		}
		if err := checkAnswer(method, response, body); err != nil && (!operators || response.StatusCode >= 400) {
			return nil, fmt.Errorf("answer %d: %w", len(statuses), err)
		}
		statuses = append(statuses, response.StatusCode)
	}
	if rest, _ := io.ReadAll(out); len(rest) > 0 && !bytes.Equal(rest, []byte("HTTP/1.1 100 Continue\r\n\r\n")) {
		return nil, fmt.Errorf("bytes after the last answer: %q", rest)
	}
	return statuses, nil
}

func checkAnswer(method string, response *http.Response, body []byte) error {
	id := response.Header.Get(httperror.HeaderRequestID)
	if _, ok := market.ParseRequestID(id); !ok {
		return fmt.Errorf("X-Request-Id is %q", id)
	}
	if method == http.MethodHead || response.StatusCode == http.StatusOK && strings.HasPrefix(response.Header.Get("Content-Type"), "text/html") {
		return nil // no body, or a page
	}
	var got struct {
		Error, Message string
		RequestID      string `json:"request_id"`
	}
	if err := json.Unmarshal(body, &got); err != nil || response.Header.Get("Content-Type") != httperror.TypeJSON {
		return fmt.Errorf("%s body %q: %w", response.Header.Get("Content-Type"), body, err)
	}
	if response.StatusCode >= 400 && (got.Error == "" || got.Message == "" || got.RequestID != id) {
		return errors.New("an error that is not in the interface's form: " + string(body))
	}
	return nil
}

// rawSeeds returns connections with one or more ordinary requests, and connections that
// try to hide a request in another.
func rawSeeds() (seeds []string) {
	const lead = `{"flo_campaign_id":"cmp_now","flo_supplier_id":"sup_acme",` + personMembers + `}`
	head := "POST /api/v1/ingest HTTP/1.1\r\nHost: x\r\nx-api-key: key-of-acme\r\nContent-Type: application/json\r\n"
	length := fmt.Sprintf("Content-Length: %d\r\n", len(lead))
	chunked := "Transfer-Encoding: chunked\r\n"
	chunk := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(lead), lead)
	whole, next := head+length+"\r\n"+lead, "GET /v1/leads/x HTTP/1.1\r\nHost: x\r\n\r\n"
	seeds = []string{
		whole, whole + whole, whole + next + whole, head + chunked + "\r\n" + chunk + next, "\r\n" + whole + "\r\n\r\n" + next, next, "GET / HTTP/1.0\r\n\r\n" + next,
		head + length + chunked + "\r\n" + chunk + next, head + chunked + length + "\r\n" + lead, head + length + length + "\r\n" + lead + next, head + "Content-Length: 5\r\n" + length + "\r\n" + lead + next,
		head + "Content-Length: 0x10\r\n\r\n" + lead, head + "Content-Length: +5\r\n\r\n" + lead, head + "Content-Length: -1\r\n\r\n" + lead, head + "Content-Length : 5\r\n\r\nhello" + next,
		head + "Content-Length: 5, 5\r\n\r\nhello" + next, head + "Transfer-Encoding: xchunked\r\n\r\n" + chunk, head + "Transfer-Encoding: chunked, identity\r\n\r\n" + chunk, head + "Transfer-Encoding: identity\r\n" + length + "\r\n" + lead,
		head + "Transfer-Encoding:\x0bchunked\r\n\r\n" + chunk, head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk + next, head + " Transfer-Encoding: chunked\r\n" + length + "\r\n" + lead + next,
		head + "X: a\r\n b\r\n" + length + "\r\n" + lead + next, head + "X: a\n" + length + "\r\n" + lead + next, strings.ReplaceAll(whole, "\r\n", "\n") + next, strings.ReplaceAll(head+length, "\r\n", "\r") + lead,
		head + chunked + "\r\n5;ext=\"a\r\nb\"\r\nhello\r\n0\r\n\r\n" + next, head + chunked + "\r\n5 \r\nhello\r\n0\r\nX: y\r\n\r\n" + next, head + chunked + "\r\n5\nhello\n0\n\n" + next, head + chunked + "\r\nffffffffffffffff\r\nhello",
		head + chunked + "\r\n-1\r\nhello\r\n0\r\n\r\n", head + chunked + "\r\n0x5\r\nhello\r\n0\r\n\r\n" + next, head + chunked + "\r\n05\r\nhello\r\n00\r\n\r\n" + next, head + chunked + "\r\n5\r\nhelloX0\r\n\r\n" + next,
		head + "Big: " + strings.Repeat("x", 20000) + "\r\n\r\n", "POST " + strings.Repeat("/x", 9000) + " HTTP/1.1\r\n\r\n", head + strings.Repeat("A: b\r\n", 500) + length + "\r\n" + lead, "POST http://x/api/v1/ingest HTTP/1.1\r\nHost: x\r\n" + length + "\r\n" + lead + next,
		strings.Replace(head, " HTTP/1.1\r\n", " HTTP/1.1\n", 1) + length + "\r\n" + lead + next, whole + strings.Replace(next, " HTTP/1.1\r\n", " HTTP/1.1\n", 1) + whole, head + length + "\n" + lead + next, "GET / HTTP/1.0\r\n\n" + next,
		"POST http://other.example:81/api/v1/ingest HTTP/1.1\r\nHost: x\r\nx-api-key: key-of-acme\r\nContent-Type: application/json\r\n" + length + "\r\n" + lead + next, strings.Replace(whole, "ingest", "ingest#a", 1) + next, "GET http://a@x/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" + next,
		"GET //api/v1/ingest HTTP/1.1\r\nHost: x\r\n\r\n" + next, "GET /api/v1/%69ngest HTTP/1.1\r\nHost: x\r\n\r\n", "GET /a\x00b HTTP/1.1\r\nHost: x\r\n\r\n" + next, "GET /v1/leads/\xff HTTP/1.1\r\nHost: x\r\n\r\n", "GET * HTTP/1.1\r\nHost: x\r\n\r\n",
		"HEAD /api/v1/ingest HTTP/1.1\r\nHost: x\r\n\r\n" + next, "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n" + next, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n" + next, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET / HTTP/1.2\r\nHost: x\r\n\r\n" + next,
		"GET / HTTP/0.9\r\n\r\n", "GET /\r\n\r\n", "GET  /  HTTP/1.1\r\nHost: x\r\n\r\n", "GET\t/\tHTTP/1.1\r\nHost: x\r\n\r\n", "G\x00T / HTTP/1.1\r\nHost: x\r\n\r\n", head + "Expect: 100-continue\r\n" + length + "\r\n" + lead + next,
		"POST /none HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n" + length + "\r\n" + lead + next, head + "Expect: 100-continue\r\nContent-Length: 999999\r\n\r\n" + next, head + "Connection: close\r\n" + length + "\r\n" + lead + next,
		head + "x-api-key: other\r\n" + length + "\r\n" + lead + next, head + "Host: y\r\n" + length + "\r\n" + lead + next, "POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n\r\na=b" + next,
		"GET / HTTP/1.1\r\n\r\n" + next, head + "\x00: a\r\n" + length + "\r\n" + lead + next, head + ": a\r\n" + length + "\r\n" + lead, head + "no colon\r\n" + length + "\r\n" + lead, head + "Content-Length: 9999999999999999999999\r\n\r\n" + lead,
		strings.Replace(head, "1.1", "1.0", 1) + "Connection: keep-alive\r\n" + chunked + "\r\n" + chunk + next, strings.Replace(head, "1.1", "1.0", 1) + "Connection: keep-alive\r\n" + length + "\r\n" + lead + next,
		"GET /v1/leads/x HTTP/1.1\r\nHost: x\r\n" + length + "\r\n" + lead + next, "GET /v1/leads/x HTTP/1.1\r\nHost: x\r\n" + chunked + "\r\n" + chunk + next, "HEAD /v1/leads/x HTTP/1.1\r\nHost: x\r\n" + length + "\r\n" + lead + next,
		head + "Transfer-Encoding: Chunked\r\n\r\n" + chunk + next, head + "Transfer-Encoding:  chunked \r\n\r\n" + chunk + next, head + "Transfer-Encoding: \"chunked\"\r\n\r\n" + chunk + next, head + "Transfer-Encoding: gzip, chunked\r\n\r\n" + chunk + next,
		head + "Transfer-Encoding: chunked;q=1\r\n\r\n" + chunk + next, head + "Transfer-Encoding: \r\n" + length + "\r\n" + lead + next, head + "Content-Length:\r\n\r\n" + next, head + "Content-Length: 0\r\n\r\n" + next, head + "\r\n" + next,
		head + "Content-Length: 005\r\n\r\nhello" + next, head + "Content-Length: 5\x0b\r\n\r\nhello" + next, head + "Content_Length: 5\r\n\r\n" + next, head + "Content-Length\x00: 5\r\n\r\nhello" + next, head + "\tContent-Length: 5\r\n\r\n" + next,
		head + chunked + "\r\n" + strings.ToUpper(chunk[:2]) + chunk[2:] + next, head + chunked + "\r\n5\r\nhello\r\n0\r\nContent-Length: 50\r\n\r\n" + next, head + chunked + "\r\n5\r\nhello\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n" + next,
		head + chunked + "\r\n0\r\n" + strings.Repeat("A: b\r\n", 9) + "\r\n" + next, head + chunked + "\r\n0\r\n bad\r\n\r\n" + next, head + chunked + "\r\n\r\n5\r\nhello\r\n0\r\n\r\n" + next, head + chunked + "\r\n5;\x00\r\nhello\r\n0;a=b\r\n\r\n" + next,
		head + chunked + "\r\n5\r\r\nhello\r\n0\r\n\r\n" + next, head + chunked + "\r\n5;\nGET /x HTTP/1.1\r\n\r\nhello\r\n0\r\n\r\n" + next, head + chunked + "\r\n5\r\nhello\r\n0\r\n\n" + next, head + chunked + "\r\n" + chunk[:len(chunk)-2] + "\n" + next, head + chunked + "\r\n" + chunk[:len(chunk)-2] + "X: y\n\n" + next, head + chunked + "\r\n" + chunk[:len(chunk)-2] + "X: y\n\r\n" + next,
		head + chunked + "\r\n5\r\nhello\n\n0\r\n\r\n" + next,
		head + chunked + "\r\n" + chunk[:len(chunk)-2], head + chunked + "\r\n" + chunk[:len(chunk)-2] + "X: torn", head + chunked + "\r\n" + chunk[:len(chunk)-9], head + "Content-Length: 10\r\n\r\nhalf", head + "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n" + length + "\r\n" + lead + next, "", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "\r\n\r\n\r\n",
	}
	return seeds
}
