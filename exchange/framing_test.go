package exchange

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestAmbiguousFramingIsRejected: a request with two possible ends, or
// that is not HTTP, gets a JSON error. The connection closes, so no second request can hide in it.
func TestAmbiguousFramingIsRejected(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	lead := leadBody(1)
	length := fmt.Sprintf("Content-Length: %d", len(lead))
	rows := []struct {
		name   string
		text   string
		status int
		code   string
	}{
		{"a length and chunks", ingestRequestFramedBy(chunkedBody(lead, 64), length, "Transfer-Encoding: chunked"), 400, "malformed_request"},
		{"chunks and a length", ingestRequestFramedBy(chunkedBody(lead, 64), "Transfer-Encoding: chunked", length), 400, "malformed_request"},
		{"chunks and a zero length", ingestRequestFramedBy(chunkedBody(lead, 64), "Transfer-Encoding: chunked", "Content-Length: 0"), 400, "malformed_request"},
		{"the same in odd case", ingestRequestFramedBy(chunkedBody(lead, 64), "tRANSFER-eNCODING: Chunked", "cONTENT-lENGTH: 3"), 400, "malformed_request"},
		{"a length and an identity", ingestRequestFramedBy(lead, length, "Transfer-Encoding: identity"), 400, "malformed_request"},
		{"an identity alone", ingestRequestFramedBy(lead, "Transfer-Encoding: identity"), 400, "malformed_request"},
		{"an unknown coding", ingestRequestFramedBy(chunkedBody(lead, 64), "Transfer-Encoding: gzip, chunked"), 400, "malformed_request"},
		{"a coding twice", ingestRequestFramedBy(chunkedBody(lead, 64), "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), 400, "malformed_request"},
		{"a space before the colon", ingestRequestFramedBy(chunkedBody(lead, 64), "Transfer-Encoding : chunked"), 400, "malformed_request"},
		{"two lengths", ingestRequestFramedBy(lead, length, "Content-Length: 5"), 400, "malformed_request"},
		{"the same length twice", ingestRequestFramedBy(lead, length, length), 400, "malformed_request"},
		{"a length with a sign", ingestRequestFramedBy(lead, "Content-Length: +5"), 400, "malformed_request"},
		{"a negative length", ingestRequestFramedBy(lead, "Content-Length: -1"), 400, "malformed_request"},
		{"a length that is a list", ingestRequestFramedBy(lead, "Content-Length: 5, 5"), 400, "malformed_request"},
		{"a length out of range", ingestRequestFramedBy(lead, "Content-Length: 99999999999999999999"), 400, "malformed_request"},
		{"a chunk without a length", ingestRequestFramedBy("zz\r\n{}\r\n0\r\n\r\n", "Transfer-Encoding: chunked"), 400, "malformed_request"},
		{"a chunk longer than its size", ingestRequestFramedBy("1\r\n{}\r\n0\r\n\r\n", "Transfer-Encoding: chunked"), 400, "malformed_request"},
		{"a NUL in a header", ingestRequest(lead, "X-Odd: a\x00b"), 400, "malformed_request"},
		{"a bare CR in a header", ingestRequest(lead, "X-Odd: a\rb"), 400, "malformed_request"},
		{"a header without a colon", ingestRequest(lead, "X-Odd"), 400, "malformed_request"},
		{"a header with a space in its name", ingestRequest(lead, "X Odd: a"), 400, "malformed_request"},
		{"a folded header", ingestRequest(lead, "X-Odd: a", " b"), 400, "malformed_request"},
		{"two hosts", ingestRequest(lead, "Host: y"), 400, "malformed_request"},
		{"not HTTP", "HELO example.com\r\n\r\n", 400, "malformed_request"},
		{"a TLS handshake", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400, "malformed_request"},
		{"a header over the limit", ingestRequest(lead, "X-Odd: "+strings.Repeat("a", 1<<20)), 431, "header_too_large"},
		{"a path over the limit", "POST /" + strings.Repeat("a", 1<<20) + " HTTP/1.1\r\nHost: x\r\n\r\n", 431, "header_too_large"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			w := dial(t, x.PublicAddress())
			w.send(row.text + ingestRequest(lead))
			w.readAnswer("POST").mustFail(t, row.status, row.code)
			w.mustBeClosed()
		})
	}
	if leads := x.state.LeadCountWithExpired(); leads != 0 {
		t.Errorf("%d leads were accepted, want none", leads)
	}
}

// TestUnusualFramingIsAccepted: unusual requests with one interpretation are accepted.
func TestUnusualFramingIsAccepted(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	old := strings.Replace(ingestRequest(leadBody(1)), "HTTP/1.1", "HTTP/1.0", 1)
	rows := []struct {
		name string
		text string
		ends bool
	}{
		{"plain", ingestRequest(leadBody(1)), false},
		{"chunks", ingestRequestFramedBy(chunkedBody(leadBody(1), 7), "Transfer-Encoding: chunked"), false},
		{"one chunk", ingestRequestFramedBy(chunkedBody(leadBody(1), 1<<16), "Transfer-Encoding: CHUNKED"), false},
		{"HTTP/1.0", old, true},
		{"HTTP/1.0 with keep-alive", strings.Replace(old, "Host", "Connection: keep-alive\r\nHost", 1), false},
		{"Connection: close", ingestRequest(leadBody(1), "Connection: close"), true},
		{"lower case", strings.Replace(ingestRequest(leadBody(1)), "X-Api-Key", "x-api-key", 1), false},
		{"a charset", strings.Replace(ingestRequest(leadBody(1)), "application/json", "Application/JSON ; charset=utf-8", 1), false},
		{"an empty query", strings.Replace(ingestRequest(leadBody(1)), "/ingest", "/ingest?", 1), false},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			w := dial(t, x.PublicAddress())
			w.send(row.text)
			w.readAnswer("POST").mustHave(t, 201)
			if row.ends {
				w.mustBeClosed()
				return
			}
			w.send(ingestRequest(leadBody(2)))
			w.readAnswer("POST").mustHave(t, 201)
		})
	}
}

