package alerting

import (
	"time"

	"pingpost/server/metrics"
)

const (
	// countStep is the time between two readings that are kept.
	countStep = int64(time.Minute)
	// maxWindow is the longest window of a rate, in seconds.
	maxWindow = 3600
)

// lastHourLeadAndBuyerCounts has readings of the counters of the last hour, one a minute, and the
// newest reading.
type lastHourLeadAndBuyerCounts struct {
	kept   []countReading // oldest first
	newest countReading
}

type countReading struct {
	at     int64 // Unix nanoseconds
	counts metrics.TradeCounts
}

func (h *lastHourLeadAndBuyerCounts) add(nowUnixNanos int64, counts metrics.TradeCounts) {
	h.newest = countReading{nowUnixNanos, counts}
	if n := len(h.kept); n == 0 || nowUnixNanos-h.kept[n-1].at >= countStep {
		h.kept = append(h.kept, h.newest)
	}
	for len(h.kept) > 1 && nowUnixNanos-h.kept[1].at >= maxWindow*int64(time.Second) {
		h.kept = h.kept[1:]
	}
}

// newestAndWindowStart returns the newest reading, and the one at the beginning of a window of this
// many seconds. isComplete is false if the readings do not go back that far.
func (h *lastHourLeadAndBuyerCounts) newestAndWindowStart(nowUnixNanos, windowSeconds int64) (now, before metrics.TradeCounts, isComplete bool) {
	begin := nowUnixNanos - windowSeconds*int64(time.Second)
	before = h.kept[0].counts
	for i := range h.kept {
		if h.kept[i].at > begin {
			break
		}
		before, isComplete = h.kept[i].counts, true
	}
	return h.newest.counts, before, isComplete
}
