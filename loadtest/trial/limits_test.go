package trial

import (
	"math"
	"strings"
	"testing"
	"time"

	"pingpost/loadtest/scenario"
)

const ms = time.Millisecond

// bursting is a scenario with a normal phase, a burst, and a normal phase.
func bursting() *scenario.Scenario {
	return &scenario.Scenario{
		Kinds: map[scenario.Kind]int{scenario.Ping: 1},
		Phases: []scenario.Phase{
			{Name: "before", For: 2 * time.Second, Rate: 100}, {Name: "burst", For: time.Second, Rate: 1000}, {Name: "after", For: 4 * time.Second, Rate: 100},
		},
		Limits: scenario.Limits{
			Late:     time.Second,
			Recovery: &scenario.Recovery{Latency: scenario.TimedPing, After: "burst", Like: "before", Within: 2 * time.Second, Times: 1.5},
			Ratios:   []scenario.Ratio{{Latency: scenario.TimedPing, At: 99, Phase: "after", To: "before", Most: 1.5}},
		},
	}
}

// took returns a hundred samples a second, with latencies from the function.
func took(of func(at time.Duration) time.Duration) (samples []Sample) {
	for i := range 700 {
		at := time.Duration(i) * 10 * ms
		part := 1
		if at >= 2*time.Second {
			part = 2
		}
		if at >= 3*time.Second {
			part = 3
		}
		samples = append(samples, Sample{Due: at, Took: of(at), part: uint16(part), what: timedPing, last: true})
	}
	return samples
}

func TestRecovery(t *testing.T) {
	result := &Result{Phases: []Phase{{Name: "before", To: 2 * time.Second}, {Name: "burst", To: 3 * time.Second}, {Name: "after", To: 7 * time.Second}}}
	for _, test := range []struct {
		name string
		of   func(time.Duration) time.Duration
		got  string
		held bool
	}{
		{"nothing was felt", func(time.Duration) time.Duration { return 10 * ms }, "0s", true},
		{"a second of it", func(at time.Duration) time.Duration {
			if at > 2*time.Second && at < 3900*ms {
				return time.Second
			}
			return 10 * ms
		}, "1s", true},
		{"all of it, a little", func(at time.Duration) time.Duration {
			if at > 2*time.Second {
				return 14 * ms
			}
			return 10 * ms
		}, "0s", true},
		{"once more, late", func(at time.Duration) time.Duration {
			if at == 5800*ms {
				return 20 * ms
			}
			return 10 * ms
		}, "3s", false},
		{"never", func(at time.Duration) time.Duration {
			if at > 2*time.Second {
				return 16 * ms
			}
			return 10 * ms
		}, "4s", false},
	} {
		if l := recoveryLimit(bursting(), result, took(test.of)); l.Got != test.got || l.Held != test.held {
			t.Errorf("%s: %+v", test.name, l)
		}
	}
	short := took(func(time.Duration) time.Duration { return 10 * ms })[:450]
	if l := recoveryLimit(bursting(), result, short); l.Held {
		t.Error("a recovery within 2 s is held, and 1.5 s were measured")
	}
	if l := recoveryLimit(bursting(), result, nil); l.Held {
		t.Error("held, of nothing")
	}
}

func TestRatios(t *testing.T) {
	s := bursting()
	for later, held := range map[time.Duration]bool{14 * ms: true, 16 * ms: false} {
		samples := took(func(at time.Duration) time.Duration {
			if at >= 3*time.Second {
				return later
			}
			return 10 * ms
		})
		if l := ratioLimit(s, &s.Limits.Ratios[0], samples); l.Held != held || !strings.Contains(l.What, "after over before") {
			t.Errorf("%s: %+v", later, l)
		}
	}
	if l := ratioLimit(s, &s.Limits.Ratios[0], nil); l.Held {
		t.Error("held, of nothing")
	}
}

// TestLimitsOfLatency checks each quantile by itself. Without samples no limit is held.
func TestLimitsOfLatency(t *testing.T) {
	all := make([]time.Duration, 1000)
	for i := range all {
		all[i] = time.Duration(i+1) * ms
	}
	for _, test := range []struct {
		limit  scenario.Quantiles
		took   []time.Duration
		missed string
	}{
		{scenario.Quantiles{P50: 501 * ms, P99: 991 * ms, P999: 1000 * ms, Max: 1001 * ms}, all, ""},
		{scenario.Quantiles{P50: 490 * ms}, all, "p50 of ping"},
		{scenario.Quantiles{P99: 980 * ms}, all, "p99 of ping"},
		{scenario.Quantiles{P999: 990 * ms}, all, "p999 of ping"},
		{scenario.Quantiles{Max: 995 * ms}, all, "max of ping"},
		{scenario.Quantiles{P50: time.Hour}, nil, "p50 of ping"},
	} {
		s := &scenario.Scenario{Limits: scenario.Limits{Late: time.Second, Latency: map[scenario.Timed]scenario.Quantiles{scenario.TimedPing: test.limit}}}
		r := &Result{Latencies: []Latency{distribution("ping", test.took)}, Ends: map[string]int{"sold": 1}, Account: &Account{}}
		r.Limits = checkLimits(s, r, nil)
		if got := strings.Join(missed(r), ", "); got != test.missed {
			t.Errorf("%+v: not held are %q", test.limit, got)
		}
	}
}

// TestALateClientIsNotHeld: the client's own delay may invalidate a result.
func TestALateClientIsNotHeld(t *testing.T) {
	s := &scenario.Scenario{Limits: scenario.Limits{Late: 20 * ms}}
	r := &Result{Ends: map[string]int{"sold": 1}, Account: &Account{}, Generator: Generator{P99: 21 * ms}}
	r.Limits = checkLimits(s, r, nil)
	if got := missed(r); len(got) != 1 || got[0] != "p99 of the client's own delay" {
		t.Errorf("%v", got)
	}
}

// TestDistributions: values have three digits, and the curve ends where samples become
// too few.
func TestDistributions(t *testing.T) {
	all := make([]time.Duration, 10_000)
	for i := range all {
		all[i] = time.Duration(i+1) * 100 * time.Microsecond
	}
	d := distribution("ping", all)
	for name, pair := range map[string][2]time.Duration{
		"mean": {d.Mean, 500 * ms}, "p50": {d.P50, 500 * ms}, "p90": {d.P90, 900 * ms}, "p99": {d.P99, 990 * ms}, "p99.9": {d.P999, 999 * ms}, "max": {d.Max, 1000 * ms},
	} {
		if off := math.Abs(float64(pair[0])/float64(pair[1]) - 1); off > 0.002 {
			t.Errorf("%s is %s, want %s", name, pair[0], pair[1])
		}
	}
	last := -1.0
	for i, p := range d.Curve {
		if p.Percentile <= last || i > 0 && p.Took < d.Curve[i-1].Took {
			t.Errorf("%v after %v", p, last)
		}
		last = p.Percentile
	}
	if last != 100 || len(d.Curve) < 40 {
		t.Errorf("%d points up to %v", len(d.Curve), last)
	}
	if none := distribution("ping", nil); none.Count != 0 || none.Curve != nil {
		t.Errorf("%+v", none)
	}
}
