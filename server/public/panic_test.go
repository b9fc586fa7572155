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

// TestPanicked checks that a panic is answered 500 and logged with its stack, without data
// of the request.
func TestPanicked(t *testing.T) {
	var none []int
	for name, row := range map[string]struct {
		bug  func()
		want string
	}{
		"a runtime's": {func() { none[len(none)+3]++ }, "index out of range"},
		"a bug's":     {func() { panic("BUG: not a document: of Ann") }, "BUG: not a document"},
		"another's":   {func() { panic("Ann") }, "cause=string"},
		"an error's":  {func() { panic(errors.New("Ann")) }, "errorString"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			var ctx fasthttp.RequestCtx
			func() {
				defer func() {
					httperror.WritePanic(&ctx, httperror.NewRequestID(), recover(), slog.New(slog.NewTextHandler(&log, nil)))
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

// TestServerOutlivesPanic checks that a panic ends one request only, and that its scratch
// memory is not reused.
func TestServerOutlivesPanic(t *testing.T) {
	s := newServer(t)
	filled(t, s)
	limits := s.ingestLimits.buckets.Load()
	s.ingestLimits.buckets.Store(nil)
	var c call
	c.make(s, headOf(leadOf(1)), leadOf(1))
	if c.ctx.Response.StatusCode() != 500 {
		t.Errorf("%s", &c.ctx.Response)
	}
	s.ingestLimits.buckets.Store(limits)
	c.make(s, headOf(leadOf(1)), leadOf(1))
	if c.ctx.Response.StatusCode() != fasthttp.StatusCreated {
		t.Errorf("the next one: %s", &c.ctx.Response)
	}
}

// TestPanicIsCountedUnderItsRoute checks that a panic in a handler is counted and traced
// under the path of the request.
func TestPanicIsCountedUnderItsRoute(t *testing.T) {
	s := newServer(t)
	collected := make(chan string, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		text, _ := io.ReadAll(req.Body)
		collected <- string(text)
	}))
	defer collector.Close()
	s.opt.Traces = trace.New(trace.Options{Endpoint: collector.URL, Sample: market.WholeShare, Logger: slog.New(slog.DiscardHandler)})
	s.ingestLimits.buckets.Store(nil)
	var c call
	c.make(s, headOf(leadOf(1)), leadOf(1))
	var figures bytes.Buffer
	s.opt.Meter.WriteMetrics(&figures)
	if !strings.Contains(figures.String(), `pingpost_requests_total{path="/api/v1/ingest",status="500"} 1`+"\n") {
		t.Error("the panic is not counted under /api/v1/ingest")
	}
	s.opt.Traces.Close(10 * time.Second)
	select {
	case text := <-collected:
		if !strings.Contains(text, "/api/v1/ingest") || !strings.Contains(text, "internal") {
			t.Errorf("the trace of the panic: %q", text)
		}
	default:
		t.Error("the panic has no trace")
	}
}
