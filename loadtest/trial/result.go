package trial

import (
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"pingpost/loadtest/load"
	"pingpost/loadtest/scenario"
)

// Result is the result of a run. In JSON, times are in nanoseconds and shares are from 0
// to 1.
type Result struct {
	Scenario    string        `json:"scenario"`
	About       string        `json:"about"`
	Seed        uint64        `json:"seed"`
	Began       time.Time     `json:"began"`
	Lasted      time.Duration `json:"lasted"` // until the last answer
	Interrupted bool          `json:"interrupted"`

	Offered   int            `json:"offered"` // scheduled arrivals, including the warm-up
	Sent      int            `json:"sent"`    // arrivals that were sent
	Ends      map[string]int `json:"ends"`    // measured arrivals by outcome
	Reasons   []Reason       `json:"reasons"`
	Latencies []Latency      `json:"latencies"` // by kind of request, over the measured phases without Apart
	Phases    []Phase        `json:"phases"`    // measured phases of the scenario
	Seconds   []Second       `json:"seconds"`   // all seconds, including the warm-up
	Stages    []Stage        `json:"stages"`    // phases of a request inside the exchange, by path
	Syncs     *Syncs         `json:"syncs"`     // of the exchange's log
	Generator Generator      `json:"generator"`
	Account   *Account       `json:"account"`
	Limits    []Limit        `json:"limits"`
}

// Held reports whether the whole scenario ran and every limit was held.
func (r *Result) Held() bool {
	return !r.Interrupted && !slices.ContainsFunc(r.Limits, func(l Limit) bool { return !l.Held })
}

// Reason counts requests that were not sold, by reason.
type Reason struct {
	Request string `json:"request"` // ingest, ping or post
	End     string `json:"end"`
	Word    string `json:"word"`
	Count   int    `json:"count"`
}

// Latency is a distribution.
type Latency struct {
	Of    string        `json:"of"`
	Count int           `json:"count"`
	Mean  time.Duration `json:"mean"`
	P50   time.Duration `json:"p50"`
	P90   time.Duration `json:"p90"`
	P99   time.Duration `json:"p99"`
	P999  time.Duration `json:"p999"`
	Max   time.Duration `json:"max"`
	Curve []Point       `json:"curve"`
}

// Point is a percentile: this percentage of times was not above Took.
type Point struct {
	Percentile float64       `json:"percentile"`
	Took       time.Duration `json:"took"`
}

// Phase is a measured phase of the scenario.
type Phase struct {
	Name      string        `json:"name"`
	From      time.Duration `json:"from"`
	To        time.Duration `json:"to"`
	Rate      float64       `json:"rate"` // scheduled arrivals a second
	Apart     bool          `json:"apart"`
	Latencies []Latency     `json:"latencies"`
}

// Second has the outcomes of the arrivals that were due in one second.
type Second struct {
	Sold    int           `json:"sold"`
	Unsold  int           `json:"unsold"`
	Refused int           `json:"refused"`
	Errors  int           `json:"errors"`
	P50     time.Duration `json:"p50"` // from the due time to the last answer
	P99     time.Duration `json:"p99"`
	Max     time.Duration `json:"max"`
}

// Generator describes how well the client kept to its schedule.
type Generator struct {
	P50      time.Duration `json:"p50"` // delay of the arrivals
	P99      time.Duration `json:"p99"`
	Max      time.Duration `json:"max"`
	Full     int           `json:"full"`      // arrivals that found all connections busy
	InFlight int           `json:"in_flight"` // number of connections
}

// distribution summarizes times in a histogram with three digits.
func distribution(of string, took []time.Duration) Latency {
	h := hdrhistogram.New(int64(time.Microsecond), int64(time.Minute), 3)
	for _, t := range took {
		if err := h.RecordValue(min(int64(t), int64(time.Minute))); err != nil {
			panic("BUG: a latency that no histogram has room for: " + err.Error())
		}
	}
	l := Latency{Of: of, Count: len(took)}
	if len(took) == 0 {
		return l
	}
	at := func(percentile float64) time.Duration { return time.Duration(h.ValueAtPercentile(percentile)) }
	l.Mean = time.Duration(h.Mean())
	l.P50, l.P90, l.P99, l.P999, l.Max = at(50), at(90), at(99), at(99.9), time.Duration(h.Max())
	for _, percentile := range curve(len(took)) {
		l.Curve = append(l.Curve, Point{percentile, at(percentile)})
	}
	return l
}

