package trace

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"pingpost/engine/market"
	"pingpost/engine/timing"
	"pingpost/internal/trace/tracetest"
)

// newTestTracer returns an unstarted tracer without pauses between attempts, and its log.
func newTestTracer(t *testing.T, url string, sample market.ShareInMillionths) (*Tracer, *bytes.Buffer) {
	t.Helper()
	var logged bytes.Buffer
	x := newUnstartedTracer(Options{Endpoint: url + "/", Sample: sample, Tenant: "production", Version: "1.2.3", Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	x.pauses = []time.Duration{0, 0}
	return x, &logged
}

// newAnsweredRequest returns a request with the number of buyer calls, or nil if it is not sampled.
func newAnsweredRequest(x *Tracer, calls int) *TracedRequest {
	id := market.RequestID(market.ComposeID(1, [10]byte{1}))
	for i := range id[6:] {
		id[6+i] = byte(rand.Uint32())
	}
	r := x.BeginIfSampled(nil, id, 1_000)
	if r == nil {
		return nil
	}
	r.Route, r.Status, r.Entered, r.Left, r.Ended = "/v1/ping", 200, 2_000, 9_000, 10_000
	r.Held = timing.TimeSpan{From: 3_000, To: 8_000}
	for i := range calls {
		r.Calls = append(r.Calls, timing.BuyerCall{TimeSpan: timing.TimeSpan{From: 3_000, To: 4_000}, Span: r.NextSpanID(), Buyer: fmt.Sprint("buy_", i), Outcome: "lost", Status: 200})
	}
	r.RecordCallerAndBodySize("sup_acme", 100)
	return r
}

func respondStatus(status int, after string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(status)
	}
}

func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// TestExportRetries: temporary errors are retried, permanent ones are not. Lost traces are counted
// and logged.
func TestExportRetries(t *testing.T) {
	abort := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	redirect := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/v2/traces", http.StatusTemporaryRedirect)
	}
	for _, row := range []struct {
		name     string
		answers  []http.HandlerFunc
		requests int
		exported bool
	}{
		{"200", nil, 1, true},
		{"204", []http.HandlerFunc{respondStatus(204, "")}, 1, true},
		{"503 once", []http.HandlerFunc{respondStatus(503, "")}, 2, true},
		{"429 twice", []http.HandlerFunc{respondStatus(429, "0"), respondStatus(429, "none")}, 3, true},
		{"connection aborted", []http.HandlerFunc{abort}, 2, true},
		{"connection always aborted", []http.HandlerFunc{abort, abort, abort}, 3, false},
		{"always unavailable", []http.HandlerFunc{respondStatus(503, ""), respondStatus(502, ""), respondStatus(504, ""), respondStatus(503, "")}, 3, false},
		{"400", []http.HandlerFunc{respondStatus(400, "")}, 1, false},
		{"401", []http.HandlerFunc{respondStatus(401, "")}, 1, false},
		{"redirect", []http.HandlerFunc{redirect}, 1, false},
	} {
		c := tracetest.Listen(t, row.answers...)
		x, logged := newTestTracer(t, c.URL, market.WholeShare)
		go x.run()
		x.End(newAnsweredRequest(x, 1))
		x.End(newAnsweredRequest(x, 1))
		x.Close(time.Minute)
		exported, lost := uint64(2), uint64(0)
		if !row.exported {
			exported, lost = 0, 2
		}
		if c.Requests() != row.requests || x.ExportedTraces() != exported || x.DroppedTraces() != lost {
			t.Errorf("%s: %d requests, %d traces exported and %d lost", row.name, c.Requests(), x.ExportedTraces(), x.DroppedTraces())
		}
		if strings.Contains(logged.String(), "traces are lost") == row.exported {
			t.Errorf("%s: the log is %q", row.name, logged)
		}
	}
}

// TestUnreachableCollectorIsLogged: the log has the reason without the collector's address, which
// may contain a secret.
func TestUnreachableCollectorIsLogged(t *testing.T) {
	x, logged := newTestTracer(t, "http://127.0.0.1:1/canary", market.WholeShare)
	go x.run()
	x.End(newAnsweredRequest(x, 1))
	x.Close(time.Minute)
	if x.DroppedTraces() != 1 || !strings.Contains(logged.String(), "refused") || strings.Contains(logged.String(), "canary") {
		t.Errorf("%d traces lost, want 1; the log is %q", x.DroppedTraces(), logged)
	}
}

// TestHangingCollectorDoesNotBlockEnd: the queue is limited and the rest is counted as lost. Close
// ends in time.
func TestHangingCollectorDoesNotBlockEnd(t *testing.T) {
	c := tracetest.Listen(t, hang, hang, hang)
	x, _ := newTestTracer(t, c.URL, market.WholeShare)
	go x.run()
	first := newAnsweredRequest(x, fullBatch)
	x.End(first)
	for c.Requests() == 0 {
		runtime.Gosched()
	}
	const requests, calls = 2_000, 95
	for range requests {
		x.End(newAnsweredRequest(x, calls))
	}
	queued := uint64(maxQueuedSpans / (calls + 5))
	if lost := x.DroppedTraces(); lost != requests-queued || x.queue.spans > maxQueuedSpans {
		t.Errorf("%d traces lost, %d spans queued", lost, x.queue.spans)
	}
	x.Close(time.Millisecond)
	if x.DroppedTraces() != requests+1 || x.ExportedTraces() != 0 {
		t.Errorf("%d traces lost, want %d", x.DroppedTraces(), requests+1)
	}
	x.End(newAnsweredRequest(x, 1))
	if x.DroppedTraces() != requests+2 {
		t.Error("a trace after Close is not counted as lost")
	}
}

