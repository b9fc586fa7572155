//go:build !race

package public

import (
	"bytes"
	"fmt"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"pingpost/engine/auction"
	"pingpost/engine/market"
	"pingpost/internal/trace"
	"pingpost/server/metrics"
)

// leadSender returns a function that has a server take an accepted lead.
func leadSender(t *testing.T, s *Server, leads int) func() {
	filled(t, s)
	bodies := make([][]byte, leads)
	for i := range bodies {
		bodies[i] = []byte(fmt.Sprintf("%-260s", leadOf(i))) // white space makes all equally long
	}
	var c call
	c.make(s, headOf(string(bodies[0])), string(bodies[0]))
	number := 0
	return func() {
		number++
		c.ctx.Response.Reset()
		c.body.Reset(bodies[number])
		c.ctx.Request.SetBodyStream(&c.body, len(bodies[number]))
		s.handleRequest(&c.ctx)
		if c.ctx.Response.StatusCode() != 201 || !bytes.Contains(c.ctx.Response.Body(), []byte("ACCEPTED")) {
			t.Fatalf("%d %s", c.ctx.Response.StatusCode(), c.ctx.Response.Body())
		}
	}
}

// TestAllocOfAnIngest: an accepted lead, from the request as the HTTP library hands it over to
// the answer, with the log in memory. A request that is not traced allocates as much with a
// tracer as without one, and a request that is traced little more.
func TestAllocOfAnIngest(t *testing.T) {
	const runs = 20_000 // enough for the state's tables to have grown
	allocations := func(sample market.ShareInMillionths) float64 {
		s := newServer(t)
		if sample >= 0 { // for a collector that is not there
			s.opt.Traces = trace.New(trace.Options{Endpoint: "http://127.0.0.1:1", Sample: sample, Logger: slog.New(slog.DiscardHandler)})
			t.Cleanup(func() { s.opt.Traces.Close(time.Millisecond) })
		}
		return testing.AllocsPerRun(runs, leadSender(t, s, runs+2))
	}
	off, none, all := allocations(-1), allocations(0), allocations(market.WholeShare)
	if off > 15 || none > off || all > off+4 {
		t.Errorf("%.1f allocations without a tracer, at most 15; %.1f where nothing is traced, %.1f where all is", off, none, all)
	}
}

// TestAllocOfAPing: an auction with two bids, from the request to the answer, with
// the log in memory and buyers that answer at once.
func TestAllocOfAPing(t *testing.T) {
	h := holding(t)
	bearer := h.token("acme", "ping")
	const runs = 2000
	pings := make([]string, runs+2)
	for i := range pings {
		pings[i] = with(aPing, "auction_id", fmt.Sprintf(`"auction-%06d"`, i))
	}
	head := func(i int) string {
		return fmt.Sprintf("POST /v1/ping HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nIdempotency-Key: key-%06d\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
			bearer, i, len(pings[i]))
	}
	var c call
	c.make(h.Server, head(0), pings[0])
	number := 0
	allocations := testing.AllocsPerRun(runs, func() {
		number++
		c.ctx.Response.Reset()
		c.ctx.Request.Header.SetBytesV("Idempotency-Key", strconv.AppendInt(nil, int64(number), 10))
		c.body.Reset([]byte(pings[number]))
		c.ctx.Request.SetBodyStream(&c.body, len(pings[number]))
		h.handleRequest(&c.ctx)
	})
	if c.ctx.Response.StatusCode() != 200 || !bytes.Contains(c.ctx.Response.Body(), []byte(`"bid":{`)) {
		t.Fatalf("%d %s", c.ctx.Response.StatusCode(), c.ctx.Response.Body())
	}
	t.Logf("%.1f allocations", allocations)
	if allocations > 40 {
		t.Errorf("%.1f allocations for a ping, at most 40", allocations)
	}
}

// TestAllocOfCounting: once their counters are there, an auction and a post are
// counted without memory.
func TestAllocOfCounting(t *testing.T) {
	m := metrics.NewMeter(func(string, error) {})
	cars := &market.Campaign{ID: "cars"}
	held := &auction.AuctionSummary{Elapsed: 30e6, Pings: []auction.PingSummary{{Buyer: &market.Buyer{ID: "buy_a"}, Elapsed: 10e6}}}
	held.Outcomes[market.OutcomeWon] = 1
	down := &market.PostResult{Verdict: market.VerdictUnknown}
	if n := testing.AllocsPerRun(100, func() {
		m.AuctionHeld(cars, nil, held)
		m.PostAttempted("buy_a", down)
	}); n > 0 {
		t.Errorf("%.0f allocations", n)
	}
}

func BenchmarkIngest(b *testing.B) {
	s := newServer(b)
	filled(b, s)
	leads := make([][]byte, 1<<16)
	for i := range leads {
		leads[i] = []byte(fmt.Sprintf("%-260s", leadOf(i)))
	}
	var c call
	c.make(s, headOf(string(leads[0])), string(leads[0]))
	b.ReportAllocs()
	for i := 1; b.Loop(); i++ {
		lead := leads[i%len(leads)]
		c.ctx.Response.Reset()
		c.body.Reset(lead)
		c.ctx.Request.SetBodyStream(&c.body, len(lead))
		s.handleRequest(&c.ctx)
	}
}
