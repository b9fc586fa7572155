package public

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/internal/trace"
	"pingpost/server/httperror"
)

// A panic is answered with 500 and logged with its stack, without data of the request.
func TestPanicIsAnsweredAndLogged(t *testing.T) {
	var empty []int
	for name, row := range map[string]struct {
		bug  func()
		want string
	}{
		"runtime error": {func() { empty[len(empty)+3]++ }, "index out of range"},
		"BUG message":   {func() { panic("BUG: not a document: of Ann") }, "BUG: not a document"},
		"string":        {func() { panic("Ann") }, "cause=string"},
		"error":         {func() { panic(errors.New("Ann")) }, "errorString"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			var ctx fasthttp.RequestCtx
			func() {
				defer func() {
					httperror.LogPanicAndWriteInternal(&ctx, httperror.NewRequestID(), recover(), slog.New(slog.NewTextHandler(&log, nil)))
				}()
				row.bug()
			}()
			if ctx.Response.StatusCode() != 500 || !ctx.Response.ConnectionClose() || !strings.Contains(string(ctx.Response.Body()), `"internal"`) {
				t.Errorf("%s", &ctx.Response)
			}
			if !strings.Contains(log.String(), row.want) || strings.Contains(log.String(), "Ann") || !strings.Contains(log.String(), "panic_test.go") {
				t.Errorf("no %q in %s", row.want, &log)
			}
		})
	}
}

// A panic ends only its request, and the scratch memory of that request is not reused.
func TestServerOutlivesPanic(t *testing.T) {
	s := newServer(t)
	fillBucket(t, s)
	limits := s.ingestLimits.buckets.Load()
	s.ingestLimits.buckets.Store(nil)
	var c reusedRequest
	c.send(s, ingestHead(ingestBody(1)), ingestBody(1))
	if c.ctx.Response.StatusCode() != 500 {
		t.Errorf("%s", &c.ctx.Response)
	}
	s.ingestLimits.buckets.Store(limits)
	c.send(s, ingestHead(ingestBody(1)), ingestBody(1))
	if c.ctx.Response.StatusCode() != fasthttp.StatusCreated {
		t.Errorf("next request: got %s, want 201", &c.ctx.Response)
	}
}

// A panic in a handler is counted and traced under the path of the request.
func TestPanicIsCountedUnderItsPath(t *testing.T) {
	s := newServer(t)
	collected := make(chan string, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		text, _ := io.ReadAll(req.Body)
		collected <- string(text)
	}))
	defer collector.Close()
	s.opt.Traces = trace.New(trace.Options{Endpoint: collector.URL, Sample: market.WholeShare, Logger: slog.New(slog.DiscardHandler)})
	s.ingestLimits.buckets.Store(nil)
	var c reusedRequest
	c.send(s, ingestHead(ingestBody(1)), ingestBody(1))
	var metrics bytes.Buffer
	s.opt.Meter.WriteMetrics(&metrics)
	if !strings.Contains(metrics.String(), `pingpost_requests_total{path="/api/v1/ingest",status="500"} 1`+"\n") {
		t.Error("the panic is not counted under /api/v1/ingest")
	}
	s.opt.Traces.Close(10 * time.Second)
	select {
	case text := <-collected:
		if !strings.Contains(text, "/api/v1/ingest") || !strings.Contains(text, "internal") {
			t.Errorf("trace of the panic: got %q, want path and error", text)
		}
	default:
		t.Error("the panic has no trace")
	}
}
