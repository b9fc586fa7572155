package trial

import (
	"bufio"
	"context"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"pingpost/loadtest/refbuyer"
)

// metricsWatch samples the exchange's metrics.
type metricsWatch struct {
	admin   string
	mu      sync.Mutex
	samples []metricsSample
}

// metricsSample is the content of /metrics at a time since the start, by name and labels.
type metricsSample struct {
	after  time.Duration
	values map[string]float64
}

// keptMetrics are the metrics that samples keep. /metrics may have many thousands of
// lines.
var keptMetrics = []string{
	"pingpost_phase_seconds", "pingpost_leads_total", "pingpost_log_sync_seconds_sum", "pingpost_log_sync_seconds_count",
	"pingpost_open_deliveries", "pingpost_unknown_deliveries", "pingpost_faults_total", "pingpost_webhooks_pending",
	"pingpost_log_bytes", "pingpost_log_sequence",
}

func newWatch(target *Target) *metricsWatch {
	return &metricsWatch{admin: strings.TrimRight(target.Admin, "/")}
}

// sample reads /metrics once. Without an admin address it does nothing.
func (w *metricsWatch) sample(ctx context.Context, after time.Duration) error {
	if w.admin == "" {
		return nil
	}
	var values map[string]float64
	err := refbuyer.Fetch(ctx, w.admin+"/metrics", func(body io.Reader) (err error) {
		values, err = readMetrics(body)
		return err
	})
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.samples = append(w.samples, metricsSample{after, values})
	return nil
}

// readMetrics parses the Prometheus text format.
func readMetrics(from io.Reader) (map[string]float64, error) {
	values := map[string]float64{}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		for _, name := range keptMetrics {
			if !strings.HasPrefix(line, name) {
				continue
			}
			at := strings.LastIndexByte(line, ' ')
			if value, err := strconv.ParseFloat(line[at+1:], 64); err == nil && at > 0 {
				values[line[:at]] = value
			}
			break
		}
	}
	return values, lines.Err()
}

// last returns the newest sample. Its values are nil without samples.
func (w *metricsWatch) last() metricsSample {
	if len(w.samples) == 0 {
		return metricsSample{}
	}
	return w.samples[len(w.samples)-1]
}

// increase returns the difference of a metric between the first and the last sample.
func (w *metricsWatch) increase(name string) (float64, bool) {
	if len(w.samples) < 2 {
		return 0, false
	}
	return w.last().values[name] - w.samples[0].values[name], true
}

// waitForDeliveries waits until no delivery is open.
func (w *metricsWatch) waitForDeliveries(ctx context.Context, patience time.Duration) {
	for limit := time.Now().Add(patience); w.admin != "" && time.Now().Before(limit); time.Sleep(50 * time.Millisecond) {
		before := len(w.samples)
		if w.sample(ctx, 0) != nil {
			return
		}
		open := w.last().values["pingpost_open_deliveries"]
		w.samples = w.samples[:before] // only the samples of the run count
		if open == 0 {
			return
		}
	}
}
