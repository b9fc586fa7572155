package server

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/VictoriaMetrics/metrics"
)

// TestPhasesAddUpToTheWhole: whatever the engine spent, nothing of a request's time
// is in two phases or in none.
func TestPhasesAddUpToTheWhole(t *testing.T) {
	for name, spent := range map[string][2]int64{"recorded": {300, 0}, "auctioned": {300, 5000}, "neither": {0, 0}} {
		l := lap{begun: 1000}
		s := l.enter(1040)
		s.Log, s.Buyers = spent[0], spent[1]
		l.leave(9000)
		got := l.of(9020)
		want := [phases]int64{40, 7960 - spent[0] - spent[1], spent[0], spent[1], 20}
		if got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestPhasesAreShown: one histogram for each path and phase, cumulative, its sum in
// seconds.
func TestPhasesAreShown(t *testing.T) {
	m := NewMeter(metrics.NewSet(), func(string, error) {})
	l := lap{begun: 0}
	l.enter(1500).Log = 3_000_000 // 1.5 µs to decode, 3 ms to commit
	l.leave(3_500_000)
	m.lap(routePing, &l, 3_500_000+20_000_000_000) // an answer past all bounds
	m.lap(routePing, &l, 3_500_900)
	m.lap(routeToken, &l, 4_000_000) // which has no phases
	var text bytes.Buffer
	m.Print(&text)
	for _, want := range []string{
		`pingpost_phase_seconds_bucket{path="/v1/ping",phase="decode",le="1e-06"} 0`,
		`pingpost_phase_seconds_bucket{path="/v1/ping",phase="decode",le="2e-06"} 2`,
		`pingpost_phase_seconds_bucket{path="/v1/ping",phase="commit",le="0.002"} 0`,
		`pingpost_phase_seconds_bucket{path="/v1/ping",phase="commit",le="0.005"} 2`,
		`pingpost_phase_seconds_sum{path="/v1/ping",phase="commit"} 0.006`,
		`pingpost_phase_seconds_bucket{path="/v1/ping",phase="answer",le="10"} 1`,
		`pingpost_phase_seconds_bucket{path="/v1/ping",phase="answer",le="+Inf"} 2`,
		`pingpost_phase_seconds_count{path="/v1/ping",phase="answer"} 2`,
		`pingpost_phase_seconds_count{path="/v1/ping",phase="buyer"} 2`,
		`pingpost_phase_seconds_count{path="/v1/post",phase="buyer"} 0`,
		`pingpost_phase_seconds_count{path="/api/v1/ingest",phase="decide"} 0`,
	} {
		if !strings.Contains(text.String(), want+"\n") {
			t.Errorf("no line %s", want)
		}
	}
	if n := strings.Count(text.String(), "pingpost_phase_seconds_count{"); n != 15 {
		t.Errorf("%d histograms", n)
	}
}

// TestBoundsGrow: from a microsecond to ten seconds, without a gap.
func TestBoundsGrow(t *testing.T) {
	for i, bound := range lapBounds {
		if i > 0 && bound <= lapBounds[i-1] {
			t.Errorf("bound %d is %d", i, bound)
		}
	}
	if lapBounds[0] != 1000 || lapBounds[len(lapBounds)-1] != 10_000_000_000 {
		t.Errorf("from %d to %d", lapBounds[0], lapBounds[len(lapBounds)-1])
	}
}

// TestAllocPhases: they are counted for every request.
func TestAllocPhases(t *testing.T) {
	m := NewMeter(metrics.NewSet(), func(string, error) {})
	l := lap{begun: 1}
	if n := testing.AllocsPerRun(100, func() {
		l.enter(5).Buyers = 3
		l.leave(9)
		m.lap(routeIngest, &l, 10)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// phaseCounts are the phases of a path that /metrics shows, with their sums in
// seconds.
func phaseSums(t *testing.T, m *Meter, path string) map[string]float64 {
	t.Helper()
	var text bytes.Buffer
	m.Print(&text)
	sums := map[string]float64{}
	for line := range strings.Lines(text.String()) {
		rest, found := strings.CutPrefix(line, lapName+`_sum{path="`+path+`",phase="`)
		if !found {
			continue
		}
		phase, value, _ := strings.Cut(strings.TrimSpace(rest), `"} `)
		seconds, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		sums[phase] = seconds
	}
	return sums
}

// TestPhasesOfRequests: of each path that decides something, the time that goes to
// the log and to the buyers is known apart; what was refused is in no phase.
func TestPhasesOfRequests(t *testing.T) {
	h := holding(t)
	acme := h.token("acme", "")
	body := h.won(acme, "a1")
	if sold := h.post(acme, "k1", body); sold.status != 201 {
		t.Fatal(sold.body)
	}
	if again := h.post(acme, "k2", body); again.status != 409 {
		t.Fatal(again.body)
	}
	for _, path := range []string{"/v1/ping", "/v1/post"} {
		for phase, seconds := range phaseSums(t, h.opt.Meter, path) {
			if seconds <= 0 || seconds > 60 {
				t.Errorf("%s: %s has %v s", path, phase, seconds)
			}
		}
	}
	for phase, seconds := range phaseSums(t, h.opt.Meter, "/api/v1/ingest") {
		if seconds != 0 {
			t.Errorf("an ingest that was not sent has %v s of %s", seconds, phase)
		}
	}
	var text bytes.Buffer
	h.opt.Meter.Print(&text)
	if !strings.Contains(text.String(), `pingpost_phase_seconds_count{path="/v1/post",phase="commit"} 1`+"\n") {
		t.Error("a refused post is counted in a phase, or the sold one is not")
	}
}
