package dial

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

// spacesBeforeColon matches spaces between a header's name and its colon. RFC 9112, 5.1,
// removes them from answers; net/http treats them as a part of the name.
var spacesBeforeColon = regexp.MustCompile(`(?m)^([^\s:]+)[ \t]+:`)

// readByNetHTTP returns the first final answer as net/http reads it.
func readByNetHTTP(raw []byte) (status int, body []byte, err error) {
	head := raw[:len(raw)-len(afterHead(raw))]
	raw = append(spacesBeforeColon.ReplaceAll(head, []byte("$1:")), raw[len(head):]...)
	in := bufio.NewReaderSize(bytes.NewReader(raw), HeadLimit)
	for range maxInterim {
		response, err := http.ReadResponse(in, &http.Request{Method: http.MethodPost})
		if err != nil {
			return 0, nil, err
		}
		if status = response.StatusCode; status >= 200 || status == http.StatusSwitchingProtocols {
			body, err = io.ReadAll(response.Body)
			_ = response.Body.Close()
			return status, body, err
		}
		_ = response.Body.Close()
	}
	return 0, nil, errInterim
}

// afterHead returns the bytes from the first empty line on.
func afterHead(raw []byte) []byte {
	for i := range raw {
		for _, end := range headEnds {
			if bytes.HasPrefix(raw[i:], end) {
				return raw[i:]
			}
		}
	}
	return nil
}

// FuzzRawAnswer reads arbitrary bytes as an answer. Reading ends and respects its limit.
// If it accepts the whole answer, status and body are those that net/http reads. So
// neither half an answer nor the end of another one can sell a lead.
func FuzzRawAnswer(f *testing.F) {
	const body = `{"lead_id":"x"}`
	for _, raw := range []string{
		"HTTP/1.1 201 Created\r\nContent-Length: 15\r\n\r\n" + body, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nf\r\n" + body + "\r\n0\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n" + body,
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n" + body, "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n" + body, "HTTP/1.1 200 OK\r\nContent-Length: 15\r\nTransfer-Encoding: chunked\r\n\r\nf\r\n" + body + "\r\n0\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 15\r\n\r\n" + body, strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", 9), "HTTP/1.1 204 No Content\r\nContent-Length: 15\r\n\r\n" + body, "HTTP/1.1 304 Not Modified\r\n\r\n" + body,
		"HTTP/1.1 101 Switching Protocols\r\n\r\nxyz", "HTTP/1.0 200 OK\r\n\r\n" + body, "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nf\r\n" + body + "\r\n0\r\n\r\n", "HTTP/1.1 200\r\nContent-Length: 15\r\n\r\n" + body, "HTTP/1.1 200 OK\nContent-Length: 15\n\n" + body,
		"HTTP/1.1 200 OK\r\nContent-Length: 15\r\nContent-Length: 15\r\n\r\n" + body, "HTTP/1.1 200 OK\r\nContent-Length: 15\r\nContent-Length: 5\r\n\r\n" + body, "HTTP/1.1 200 OK\r\nContent-Length: 0xf\r\n\r\n" + body, "HTTP/1.1 200 OK\r\nContent-Length: +15\r\n\r\n" + body,
		"HTTP/1.1 200 OK\r\nX: a\r\n Content-Length: 5\r\nContent-Length: 15\r\n\r\n" + body, "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n" + body, "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 15\r\n\r\n" + body, "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 99 Low\r\n\r\n", "HTTP/1.1 000 None\r\n\r\n", "HTTP/1.1 1000 High\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\n\r\nmore", "HTTP/1.1 200 OK\r\nContent-Length : 15\r\n\r\n" + body,
		"HTTP/1.1 200 OK\r\nBig: " + strings.Repeat("x", HeadLimit) + "\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 15\r\nContent-Encoding: gzip\r\n\r\n" + body, "", "\r\n", "<html>", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 503 \r\nRetry-After: 1\r\n\r\n",
	} {
		f.Add([]byte(raw))
	}
	const limit = 64 << 10
	hosts := New(Options{MaxResponse: limit})
	f.Cleanup(hosts.Close)
	h := hostConns{hosts: hosts}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var response fasthttp.Response
		status, err := h.readHeadThenBody(bufio.NewReaderSize(bytes.NewReader(raw), HeadLimit), &response)
		if err != nil {
			return
		}
		wantStatus, body, err := readByNetHTTP(raw)
		if status == http.StatusSwitchingProtocols {
			body = nil // it is no longer HTTP
		}
		if err != nil || wantStatus != status || !bytes.Equal(response.Body(), body) || len(body) > limit {
			t.Fatalf("%q\nis %d %q; net/http reads %d %q, %v", raw, status, response.Body(), wantStatus, body, err)
		}
	})
}
