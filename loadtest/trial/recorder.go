package trial

import (
	"slices"
	"sync"
	"time"

	"pingpost/loadtest/load"
)

// Sample is one request, or one sale by a ping and a post.
type Sample struct {
	Due  time.Duration // since the start
	Took time.Duration
	part uint16
	what timedKind
	end  Outcome
	last bool // the last request of its arrival
}

// recorder collects all answers. One lock guards it; a request takes the lock once or
// twice, for less than a microsecond. It keeps every sample (24 bytes), so the result can
// compute any statistic later.
type recorder struct {
	mu           sync.Mutex
	begun        time.Time
	samples      []Sample
	sales        []Sale // including the warm-up
	reasons      [timedCount][outcomeCount]map[string]int
	noRetryAfter int
	reported     int // samples that the last progress included
}

func newRecorder() *recorder {
	r := new(recorder)
	for what := range r.reasons {
		for end := range r.reasons[what] {
			r.reasons[what][end] = map[string]int{}
		}
	}
	return r
}

// maxReasons is the number of different reasons that are counted separately.
const maxReasons = 50

func (r *recorder) begin(at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun = at
}

// addSample records one request. last means that no other request of the arrival follows.
func (r *recorder) addSample(at load.Arrival, what timedKind, took time.Duration, now *parsedAnswer, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.samples = append(r.samples, Sample{at.Due.Sub(r.begun), took, uint16(at.Part), what, now.end, last})
	if now.sale.Lead != "" {
		r.sales = append(r.sales, now.sale)
	}
	if now.noRetryAfter {
		r.noRetryAfter++
	}
	if now.end == Sold {
		return
	}
	words := r.reasons[what][now.end]
	if _, known := words[now.reason]; !known && len(words) >= maxReasons {
		now.reason = "others"
	}
	words[now.reason]++
}

// addSale records a sale by ping and post.
func (r *recorder) addSale(at load.Arrival, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.samples = append(r.samples, Sample{at.Due.Sub(r.begun), took, uint16(at.Part), timedSale, Sold, false})
}

// Progress describes the time since the last call.
type Progress struct {
	After, Of time.Duration
	Rate      float64 // completed arrivals a second
	UnderWay  int64
	P50, P99  time.Duration
	Refused   int
	Errors    int // failed and broken
	Phase     string
}

// progress summarizes the samples since the last call.
func (r *recorder) progress(since time.Duration) (n Progress) {
	r.mu.Lock()
	fresh := slices.Clone(r.samples[r.reported:])
	r.reported = len(r.samples)
	r.mu.Unlock()
	took := make([]time.Duration, 0, len(fresh))
	answered := 0
	for _, s := range fresh {
		switch {
		case s.what == timedSale:
			continue
		case s.end == Refused:
			n.Refused++
		case s.end == Failed || s.end == Broken:
			n.Errors++
		default:
			took = append(took, s.Took)
		}
		if s.last {
			answered++
		}
	}
	slices.Sort(took)
	n.P50, n.P99 = percentileOf(took, 50), percentileOf(took, 99)
	n.Rate = float64(answered) / max(since.Seconds(), 1e-9)
	return n
}

// percentileOf returns a percentile of sorted times, or 0 for an empty slice.
func percentileOf(sorted []time.Duration, percentile float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	i := int(float64(len(sorted))*percentile/100+0.999999) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}
