package scenario

import (
	"slices"
	"testing"
	"time"

	"pingpost/internal/must"
)

func builtIn(t *testing.T, name string) *Scenario {
	t.Helper()
	s := must.Value(Load(name))(t)
	return s
}

// TestBuiltInsHaveLimits: each starts with a warm-up and limits the p99 of all its
// latencies, except for parts of another.
func TestBuiltInsHaveLimits(t *testing.T) {
	for _, name := range Names() {
		s := builtIn(t, name)
		if !s.Phases[0].Warmup {
			t.Errorf("%s begins without a warm-up", name)
		}
		limited := 0
		for _, q := range s.Limits.Latency {
			if q.P99 > 0 {
				limited++
			}
		}
		if limited == 0 || s.Limits.Errors > 0 {
			t.Errorf("%s has no limit of p99, or allows errors", name)
		}
	}
}

// TestBuiltInsAreAsDocumented: the rate and the duration that README.md names.
func TestBuiltInsAreAsDocumented(t *testing.T) {
	for name, want := range map[string]struct {
		phase    string
		rate     float64
		duration time.Duration
	}{
		"ingest": {"steady", 1000, 30 * time.Second}, "ping": {"steady", 200, 30 * time.Second}, "pingpost": {"steady", 100, time.Minute},
		"burst": {"burst", 1000, time.Second}, "slow-buyer": {"steady", 25, 45 * time.Second}, "webhook-storm": {"steady", 600, 30 * time.Second},
		"catalog-large": {"steady", 500, 30 * time.Second},
	} {
		if !slices.ContainsFunc(builtIn(t, name).Phases, func(p Phase) bool { return p.Name == want.phase && p.Rate == want.rate && p.For == want.duration }) {
			t.Errorf("%s has the phases %+v, want %+v", name, builtIn(t, name).Phases, want)
		}
	}
	burst, soak := builtIn(t, "burst"), builtIn(t, "soak")
	if r := burst.Limits.Recovery; r.After != "burst" || r.Within != 2*time.Second || float64(burst.Supplier.PingRate) >= 1000 {
		t.Errorf("%+v", burst)
	}
	if soak.Duration() < 10*time.Minute || len(soak.Kinds) != 3 || len(soak.Limits.Ratios) == 0 {
		t.Errorf("%+v", soak)
	}
}
