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

// leadSender returns a function that sends a lead, which must be accepted.
func leadSender(t *testing.T, s *Server, leads int) func() {
	fillBucket(t, s)
	bodies := make([][]byte, leads)
	for i := range bodies {
		bodies[i] = []byte(fmt.Sprintf("%-260s", ingestBody(i))) // padded, so that all bodies have the same length
	}
	var c reusedRequest
	c.send(s, ingestHead(string(bodies[0])), string(bodies[0]))
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

// The test counts the allocations of an accepted lead, from the parsed request to the
// answer. An untraced request allocates as much with a tracer as without one, and a traced
// request little more.
func TestIngestAllocations(t *testing.T) {
	const runs = 20_000 // the state's tables must have grown
	allocations := func(sample market.ShareInMillionths) float64 {
		s := newServer(t)
		if sample >= 0 { // for an unreachable collector
			s.opt.Traces = trace.New(trace.Options{Endpoint: "http://127.0.0.1:1", Sample: sample, Logger: slog.New(slog.DiscardHandler)})
			t.Cleanup(func() { s.opt.Traces.Close(time.Millisecond) })
		}
		return testing.AllocsPerRun(runs, leadSender(t, s, runs+2))
	}
	off, unsampled, sampled := allocations(-1), allocations(0), allocations(market.WholeShare)
	if off > 15 || unsampled > off || sampled > off+4 {
		t.Errorf("%.1f allocations without a tracer, want at most 15; %.1f if no request is traced, %.1f if all are", off, unsampled, sampled)
	}
}

// The test counts the allocations of an auction with two bids, from the parsed request to
// the answer.
func TestPingAllocations(t *testing.T) {
	h := newAuctionExchange(t)
	bearer := h.requestToken("acme", "ping")
	const runs = 2000
	pings := make([]string, runs+2)
	for i := range pings {
		pings[i] = withMembers(pingBody, "auction_id", fmt.Sprintf(`"auction-%06d"`, i))
	}
	head := func(i int) string {
		return fmt.Sprintf("POST /v1/ping HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nIdempotency-Key: key-%06d\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
			bearer, i, len(pings[i]))
	}
	var c reusedRequest
	c.send(h.Server, head(0), pings[0])
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
		t.Errorf("%.1f allocations for a ping, want at most 40", allocations)
	}
}

// Counting an auction or a post does not allocate if its counters already exist.
func TestMetricsAllocations(t *testing.T) {
	m := metrics.NewMeter(func(string, error) {})
	cars := &market.Campaign{ID: "cars"}
	held := &auction.AuctionOutcomeSummary{Elapsed: 30e6, Pings: []auction.BuyerPingOutcome{{Buyer: &market.Buyer{ID: "buy_a"}, Elapsed: 10e6}}}
	held.Outcomes[market.OutcomeWon] = 1
	down := &market.BuyerPostResult{Verdict: market.VerdictUnknown}
	if n := testing.AllocsPerRun(100, func() {
		m.AuctionHeldOrSkipped(cars, nil, held)
		m.PostAttempted("buy_a", down)
	}); n > 0 {
		t.Errorf("%.0f allocations, want 0", n)
	}
}

func BenchmarkIngest(b *testing.B) {
	s := newServer(b)
	fillBucket(b, s)
	leads := make([][]byte, 1<<16)
	for i := range leads {
		leads[i] = []byte(fmt.Sprintf("%-260s", ingestBody(i)))
	}
	var c reusedRequest
	c.send(s, ingestHead(string(leads[0])), string(leads[0]))
	b.ReportAllocs()
	for i := 1; b.Loop(); i++ {
		lead := leads[i%len(leads)]
		c.ctx.Response.Reset()
		c.body.Reset(lead)
		c.ctx.Request.SetBodyStream(&c.body, len(lead))
		s.handleRequest(&c.ctx)
	}
}
