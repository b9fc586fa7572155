package public

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"pingpost/server/httperror"
)

// A node without an engine answers 503 to requests that need a decision, and marks the answers as not
// decided. Documents need no decision.
func TestServerWithoutEngine(t *testing.T) {
	s := newServer(t)
	e := s.engine.Load()
	s.SetEngine(nil)
	for _, row := range []struct {
		method, path string
		status       int
		decided      bool
	}{
		{"POST", "/api/v1/ingest", 503, false},
		{"POST", "/v1/ping", 503, false},
		{"POST", "/v1/post", 503, false},
		{"POST", "/api/v1/ping", 503, false},
		{"POST", "/oauth/token", 503, false},
		{"POST", "/v1/leads/status", 503, false},
		{"GET", "/v1/leads/lead_01jd", 503, false},
		{"GET", "/api/v1/leads/lead_01jd", 503, false},
		{"POST", "/v1/leads/lead_01jd/status", 503, false},
		{"GET", "/openapi.yaml", 200, true},
		{"GET", "/", 200, true},
		{"GET", "/unknown", 404, true},
		{"PUT", "/api/v1/ingest", 405, true},
	} {
		var c reusedRequest
		c.send(s, row.method+" "+row.path+" HTTP/1.1\r\nHost: x\r\nX-Api-Key: "+supplierKey+"\r\n\r\n", "")
		answer := &c.ctx.Response
		if answer.StatusCode() != row.status || httperror.MaySendAgain(&c.ctx) == row.decided {
			t.Errorf("%s %s: %d, may be sent again: %t", row.method, row.path, answer.StatusCode(), httperror.MaySendAgain(&c.ctx))
		}
		if len(answer.Header.Peek(httperror.HeaderRequestID)) == 0 || row.status == 503 && string(answer.Header.Peek("Retry-After")) != "1" {
			t.Errorf("%s %s: %s", row.method, row.path, answer.Header.String())
		}
	}
	s.SetEngine(e)
	var c reusedRequest
	if c.send(s, ingestHead(ingestBody(0)), ingestBody(0)); c.ctx.Response.StatusCode() != 201 || httperror.MaySendAgain(&c.ctx) {
		t.Errorf("with an engine again: %d %s", c.ctx.Response.StatusCode(), c.ctx.Response.Body())
	}
}

// A client that waits for 100 Continue gets the 503 before it sends its body.
func TestExpectWithoutEngine(t *testing.T) {
	s := newServer(t)
	s.SetEngine(nil)
	var ctx fasthttp.RequestCtx
	ctx.Request.Header.SetMethod("POST")
	ctx.Request.SetRequestURI("/api/v1/ingest")
	if status := s.decideExpectContinue(&ctx); status != 503 || !httperror.MaySendAgain(&ctx) {
		t.Errorf("%d, may be sent again: %t", status, httperror.MaySendAgain(&ctx))
	}
}

// A request keeps the engine that the server had at its start, even if the node loses the leadership
// while the body arrives.
func TestRequestKeepsItsEngine(t *testing.T) {
	s := newServer(t)
	body := ingestBody(0)
	var c reusedRequest
	c.send(s, ingestHead(body), "") // parses the head
	c.ctx.Response.Reset()
	httperror.ClearMaySendAgain(&c.ctx)
	c.ctx.Request.SetBodyStream(io.MultiReader(strings.NewReader(body[:5]), readerFunc(func() { s.SetEngine(nil) }), strings.NewReader(body[5:])), len(body))
	s.handleRequest(&c.ctx)
	if c.ctx.Response.StatusCode() != 201 || !bytes.Contains(c.ctx.Response.Body(), []byte("ACCEPTED")) {
		t.Errorf("%d %s", c.ctx.Response.StatusCode(), c.ctx.Response.Body())
	}
	if s.engine.Load() != nil {
		t.Error("the engine did not change during the request")
	}
}

// readerFunc is called at the first read, and is empty.
type readerFunc func()

func (f readerFunc) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}
