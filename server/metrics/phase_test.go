package metrics

import (
	"strings"
	"testing"

	"pingpost/server/servertest"
)

// TestPhasesAddUpToRequestTime checks that the phases add up to the time of the request.
func TestPhasesAddUpToRequestTime(t *testing.T) {
	for name, spent := range map[string][2]int64{"recorded": {300, 0}, "auctioned": {300, 5000}, "none": {0, 0}} {
		l := RequestTimings{Begun: 1000}
		s := l.EnterEngine(1040)
		s.Log, s.Buyers = spent[0], spent[1]
		l.LeaveEngine(9000)
		got := l.phaseDurations(9020)
		want := [phases]int64{40, 7960 - spent[0] - spent[1], spent[0], spent[1], 20}
		if got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// Each path and phase has a cumulative histogram with its sum in seconds.
func TestPhaseHistograms(t *testing.T) {
	m := NewMeter(func(string, error) {})
	l := RequestTimings{Begun: 0}
	l.EnterEngine(1500).Log = 3_000_000 // 1.5 µs to decode, 3 ms to commit
	l.LeaveEngine(3_500_000)
	m.CountPhases(RoutePing, &l, 3_500_000+20_000_000_000) // an answer over the largest bound
	m.CountPhases(RoutePing, &l, 3_500_900)
	m.CountPhases(RouteToken, &l, 4_000_000) // this path has no phases
	text := servertest.RequireMetrics(
		t, m,
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
	)
	if n := strings.Count(text, "pingpost_phase_seconds_count{"); n != 15 {
		t.Errorf("%d histograms, want 15", n)
	}
}

// The bounds grow from a microsecond to ten seconds.
func TestHistogramBoundsGrow(t *testing.T) {
	for i, bound := range histogramBounds {
		if i > 0 && bound <= histogramBounds[i-1] {
			t.Errorf("bound %d is %d, not more than the one before", i, bound)
		}
	}
	if histogramBounds[0] != 1000 || histogramBounds[len(histogramBounds)-1] != 10_000_000_000 {
		t.Errorf("bounds from %d to %d, want 1000 to 10000000000", histogramBounds[0], histogramBounds[len(histogramBounds)-1])
	}
}

// The phases are counted for each request, so they must not allocate.
func TestCountPhasesAllocations(t *testing.T) {
	m := NewMeter(func(string, error) {})
	l := RequestTimings{Begun: 1}
	if n := testing.AllocsPerRun(100, func() {
		l.EnterEngine(5).Buyers = 3
		l.LeaveEngine(9)
		m.CountPhases(RouteIngest, &l, 10)
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
