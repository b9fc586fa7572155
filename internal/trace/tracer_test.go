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

// to returns a tracer without pauses between attempts, and its log.
func to(t *testing.T, url string, sample market.ShareInMillionths) (*Tracer, *bytes.Buffer) {
	t.Helper()
	var said bytes.Buffer
	x := newUnstartedTracer(Options{Endpoint: url + "/", Sample: sample, Tenant: "production", Version: "1.2.3", Logger: slog.New(slog.NewTextHandler(&said, nil))})
	x.pauses = []time.Duration{0, 0}
	return x, &said
}

// ingested returns an answered request with this number of calls.
func ingested(x *Tracer, calls int) *Request {
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
	r.SetCaller("sup_acme", 100)
	return r
}

func refuses(status int, after string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(status)
	}
}

func hangs(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// TestTries: temporary refusals are retried and permanent ones are not. Lost traces are
// counted and logged.
func TestTries(t *testing.T) {
	cut := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	elsewhere := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/v2/traces", http.StatusTemporaryRedirect)
	}
	for _, row := range []struct {
		what    string
		answers []http.HandlerFunc
		tries   int
		taken   bool
	}{
		{"taken", nil, 1, true},
		{"taken without a body", []http.HandlerFunc{refuses(204, "")}, 1, true},
		{"busy once", []http.HandlerFunc{refuses(503, "")}, 2, true},
		{"too much, twice", []http.HandlerFunc{refuses(429, "0"), refuses(429, "none")}, 3, true},
		{"broken off", []http.HandlerFunc{cut}, 2, true},
		{"broken off for good", []http.HandlerFunc{cut, cut, cut}, 3, false},
		{"busy for good", []http.HandlerFunc{refuses(503, ""), refuses(502, ""), refuses(504, ""), refuses(503, "")}, 3, false},
		{"not wanted", []http.HandlerFunc{refuses(400, "")}, 1, false},
		{"no credential", []http.HandlerFunc{refuses(401, "")}, 1, false},
		{"elsewhere", []http.HandlerFunc{elsewhere}, 1, false},
	} {
		c := tracetest.Listen(t, row.answers...)
		x, said := to(t, c.URL, market.WholeShare)
		go x.run()
		x.End(ingested(x, 1))
		x.End(ingested(x, 1))
		x.Close(time.Minute)
		taken, lost := uint64(2), uint64(0)
		if !row.taken {
			taken, lost = 0, 2
		}
		if c.Requests() != row.tries || x.Exported() != taken || x.Dropped() != lost {
			t.Errorf("%s: %d tries, %d taken and %d lost", row.what, c.Requests(), x.Exported(), x.Dropped())
		}
		if strings.Contains(said.String(), "traces are lost") == row.taken {
			t.Errorf("%s: the log has %q", row.what, said)
		}
	}
}

// TestMissingCollector: the log says why traces are lost, without the collector's address,
// which may contain a secret.
func TestMissingCollector(t *testing.T) {
	x, logged := to(t, "http://127.0.0.1:1/canary", market.WholeShare)
	go x.run()
	x.End(ingested(x, 1))
	x.Close(time.Minute)
	if x.Dropped() != 1 || !strings.Contains(logged.String(), "refused") || strings.Contains(logged.String(), "canary") {
		t.Errorf("%d traces are lost; the log has %q", x.Dropped(), logged)
	}
}

// TestHangingCollector: the queue has a limit for any number and size of requests. The
// rest
// is counted, End never blocks, and Close ends in time.
func TestHangingCollector(t *testing.T) {
	c := tracetest.Listen(t, hangs, hangs, hangs)
	x, _ := to(t, c.URL, market.WholeShare)
	go x.run()
	first := ingested(x, fullBatch)
	x.End(first)
	for c.Requests() == 0 {
		runtime.Gosched()
	}
	const requests, calls = 2_000, 95
	for range requests {
		x.End(ingested(x, calls))
	}
	fit := uint64(maxQueuedSpans / (calls + 5))
	if lost := x.Dropped(); lost != requests-fit || x.queue.spans > maxQueuedSpans {
		t.Errorf("%d are lost at once, and %d spans wait", lost, x.queue.spans)
	}
	x.Close(time.Millisecond)
	if x.Dropped() != requests+1 || x.Exported() != 0 {
		t.Errorf("%d of %d are counted as lost", x.Dropped(), requests+1)
	}
	x.End(ingested(x, 1))
	if x.Dropped() != requests+2 {
		t.Error("what comes after the end is not counted")
	}
}

