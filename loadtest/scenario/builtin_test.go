package scenario

import (
	"slices"
	"testing"
	"time"
)

func builtIn(t *testing.T, name string) *Scenario {
	t.Helper()
	s, err := Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func phase(t *testing.T, s *Scenario, name string) Phase {
	t.Helper()
	i := slices.IndexFunc(s.Phases, func(p Phase) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("%s has no phase %s", s.Name, name)
	}
	return s.Phases[i]
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

// TestPingPostRate: every auction asks every buyer, so each gets a hundred pings a
// second.
func TestPingPostRate(t *testing.T) {
	s := builtIn(t, "pingpost")
	steady := phase(t, s, "steady")
	if steady.Rate != 100 || steady.For != time.Minute || steady.Arrival != Fixed || s.Kinds[PingPost] == 0 || len(s.Kinds) != 1 {
		t.Errorf("%+v %v", steady, s.Kinds)
	}
	if s.Campaigns[0].Seats != 0 || s.Buyers[0].Count != 10 || s.Buyers[0].Latency != "10ms" || s.Limits.Latency[TimedPost].P99 != 25*time.Millisecond {
		t.Errorf("%+v %+v", s.Campaigns, s.Buyers)
	}
}

// TestTheBurst: ten times the rate for a second, above the supplier's limit. Two seconds
// later, latencies must be normal.
func TestTheBurst(t *testing.T) {
	s := builtIn(t, "burst")
	before, burst := phase(t, s, "before"), phase(t, s, "burst")
	if burst.Rate != 10*before.Rate || burst.For != time.Second || !burst.Apart || before.Apart {
		t.Errorf("%+v after %+v", burst, before)
	}
	if float64(s.Supplier.PingRate) >= burst.Rate || float64(s.Supplier.PingRate) <= before.Rate {
		t.Errorf("the supplier may ping %d times a second", s.Supplier.PingRate)
	}
	if r := s.Limits.Recovery; r.After != "burst" || r.Like != "before" || r.Within != 2*time.Second || s.Limits.Refused == 0 {
		t.Errorf("%+v", r)
	}
}

// TestTheSoak: long, with all kinds of requests, compared with its own beginning.
func TestTheSoak(t *testing.T) {
	s := builtIn(t, "soak")
	if s.Duration() < 10*time.Minute || len(s.Kinds) != 3 || s.Webhooks == nil || len(s.Limits.Ratios) == 0 {
		t.Errorf("%s of %v", s.Duration(), s.Kinds)
	}
	for _, r := range s.Limits.Ratios {
		if r.Phase != "end" || r.To != "beginning" {
			t.Errorf("%+v", r)
		}
	}
}

func TestTheOthers(t *testing.T) {
	if s := builtIn(t, "catalog-large"); s.Campaigns[0].Count != 10_000 || s.Buyers[0].Count != 1000 {
		t.Errorf("%+v", s.Campaigns)
	}
	if s := builtIn(t, "webhook-storm"); s.Webhooks == nil || s.Webhooks.Within != 30*time.Second || s.Webhooks.InFlight != 64 {
		t.Errorf("%+v", s.Webhooks)
	}
	slow := builtIn(t, "slow-buyer")
	hangs, fails := false, false
	for _, b := range slow.Buyers {
		hangs = hangs || b.Latency == "20ms+hang:0.02"
		fails = fails || b.Fail > 0
	}
	if !hangs || !fails || slow.Limits.Latency[TimedPing].P99 > 2500*time.Millisecond {
		t.Errorf("%+v", slow.Buyers)
	}
	for _, b := range builtIn(t, "ingest").Buyers {
		if !b.Recorded {
			t.Error("an ingest is posted to somebody")
		}
	}
}
