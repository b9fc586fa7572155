package server

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

// TestPanicked: a handler's panic is a 500 to its caller and a line with the
// stack to the operator; neither says what the request held.
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
			s := newServer(t)
			s.opt.Logger = slog.New(slog.NewTextHandler(&log, nil))
			var c call
			func() {
				defer func() {
					if cause := recover(); cause != nil {
						panicked(&c.ctx, newRequestID(), cause, s.opt.Logger)
					}
				}()
				row.bug()
			}()
			if c.ctx.Response.StatusCode() != 500 || !c.ctx.Response.ConnectionClose() || !strings.Contains(string(c.ctx.Response.Body()), `"internal"`) {
				t.Errorf("%s", &c.ctx.Response)
			}
			if !strings.Contains(log.String(), row.want) || strings.Contains(log.String(), "Ann") || !strings.Contains(log.String(), "panicked_test.go") {
				t.Errorf("no %q in %s", row.want, &log)
			}
		})
	}
}

// TestServerOutlivesPanic: what panics on the way of a lead ends its request
// alone, and the room it had is not given to another.
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
