package seller

import (
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"pingpost/loadtest/load"
)

// latencyHistogram counts latencies of up to an hour, to three significant digits. Longer
// ones count as an hour.
type latencyHistogram struct{ *hdrhistogram.Histogram }

func newLatencyHistogram() latencyHistogram {
	return latencyHistogram{hdrhistogram.New(int64(time.Microsecond), int64(time.Hour), 3)}
}

func (l latencyHistogram) add(d time.Duration) {
	if err := l.RecordValue(min(max(int64(d), 0), int64(time.Hour))); err != nil {
		panic("BUG: the histogram does not hold " + d.String() + ": " + err.Error())
	}
}

func (l latencyHistogram) String() string {
	if l.TotalCount() == 0 {
		return "none"
	}
	at := func(percentile float64) string {
		return load.FormatDuration(time.Duration(l.ValueAtPercentile(percentile)))
	}
	return fmt.Sprintf("p50 %s   p90 %s   p99 %s   max %s", at(50), at(90), at(99), at(100))
}