// TestPipelinedRequests: requests that arrive together are answered one by one, in order.
func TestPipelinedRequests(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	w := dial(t, x.PublicAddress())
	var all strings.Builder
	const many = 50
	for i := range many {
		switch i % 3 {
		case 0:
			all.WriteString(ingestRequest(leadBody(i)))
		case 1:
			all.WriteString(ingestRequest("{"))
		default:
			all.WriteString(ingestRequestFramedBy(chunkedBody(leadBody(i), 50), "Transfer-Encoding: chunked"))
		}
	}
	go w.send(all.String())
	ids := make(map[string]bool)
	for i := range many {
		a := w.readAnswer("POST")
		if i%3 == 1 {
			a.mustFail(t, 400, "malformed_json")
		} else if a.status != 201 {
			t.Fatalf("request %d: %d %s", i, a.status, a.body)
		}
		ids[a.requestID()] = true
	}
	if len(ids) != many {
		t.Errorf("%d request ids for %d requests", len(ids), many)
	}
}

// TestOversizedBodyIsRejected: in all encodings, after the check of the credential, and while the
// client still sends.
func TestOversizedBodyIsRejected(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	withInvalidKey := func(request string) string { return strings.Replace(request, acmeKey, "nobody", 1) }
	toUnknownPath := func(request string) string { return strings.Replace(request, "/ingest", "/elsewhere", 1) }
	withWrongMethod := func(request string) string { return strings.Replace(request, "POST", "PUT", 1) }
	atLimit := leadBody(1, "note", `"`+strings.Repeat("n", 64<<10-len(leadBody(1, "note", `""`)))+`"`)
	manySpaces := strings.Repeat(" ", 10<<20)
	if testing.Short() {
		manySpaces = manySpaces[:2<<20] // still more than the server drains
	}
	for _, form := range []struct {
		name  string
		frame func(body string) string
	}{
		{"plain", func(body string) string { return ingestRequest(body) }},
		{"in chunks", func(body string) string {
			return ingestRequestFramedBy(chunkedBody(body, 1000), "Transfer-Encoding: chunked")
		}},
		{"Expect: 100-continue", func(body string) string { return ingestRequest(body, "Expect: 100-continue") }},
	} {
		for _, row := range []struct {
			name   string
			text   string
			status int
			code   string
		}{
			{"one byte over", form.frame(atLimit + " "), 413, "payload_too_large"},
			{"megabytes over", form.frame(atLimit + manySpaces), 413, "payload_too_large"},
			{"one byte over, invalid key", withInvalidKey(form.frame(atLimit + " ")), 401, "unauthorized"},
			{"megabytes over, invalid key", withInvalidKey(form.frame(atLimit + manySpaces)), 401, "unauthorized"},
			{"megabytes over, unknown path", toUnknownPath(form.frame(atLimit + manySpaces)), 404, "not_found"},
			{"megabytes over, wrong method", withWrongMethod(form.frame(atLimit + manySpaces)), 405, "method_not_allowed"},
		} {
			t.Run(form.name+"/"+row.name, func(t *testing.T) {
				w := dial(t, x.PublicAddress())
				go w.send(row.text)
				a := w.readAnswer("POST")
				if a.status == 100 {
					a = w.readAnswer("POST")
				}
				a.mustFail(t, row.status, row.code)
				w.mustBeClosed()
			})
		}
	}
	w := dial(t, x.PublicAddress())
	w.send(ingestRequest(atLimit))
	w.readAnswer("POST").mustHave(t, 201)
}

// TestSlowRequestTimesOut: a slow client gets a 408 in any part of its request.
func TestSlowRequestTimesOut(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig+"limits: {read_timeout: 200ms}\n"))
	request := ingestRequest(leadBody(1))
	_, body, _ := strings.Cut(request, "\r\n\r\n")
	for name, sentAtOnce := range map[string]int{"in the request line": 0, "in the header": 40, "in the body": len(request) - len(body) + 5} {
		t.Run(name, func(t *testing.T) {
			w := dial(t, x.PublicAddress())
			answered := make(chan struct{})
			// Not w.send, which also records the text for the reader of the answer.
			send := func(text string) { _, _ = io.WriteString(w.Conn, text) }
			go func() {
				send(request[:sentAtOnce])
				for i := sentAtOnce; i < len(request); i++ {
					select {
					case <-answered:
						return
					default:
					}
					send(request[i : i+1])
					pauseSlowClient()
				}
			}()
			w.readAnswer("POST").mustFail(t, 408, "request_timeout")
			close(answered)
			w.mustBeClosed()
		})
	}
}

// TestIdleConnectionIsClosed: without an answer.
func TestIdleConnectionIsClosed(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig+"limits: {idle_timeout: 200ms}\n"))
	w := dial(t, x.PublicAddress())
	w.send(ingestRequest(leadBody(1)))
	w.readAnswer("POST").mustHave(t, 201)
	w.mustBeClosed()
}
