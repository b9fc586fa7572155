package trial

import (
	"slices"
	"sync"
	"time"

	"pingpost/loadtest/load"
)

// Sample is one request, or one sale of two.
type Sample struct {
	Due  time.Duration // after the beginning
	Took time.Duration
	part uint16
	what timed
	end  End
	last bool // of its arrival's requests
}

// record is all that came back. One lock guards it: a request takes it once or
// twice, for less than a microsecond. Every sample is kept, 24 bytes each, so what is
// told of them later need not be known now.
type record struct {
	mu      sync.Mutex
	begun   time.Time
	samples []Sample
	sales   []Sale // in parts that are not measured, too
	reasons [timeds][Ends]map[string]int
	rude    int
	told    int // samples that the last progress has seen
}

func newRecord() *record {
	r := new(record)
	for what := range r.reasons {
		for end := range r.reasons[what] {
			r.reasons[what][end] = map[string]int{}
		}
	}
	return r
}

// mostReasons bounds how many different words of one kind are told apart.
const mostReasons = 50

func (r *record) begin(at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun = at
}

// add takes one request down; last: no other follows for this arrival.
func (r *record) add(at load.Arrival, what timed, took time.Duration, now *verdict, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.samples = append(r.samples, Sample{at.Due.Sub(r.begun), took, uint16(at.Part), what, now.end, last})
	if now.sale.Lead != "" {
		r.sales = append(r.sales, now.sale)
	}
	if now.rude {
		r.rude++
	}
	if now.end == Sold {
		return
	}
	words := r.reasons[what][now.end]
	if _, known := words[now.reason]; !known && len(words) >= mostReasons {
		now.reason = "others"
	}
	words[now.reason]++
}

// whole adds a sale by ping and post.
func (r *record) whole(at load.Arrival, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.samples = append(r.samples, Sample{at.Due.Sub(r.begun), took, uint16(at.Part), timedSale, Sold, false})
}

// Now is what a progress line says: of the time since the last one.
type Now struct {
	After, Of time.Duration
	Rate      float64 // arrivals that came to an end, a second
	UnderWay  int64
	P50, P99  time.Duration
	Refused   int
	Errors    int // failed and broken
	Phase     string
}

// now sums up the samples since the last call.
func (r *record) now(since time.Duration) (n Now) {
	r.mu.Lock()
	fresh := slices.Clone(r.samples[r.told:])
	r.told = len(r.samples)
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
	n.P50, n.P99 = rank(took, 50), rank(took, 99)
	n.Rate = float64(answered) / max(since.Seconds(), 1e-9)
	return n
}

// rank is the percentile of times that are sorted; 0 of none.
func rank(sorted []time.Duration, percentile float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	i := int(float64(len(sorted))*percentile/100+0.999999) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}
