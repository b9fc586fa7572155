package request

import (
	"bufio"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"pingpost/server/httperror"
)

func TestIsJSON(t *testing.T) {
	for kind, want := range map[string]bool{
		"application/json": true, "APPLICATION/Json": true, "application/json;charset=utf-8": true, " application/json ; q": true,
		"": false, ";": false, "json": false, "text/json": false, "application/jsonx": false, "application/json, text/plain": false,
		"application/problem+json": false, "application/ json": false,
	} {
		if got := IsJSON([]byte(kind)); got != want {
			t.Errorf("%q: %v", kind, got)
		}
	}
}

// The table has heads that the HTTP library accepts and another one might read
// differently. The library rejects the others itself.
func TestAmbiguousHeadIsRejected(t *testing.T) {
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
		"A: b\nC: d\r\n":                                             true,
	} {
		var header fasthttp.RequestHeader
		if err := header.Read(bufio.NewReader(strings.NewReader("POST / HTTP/1.1\r\nHost: x\r\n" + lines + "\r\n"))); err != nil {
			t.Errorf("%q: %v", lines, err)
			continue
		}
		if got := checkTargetVersionAndHeaders(&header) != (httperror.Error{}); got != want {
			t.Errorf("%q: %v, want %v", lines, got, want)
		}
	}
}

func TestHTTPVersions(t *testing.T) {
	for version, want := range map[string]int{
		"HTTP/1.1": 0, "HTTP/1.0": 0, "HTTP/1.2": 505, "HTTP/2.0": 505, "HTTP/0.9": 505, "HTTP/9.9": 505,
	} {
		var header fasthttp.RequestHeader
		if err := header.Read(bufio.NewReader(strings.NewReader("POST / " + version + "\r\nHost: x\r\n\r\n"))); err != nil {
			t.Errorf("%s: %v", version, err)
			continue
		}
		if got := checkTargetVersionAndHeaders(&header).Status; got != want {
			t.Errorf("%s: %d, want %d", version, got, want)
		}
	}
}

// A path has exactly one valid spelling.
func TestPathSpellings(t *testing.T) {
	for uri, want := range map[string]string{
		"/api/v1/ingest":          "/api/v1/ingest",
		"/api/v1/ingest?a=b":      "/api/v1/ingest",
		"//api/v1/ingest":         "//api/v1/ingest",
		"/api/v1/%69ngest":        "/api/v1/%69ngest",
		"/a/../api/v1/ingest":     "/a/../api/v1/ingest",
		"http://x/api/v1/ingest":  "/api/v1/ingest",
		"http://X/api/v1/ingest":  "/api/v1/ingest",
		"http://y/api/v1/ingest":  "/api/v1/ingest",
		"HTTPS://y:1/api/v1/a?b":  "/api/v1/a",
		"http://x":                "/",
		"http://x?/api/v1/ingest": "/",
		"ftp://x/api/v1/ingest":   "",
		"x://http://x/api":        "",
		"*":                       "",
	} {
		var header fasthttp.RequestHeader
		header.SetRequestURI(uri)
		header.SetHost("x")
		if got := string(TargetPath(&header)); got != want {
			t.Errorf("%s: %q, want %q", uri, got, want)
		}
	}
}
