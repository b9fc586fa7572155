package public

import (
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/server/servertest"
)

// Requests for documents are limited per client address.
func TestDocumentRequestsAreLimitedPerAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 3
		d := newTestServer(t, func(o *Options) { o.Documents = limit })
		d.SetTrustedProxies([]netip.Prefix{servertest.ParseNetwork("0.0.0.0/32")}) // the address of requests without a connection
		get := func(method, path, from string, headers ...string) *fasthttp.Response {
			return &d.send(method, path, "", append(headers, "X-Forwarded-For", from)...).Response
		}
		const one, other = "198.51.100.1", "198.51.100.2"
		tag := string(get("GET", "/docs", other).Header.Peek("ETag"))
		for i, path := range []string{"/docs", "/openapi.json", "/openapi.yaml"} {
			header := &get("GET", path, one).Header
			if header.StatusCode() != 200 || string(header.Peek("X-RateLimit-Limit")) != strconv.Itoa(limit) ||
				string(header.Peek("X-RateLimit-Remaining")) != strconv.Itoa(limit-1-i) || len(header.Peek("X-RateLimit-Reset")) == 0 {
				t.Errorf("%s: %d, %s left of %s", path, header.StatusCode(), header.Peek("X-RateLimit-Remaining"), header.Peek("X-RateLimit-Limit"))
			}
		}
		for _, method := range []string{"GET", "HEAD"} {
			r := get(method, "/docs", one)
			if r.StatusCode() != 429 || string(r.Header.Peek("Retry-After")) != "1" || string(r.Header.Peek("X-RateLimit-Remaining")) != "0" ||
				len(r.Header.Peek("Cache-Control")) > 0 || !strings.Contains(string(r.Body()), `{"error":"rate_limited"`) {
				t.Errorf("%s over the limit: %d, Retry-After %q, %.80s", method, r.StatusCode(), r.Header.Peek("Retry-After"), r.Body())
			}
		}
		if r := get("GET", "/docs", one, "If-None-Match", tag); r.StatusCode() != 304 {
			t.Errorf("client with the current page: got %d, want 304", r.StatusCode())
		}
		if r := get("GET", "/docs", other); r.StatusCode() != 200 {
			t.Errorf("another address: got %d, want 200", r.StatusCode())
		}
		time.Sleep(time.Second/limit + time.Millisecond)
		if first, second := get("GET", "/docs", one), get("GET", "/docs", one); first.StatusCode() != 200 || second.StatusCode() != 429 {
			t.Errorf("after the wait: got %d, then %d; want 200, then 429", first.StatusCode(), second.StatusCode())
		}
	})
}

// Two compressed answers share the same memory.
func TestDocumentIsCompressedOnce(t *testing.T) {
	d := newTestServer(t)
	first := d.send("GET", "/docs", "", "Accept-Encoding", "gzip").Response.Body()
	second := d.send("GET", "/docs", "", "Accept-Encoding", "gzip").Response.Body()
	if len(first) == 0 || &first[0] != &second[0] {
		t.Error("the page was compressed again for the second request")
	}
}
