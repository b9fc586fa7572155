package trial

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pingpost/internal/must"
)

// phaseText returns /metrics with n observations of 1.5 ms for a phase of pings.
func phaseText(count int) string {
	var out strings.Builder
	for _, phase := range stageNames {
		labels := fmt.Sprintf(`{path="/v1/ping",phase=%q`, phase)
		for _, bound := range []string{"0.001", "0.002", "+Inf"} {
			n := count
			if bound == "0.001" {
				n = 0
			}
			fmt.Fprintf(&out, "pingpost_phase_seconds_bucket%s,le=%q} %d\n", labels, bound, n)
		}
		fmt.Fprintf(&out, "pingpost_phase_seconds_sum%s} %v\npingpost_phase_seconds_count%s} %d\n", labels, float64(count)*0.0015, labels, count)
	}
	return "# HELP of nothing\npingpost_other 3\n" + out.String()
}

func lookAt(t *testing.T, after time.Duration, text string) metricsSample {
	t.Helper()
	values := must.Value(readMetrics(strings.NewReader(text)))(t)
	return metricsSample{after, values}
}

func TestStages(t *testing.T) {
	samples := []metricsSample{
		lookAt(t, 0, phaseText(10)), lookAt(t, time.Second, phaseText(10)), lookAt(t, 2*time.Second, phaseText(30)),
	}
	all := stages(samples)
	if len(all) != 5 {
		t.Fatalf("%d stages", len(all))
	}
	for i, s := range all {
		if s.Path != "/v1/ping" || s.Name != stageNames[i] || s.Count != 20 || (s.Mean-1500*time.Microsecond).Abs() > time.Microsecond {
			t.Errorf("%+v", s)
		}
		if (s.P50-1500*time.Microsecond).Abs() > time.Microsecond || (s.P99-1990*time.Microsecond).Abs() > time.Microsecond {
			t.Errorf("p50 %s, p99 %s", s.P50, s.P99)
		}
		if len(s.Means) != 2 || s.Means[0] != -1 || s.Means[1] != s.Mean {
			t.Errorf("%v", s.Means)
		}
	}
	if stages(samples[:1]) != nil || len(stages(samples[:2])) != 0 {
		t.Error("stages of nothing")
	}
	if _, kept := samples[0].values["pingpost_other"]; kept {
		t.Error("an unused metric is kept")
	}
}

func TestPercentilesOfBuckets(t *testing.T) {
	b := buckets{{0.001, 50}, {0.01, 99}, {0.1, 99}}
	for percentile, want := range map[float64]time.Duration{25: 500 * time.Microsecond, 50: time.Millisecond, 100: 10 * time.Millisecond} {
		if got := b.at(percentile); (got - want).Abs() > 10*time.Microsecond {
			t.Errorf("p%v is %s, want %s", percentile, got, want)
		}
	}
	if buckets(nil).at(99) != 0 || (buckets{{0.001, 0}}).at(99) != time.Millisecond {
		t.Error("of nothing")
	}
}

func TestSyncs(t *testing.T) {
	text := func(n int) string {
		return fmt.Sprintf("pingpost_log_sync_seconds_sum %v\npingpost_log_sync_seconds_count %d\npingpost_log_sequence %d\n", float64(n)*0.002, n, n*5)
	}
	s := syncs([]metricsSample{lookAt(t, 0, text(10)), lookAt(t, time.Second, text(110))})
	if s == nil || s.Count != 100 || (s.Mean-2*time.Millisecond).Abs() > time.Microsecond || s.Each != 5 {
		t.Errorf("%+v", s)
	}
	if syncs([]metricsSample{lookAt(t, 0, text(10)), lookAt(t, time.Second, text(10))}) != nil {
		t.Error("syncs of nothing")
	}
}