// curve returns percentiles, nine for each power of ten of the remaining share, up to the
// last one for which n times are enough.
func curve(n int) (percentiles []float64) {
	percentiles = append(percentiles, 0)
	for left := 100.0; left*float64(n) >= 100; left /= 10 {
		for i := 9; i >= 1; i-- {
			percentiles = append(percentiles, 100-left*float64(i)/10)
		}
	}
	return append(percentiles, 100)
}

// summarize computes the result.
func summarize(s *scenario.Scenario, l *loop, stats load.OpenStats, account *Account) *Result {
	r := &Result{
		Scenario: s.Name, About: s.About, Seed: l.opt.Seed, Began: l.began.UTC(), Lasted: l.end,
		Offered: len(schedule(s, l.opt.Seed)), Sent: int(stats.Arrivals), Account: account, Ends: map[string]int{},
		Generator: Generator{
			P50: time.Duration(stats.Lag.ValueAtPercentile(50)), P99: time.Duration(stats.Lag.ValueAtPercentile(99)),
			Max: time.Duration(stats.Lag.Max()), Full: int(stats.Full), InFlight: s.InFlight,
		},
	}
	samples := l.record.samples
	r.ends(samples)
	r.reasons(l.record)
	for what, of := range scenario.AllTimed {
		if s.Times(of) {
			r.Latencies = append(r.Latencies, distribution(string(of), latencies(samples, timedKind(what), func(x *Sample) bool {
				return x.part > 0 && !s.Phases[x.part-1].Apart
			})))
		}
	}
	var from time.Duration
	for i, p := range s.Phases {
		phase := Phase{Name: p.Name, From: from, To: from + p.For, Rate: p.Rate, Apart: p.Apart}
		from = phase.To
		if p.Warmup {
			continue
		}
		for what, of := range scenario.AllTimed {
			if s.Times(of) {
				in := func(x *Sample) bool { return int(x.part) == i+1 }
				phase.Latencies = append(phase.Latencies, distribution(string(of), latencies(samples, timedKind(what), in)))
			}
		}
		r.Phases = append(r.Phases, phase)
	}
	r.seconds(samples)
	r.Stages, r.Syncs = stages(l.watch.samples), syncs(l.watch.samples)
	slices.SortFunc(account.Buyers, byName)
	return r
}

// latencies returns the times of decided requests.
func latencies(samples []Sample, what timedKind, in func(*Sample) bool) (took []time.Duration) {
	for i := range samples {
		if x := &samples[i]; x.what == what && (x.end == Sold || x.end == Unsold) && in(x) {
			took = append(took, x.Took)
		}
	}
	return took
}

// ends counts arrivals by the outcome of their last request.
func (r *Result) ends(samples []Sample) {
	for i := range samples {
		if x := &samples[i]; x.part > 0 && x.last {
			r.Ends[x.end.String()]++
		}
	}
}

func (r *Result) reasons(rec *recorder) {
	for what := range rec.reasons {
		for end := range rec.reasons[what] {
			for word, n := range rec.reasons[what][end] {
				r.Reasons = append(r.Reasons, Reason{string(scenario.AllTimed[what]), Outcome(end).String(), word, n})
			}
		}
	}
	slices.SortFunc(r.Reasons, func(a, b Reason) int { return b.Count - a.Count })
}

// seconds assigns each arrival to the second in which it was due.
func (r *Result) seconds(samples []Sample) {
	took := map[int][]time.Duration{}
	for i := range samples {
		x := &samples[i]
		second := int(x.Due / time.Second)
		for len(r.Seconds) <= second {
			r.Seconds = append(r.Seconds, Second{})
		}
		s := &r.Seconds[second]
		if x.what == timedSale || x.last && x.what != timedPost && (x.end == Sold || x.end == Unsold) {
			took[second] = append(took[second], x.Took)
		}
		switch {
		case !x.last:
		case x.end == Sold:
			s.Sold++
		case x.end == Refused:
			s.Refused++
		case x.end == Unsold || x.end == Open:
			s.Unsold++
		default:
			s.Errors++
		}
	}
	for second, all := range took {
		slices.Sort(all)
		s := &r.Seconds[second]
		s.P50, s.P99, s.Max = percentileOf(all, 50), percentileOf(all, 99), all[len(all)-1]
	}
}