// TestBatches: each request is exported exactly once.
func TestBatches(t *testing.T) {
	c := tracetest.Listen(t)
	x, _ := newTestTracer(t, c.URL, market.WholeShare)
	spans := 0
	for range 150 {
		r := newAnsweredRequest(x, 40)
		spans += r.maxSpans()
		x.End(r)
	}
	x.End(newAnsweredRequest(x, fullBatch+1)) // larger than a batch
	spans += fullBatch + 1 + 5
	go x.run()
	x.Close(time.Minute)
	if n := len(c.Bodies()); n < 4 || x.ExportedTraces() != 151 || x.DroppedTraces() != 0 {
		t.Errorf("%d batches of %d traces, %d lost", n, x.ExportedTraces(), x.DroppedTraces())
	}
	ids := map[string]bool{}
	for _, s := range c.Spans() {
		ids[s.Trace+s.ID] = true
	}
	if len(ids) != spans || len(c.Spans()) != spans {
		t.Errorf("%d spans exported, want %d", len(c.Spans()), spans)
	}
	if all := c.Resource(); all["service.version"] != "1.2.3" || all["service.namespace"] != "production" {
		t.Error(all)
	}
}

func TestSamplingDependsOnRequestID(t *testing.T) {
	const requests = 100_000
	for _, sample := range []market.ShareInMillionths{0, 1_000, 10_000, 500_000, 999_999, market.WholeShare} {
		x, _ := newTestTracer(t, "http://127.0.0.1:1", sample)
		random := rand.New(rand.NewPCG(1, uint64(sample)))
		traced := 0
		for range requests {
			var id market.RequestID
			for i := range id {
				id[i] = byte(random.Uint32())
			}
			r := x.BeginIfSampled(nil, id, 1)
			if again := x.BeginIfSampled([][]byte{[]byte("no"), []byte("parent")}, id, 2); (again != nil) != (r != nil) {
				t.Fatal("the same id gives two decisions")
			}
			if r != nil {
				traced++
				if r.RequestTrace.ID != [16]byte(id) || r.parent != [8]byte{} {
					t.Fatalf("trace %x of request %x", r.RequestTrace.ID, id)
				}
			}
		}
		want := float64(sample) / float64(market.WholeShare) * requests
		if d := float64(traced) - want; d*d > 25*(want+1) { // five standard deviations
			t.Errorf("sample %d: %d of %d requests traced", sample, traced, requests)
		}
	}
}

func TestUnauthenticatedRequestIsNotTraced(t *testing.T) {
	c := tracetest.Listen(t)
	x, _ := newTestTracer(t, c.URL, market.WholeShare)
	go x.run()
	r := newAnsweredRequest(x, 1)
	r.Caller = ""
	x.End(r)
	x.Close(time.Minute)
	if c.Requests() != 0 || x.DroppedTraces() != 0 {
		t.Errorf("%d exports, %d dropped, want none", c.Requests(), x.DroppedTraces())
	}
}

// TestNilTracerDoesNotAllocate also checks that a nil tracer does no work.
func TestNilTracerDoesNotAllocate(t *testing.T) {
	var x *Tracer
	x.Close(time.Second)
	if n := testing.AllocsPerRun(100, func() {
		r := x.BeginIfSampled(nil, market.RequestID{}, 1)
		r.RecordCallerAndBodySize("sup", 1)
		r.LeaveEngine(2)
		if r.EnterEngine(1) != nil {
			t.Error("an untraced request has phases")
		}
	}); n != 0 {
		t.Errorf("%.0f allocations", n)
	}
}

// TestParseParent has traceparent headers that are valid or invalid according to W3C.
func TestParseParent(t *testing.T) {
	const trace, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	for text, want := range map[string]string{
		"00-" + trace + "-" + span + "-01":                    "sampled",
		"00-" + trace + "-" + span + "-00":                    "not",
		"00-" + trace + "-" + span + "-fe":                    "not",
		"00-" + trace + "-" + span + "-ff":                    "sampled",
		"cc-" + trace + "-" + span + "-01":                    "sampled",
		"cc-" + trace + "-" + span + "-01-what-is-new":        "sampled",
		"cc-" + trace + "-" + span + "-01.what-is-new":        "",
		"00-" + trace + "-" + span + "-01-what-is-new":        "",
		"ff-" + trace + "-" + span + "-01":                    "",
		"00-" + strings.ToUpper(trace) + "-" + span + "-01":   "",
		"00-" + trace + "-" + strings.ToUpper(span) + "-01":   "",
		"00-" + trace + "-" + span + "-0g":                    "",
		"00-" + trace + "-" + span + "-1":                     "",
		"00_" + trace + "_" + span + "_01":                    "",
		"00-" + strings.Repeat("0", 32) + "-" + span + "-01":  "",
		"00-" + trace + "-" + strings.Repeat("0", 16) + "-01": "",
		"": "",
	} {
		p, ok := parseTraceparent([]byte(text))
		got := ""
		switch {
		case ok && p.sampled:
			got = "sampled"
		case ok:
			got = "not"
		}
		if got != want || ok && (hex.EncodeToString(p.trace[:]) != trace || hex.EncodeToString(p.span[:]) != span) {
			t.Errorf("%q: %q, want %q: %+v", text, got, want, p)
		}
	}
}
