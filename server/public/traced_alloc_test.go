//go:build !race

package public

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"pingpost/engine/market"
	"pingpost/internal/trace"
)

// tracing has a server trace a share of its requests, for a collector that is not there.
func tracing(t testing.TB, s *Server, sample market.PriceShare) {
	t.Helper()
	s.opt.Traces = trace.New(trace.Options{Endpoint: "http://127.0.0.1:1", Sample: sample, Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() { s.opt.Traces.Close(time.Millisecond) })
}

// sender has a server take a lead each time it is called.
func sender(t testing.TB, s *Server, leads int) func() {
	filled(t, s)
	bodies := make([][]byte, leads)
	for i := range bodies {
		bodies[i] = []byte(fmt.Sprintf("%-260s", leadOf(i)))
	}
	var c call
	c.make(s, headOf(string(bodies[0])), string(bodies[0]))
	number := 0
	return func() {
		number = (number + 1) % len(bodies)
		c.ctx.Response.Reset()
		c.body.Reset(bodies[number])
		c.ctx.Request.SetBodyStream(&c.body, len(bodies[number]))
		s.handle(&c.ctx)
		if c.ctx.Response.StatusCode() != 201 {
			t.Fatalf("%d %s", c.ctx.Response.StatusCode(), c.ctx.Response.Body())
		}
	}
}

// TestAllocOfTraces: a request that is not traced allocates as much with a tracer as without
// one, and a request that is traced little more.
func TestAllocOfTraces(t *testing.T) {
	const runs = 20_000
	allocations := func(traced func(*Server)) float64 {
		s := newServer(t)
		traced(s)
		return testing.AllocsPerRun(runs, sender(t, s, runs+2))
	}
	off := allocations(func(*Server) {})
	none := allocations(func(s *Server) { tracing(t, s, 0) })
	all := allocations(func(s *Server) { tracing(t, s, market.WholeShare) })
	t.Logf("%.1f allocations without a tracer, %.1f where nothing is traced, %.1f where all is", off, none, all)
	if none > off || all > off+4 {
		t.Errorf("%.1f allocations without a tracer, %.1f where nothing is traced, %.1f where all is", off, none, all)
	}
}

func BenchmarkTracedIngest(b *testing.B) {
	for name, sample := range map[string]market.PriceShare{"off": -1, "none": 0, "hundredth": 10_000, "all": market.WholeShare} {
		b.Run(name, func(b *testing.B) {
			s := newServer(b)
			if sample >= 0 {
				tracing(b, s, sample)
			}
			send := sender(b, s, 1<<16)
			b.ReportAllocs()
			for b.Loop() {
				send()
			}
		})
	}
}
