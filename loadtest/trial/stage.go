package trial

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Stage is one phase of the requests of a path, as measured by the exchange.
type Stage struct {
	Path  string          `json:"path"`
	Name  string          `json:"name"`
	Count int             `json:"count"`
	Mean  time.Duration   `json:"mean"`
	P50   time.Duration   `json:"p50"` // interpolated within histogram buckets
	P99   time.Duration   `json:"p99"`
	Means []time.Duration `json:"means"` // for each second; -1: no request
}

// Syncs describes the fsyncs of the log.
type Syncs struct {
	Count int           `json:"count"`
	Mean  time.Duration `json:"mean"`
	Each  float64       `json:"each"` // entries in a sync
}

// stageNames are the phases in the order of a request.
var stageNames = []string{"decode", "decide", "commit", "buyer", "answer"}

// stages reads the histograms between the first and the last sample, and between each
// two.
func stages(samples []metricsSample) (all []Stage) {
	if len(samples) < 2 {
		return nil
	}
	for _, path := range []string{"/api/v1/ingest", "/v1/ping", "/v1/post"} {
		for _, name := range stageNames {
			labels := fmt.Sprintf(`{path=%q,phase=%q`, path, name)
			first, last := samples[0].values, samples[len(samples)-1].values
			stage := Stage{Path: path, Name: name}
			var known bool
			if stage.Mean, known = meanOf(first, last, labels); !known {
				continue
			}
			stage.Count = int(last["pingpost_phase_seconds_count"+labels+"}"] - first["pingpost_phase_seconds_count"+labels+"}"])
			buckets := bucketsOf(first, last, labels)
			stage.P50, stage.P99 = buckets.at(50), buckets.at(99)
			for i := range samples[1:] {
				mean, known := meanOf(samples[i].values, samples[i+1].values, labels)
				if !known {
					mean = -1
				}
				stage.Means = append(stage.Means, mean)
			}
			all = append(all, stage)
		}
	}
	return all
}

// meanOf returns the mean of a histogram between two samples; false: no observation.
func meanOf(before, after map[string]float64, labels string) (time.Duration, bool) {
	count := after["pingpost_phase_seconds_count"+labels+"}"] - before["pingpost_phase_seconds_count"+labels+"}"]
	sum := after["pingpost_phase_seconds_sum"+labels+"}"] - before["pingpost_phase_seconds_sum"+labels+"}"]
	if count <= 0 {
		return 0, false
	}
	return time.Duration(sum / count * 1e9), true
}

// buckets are cumulative counts, sorted by bound.
type buckets []struct{ bound, count float64 }

func bucketsOf(before, after map[string]float64, labels string) (b buckets) {
	prefix := "pingpost_phase_seconds_bucket" + labels + `,le="`
	bounds := map[float64]string{}
	for name := range after {
		if text, found := strings.CutPrefix(name, prefix); found {
			if bound, err := strconv.ParseFloat(strings.TrimSuffix(text, `"}`), 64); err == nil {
				bounds[bound] = name
			}
		}
	}
	for _, bound := range slices.Sorted(maps.Keys(bounds)) {
		b = append(b, struct{ bound, count float64 }{bound, after[bounds[bound]] - before[bounds[bound]]})
	}
	return b
}

// at returns a percentile, linear within its bucket. Above the last bound, it returns that
// bound.
func (b buckets) at(percentile float64) time.Duration {
	if len(b) == 0 {
		return 0
	}
	want := b[len(b)-1].count * percentile / 100
	low, below := 0.0, 0.0
	for _, x := range b {
		if x.count >= want && x.count > below {
			if math.IsInf(x.bound, 1) {
				break
			}
			return time.Duration((low + (x.bound-low)*(want-below)/(x.count-below)) * 1e9)
		}
		if !math.IsInf(x.bound, 1) {
			low = x.bound
		}
		below = x.count
	}
	return time.Duration(low * 1e9)
}

func syncs(samples []metricsSample) *Syncs {
	if len(samples) < 2 {
		return nil
	}
	first, last := samples[0].values, samples[len(samples)-1].values
	by := func(name string) float64 { return last[name] - first[name] }
	count := by("pingpost_log_sync_seconds_count")
	if count <= 0 {
		return nil
	}
	return &Syncs{
		Count: int(count), Mean: time.Duration(by("pingpost_log_sync_seconds_sum") / count * 1e9),
		Each: by("pingpost_log_sequence") / count,
	}
}