// TestBatches: every request is exported once, in as many batches as necessary.
func TestBatches(t *testing.T) {
	c := tracetest.Listen(t)
	x, _ := to(t, c.URL, market.WholeShare)
	spans := 0
	for range 150 {
		r := ingested(x, 40)
		spans += r.maxSpans()
		x.End(r)
	}
	x.End(ingested(x, fullBatch+1)) // larger than a batch
	spans += fullBatch + 1 + 5
	go x.run()
	x.Close(time.Minute)
	if n := len(c.Bodies()); n < 4 || x.Exported() != 151 || x.Dropped() != 0 {
		t.Errorf("%d exports of %d traces, %d lost", n, x.Exported(), x.Dropped())
	}
	ids := map[string]bool{}
	for _, s := range c.Spans() {
		ids[s.Trace+s.ID] = true
	}
	if len(ids) != spans || len(c.Spans()) != spans {
		t.Errorf("%d spans came, of %d", len(c.Spans()), spans)
	}
	if all := c.Resource(); all["service.version"] != "1.2.3" || all["service.namespace"] != "production" {
		t.Error(all)
	}
}

// TestSample: the share of traced requests depends only on the request's id.
func TestSample(t *testing.T) {
	const requests = 100_000
	for _, sample := range []market.ShareInMillionths{0, 1_000, 10_000, 500_000, 999_999, market.WholeShare} {
		x, _ := to(t, "http://127.0.0.1:1", sample)
		random := rand.New(rand.NewPCG(1, uint64(sample)))
		traced := 0
		for range requests {
			var id market.RequestID
			for i := range id {
				id[i] = byte(random.Uint32())
			}
			r := x.BeginIfSampled(nil, id, 1)
			if again := x.BeginIfSampled([][]byte{[]byte("no"), []byte("parent")}, id, 2); (again != nil) != (r != nil) {
				t.Fatal("an id was decided in two ways")
			}
			if r != nil {
				traced++
				if r.RequestTrace.ID != [16]byte(id) || r.parent != [8]byte{} {
					t.Fatalf("trace %x of request %x", r.RequestTrace.ID, id)
				}
			}
		}
		wanted := float64(sample) / float64(market.WholeShare) * requests
		if d := float64(traced) - wanted; d*d > 25*(wanted+1) { // five deviations
			t.Errorf("sample %d: %d of %d", sample, traced, requests)
		}
	}
}

// TestStrangers: a request without an authenticated caller is not kept.
func TestStrangers(t *testing.T) {
	c := tracetest.Listen(t)
	x, _ := to(t, c.URL, market.WholeShare)
	go x.run()
	r := ingested(x, 1)
	r.Caller = ""
	x.End(r)
	x.Close(time.Minute)
	if c.Requests() != 0 || x.Dropped() != 0 {
		t.Errorf("%d exports, %d dropped", c.Requests(), x.Dropped())
	}
}

// TestOff: a nil tracer does no work and allocates no memory.
func TestOff(t *testing.T) {
	var x *Tracer
	x.Close(time.Second)
	if n := testing.AllocsPerRun(100, func() {
		r := x.BeginIfSampled(nil, market.RequestID{}, 1)
		r.SetCaller("sup", 1)
		r.LeaveEngine(2)
		if r.EnterEngine(1) != nil {
			t.Error("a request that is not traced notes something")
		}
	}); n != 0 {
		t.Errorf("%.0f allocations", n)
	}
}

// TestParents has valid and invalid traceparent headers according to W3C.
func TestParents(t *testing.T) {
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
		p, ok := parseParent([]byte(text))
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
