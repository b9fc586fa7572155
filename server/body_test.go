package server

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

func TestIdempotencyKey(t *testing.T) {
	long := strings.Repeat("k", 255)
	for _, row := range []struct {
		header, key string
		ok          bool
	}{
		{"", "", true},
		{"k", "k", true},
		{" k\t", "k", true},
		{`"k"`, "k", true},
		{`""k""`, `"k"`, true},
		{`"k`, `"k`, true},
		{`"`, `"`, true},
		{`""`, "", false},
		{`" "`, "", false},
		{"a b", "", false},
		{"a\x7f", "", false},
		{"ü", "", false},
		{long, long, true},
		{`"` + long + `"`, long, true},
		{long + "k", "", false},
		{`"` + long + `k"`, "", false},
	} {
		var header fasthttp.RequestHeader
		header.Set("Idempotency-Key", row.header)
		key, ok := idempotencyKey(&header)
		if string(key) != row.key || ok != row.ok {
			t.Errorf("%q: %q, %v, want %q, %v", row.header, key, ok, row.key, row.ok)
		}
	}
}

func TestIsJSON(t *testing.T) {
	for kind, want := range map[string]bool{
		"application/json": true, "APPLICATION/Json": true, "application/json;charset=utf-8": true, " application/json ; q": true,
		"": false, ";": false, "json": false, "text/json": false, "application/jsonx": false, "application/json, text/plain": false,
		"application/problem+json": false, "application/ json": false,
	} {
		if got := isJSON([]byte(kind)); got != want {
			t.Errorf("%q: %v", kind, got)
		}
	}
}

// TestJudgeHead: heads that the HTTP library reads and another might read
// otherwise. It refuses the rest itself; the exchange's tests show that.
func TestJudgeHead(t *testing.T) {
	for lines, want := range map[string]bool{
		"":                                false,
		"Content-Length: 5\r\n":           false,
		"Transfer-Encoding: chunked\r\n":  false,
		"X-Transfer-Encoding: a\r\n":      false,
		"Contents-Length: 5\r\n":          false,
		"A:b:c\r\nB:\r\nC: \r\n":          false,
		"Transfer-Encoding: identity\r\n": true,
		"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n":        true,
		"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n":        true,
		"content-length: 0\r\ntransfer-encoding: CHUNKED\r\n":        true,
		"Content-Length: 5\r\nTransfer-Encoding: identity\r\n":       true,
		"A: b\r\n Content-Length: 5\r\n":                             true,
		"A: b\r\n\tc\r\n":                                            true,
		"A B: c\r\n":                                                 true,
		"X-Api-Key: a\r\nIdempotency-Key: b\r\nAuthorization: c\r\n": false,
		"X-Api-Key: a\r\nx-api-key: a\r\n":                           true,
		"Idempotency-Key: a\r\nA: b\r\nidempotency-KEY:\r\n":         true,
		"Authorization: a\r\nauthorization: b\r\n":                   true,
	} {
		var header fasthttp.RequestHeader
		if err := header.Read(bufio.NewReader(strings.NewReader("POST / HTTP/1.1\r\nHost: x\r\n" + lines + "\r\n"))); err != nil {
			t.Errorf("%q: %v", lines, err)
			continue
		}
		if got := judgeHead(&header) != (fault{}); got != want {
			t.Errorf("%q: %v, want %v", lines, got, want)
		}
	}
}

func TestVersions(t *testing.T) {
	for version, want := range map[string]int{
		"HTTP/1.1": 0, "HTTP/1.0": 0, "HTTP/1.2": 505, "HTTP/2.0": 505, "HTTP/0.9": 505, "HTTP/9.9": 505,
	} {
		var header fasthttp.RequestHeader
		if err := header.Read(bufio.NewReader(strings.NewReader("POST / " + version + "\r\nHost: x\r\n\r\n"))); err != nil {
			t.Errorf("%s: %v", version, err)
			continue
		}
		if got := judgeHead(&header).status; got != want {
			t.Errorf("%s: %d, want %d", version, got, want)
		}
	}
}

// TestExactPath: one spelling of a path is a path of ours.
func TestExactPath(t *testing.T) {
	for uri, want := range map[string]string{
		"/api/v1/ingest":           "/api/v1/ingest",
		"/api/v1/ingest?a=b":       "/api/v1/ingest",
		"//api/v1/ingest":          "//api/v1/ingest",
		"/api/v1/%69ngest":         "/api/v1/%69ngest",
		"/a/../api/v1/ingest":      "/a/../api/v1/ingest",
		"http://x/api/v1/ingest":   "/api/v1/ingest",
		"http://X/api/v1/ingest":   "/api/v1/ingest",
		"http://y/api/v1/ingest":   "",
		"http://xy/api/v1/ingest":  "",
		"http://a@x/api/v1/ingest": "",
		"http://x":                 "",
		"*":                        "",
	} {
		var header fasthttp.RequestHeader
		header.SetRequestURI(uri)
		header.SetHost("x")
		if got := string(exactPath(&header)); got != want {
			t.Errorf("%s: %q, want %q", uri, got, want)
		}
	}
}

// broken gives some bytes, and then an error.
type broken struct {
	text io.Reader
	err  error
}

func (b broken) Read(p []byte) (int, error) {
	n, err := b.text.Read(p)
	if errors.Is(err, io.EOF) {
		err = b.err
	}
	return n, err
}

func TestReadBody(t *testing.T) {
	s := &Server{opt: Options{Body: 4000}}
	text := func(length int) io.Reader { return strings.NewReader(strings.Repeat("b", length)) }
	for name, row := range map[string]struct {
		stream io.Reader
		length int // as the head says; -1 in chunks
		want   fault
		ends   bool
	}{
		"none":                        {nil, 0, fault{}, false},
		"empty":                       {text(0), 0, fault{}, false},
		"short":                       {text(10), 10, fault{}, false},
		"longer than an ordinary one": {text(3000), 3000, fault{}, false},
		"at the limit":                {text(4000), 4000, fault{}, false},
		"in chunks, at the limit":     {text(4000), -1, fault{}, false},
		"over the limit":              {text(4001), 4001, faultTooLarge, true},
		"in chunks, over the limit":   {text(4001), -1, faultTooLarge, true},
		"without an end":              {text(1 << 24), -1, faultTooLarge, true},
		"cut off":                     {text(5), 10, faultFraming, true},
		"no chunks":                   {broken{text(5), errors.New("no chunk")}, -1, faultFraming, true},
		"too slow":                    {broken{text(5), os.ErrDeadlineExceeded}, 10, faultSlow, true},
	} {
		t.Run(name, func(t *testing.T) {
			var ctx fasthttp.RequestCtx
			if row.stream != nil {
				ctx.Request.SetBodyStream(row.stream, row.length)
			}
			r := new(room)
			got := s.readBody(&ctx, r)
			if got != row.want || ctx.Response.ConnectionClose() != row.ends {
				t.Errorf("%+v, connection ends: %v", got, ctx.Response.ConnectionClose())
			}
			if got.status == 0 && row.length > 0 && len(r.body) != row.length {
				t.Errorf("%d bytes", len(r.body))
			}
		})
	}
	r := &room{body: make([]byte, keptBody+1)}
	if r.giveBack(); r.body != nil {
		t.Error("the memory of a huge body is kept")
	}
}
