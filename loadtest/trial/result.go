package trial

import (
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"pingpost/loadtest/load"
	"pingpost/loadtest/scenario"
)

// Result is all that a run has to tell. Times are in nanoseconds in its JSON, shares
// from 0 to 1.
type Result struct {
	Scenario    string        `json:"scenario"`
	About       string        `json:"about"`
	Seed        uint64        `json:"seed"`
	Began       time.Time     `json:"began"`
	Lasted      time.Duration `json:"lasted"` // until the last answer
	Interrupted bool          `json:"interrupted"`

	Offered   int            `json:"offered"` // arrivals of the calendar, warm-up included
	Sent      int            `json:"sent"`    // of these, those that came
	Ends      map[string]int `json:"ends"`    // arrivals that are measured, by what they came to
	Reasons   []Reason       `json:"reasons"`
	Latencies []Latency      `json:"latencies"` // of each kind of request, in the measured phases that are not apart
	Phases    []Phase        `json:"phases"`    // of the scenario, those that are measured
	Seconds   []Second       `json:"seconds"`   // one after the other, warm-up included
	Stages    []Stage        `json:"stages"`    // of a request in the exchange, by path
	Syncs     *Syncs         `json:"syncs"`     // of its log
	Generator Generator      `json:"generator"`
	Account   *Account       `json:"account"`
	Limits    []Limit        `json:"limits"`
}

// Held tells whether every limit was held, and the whole scenario was run.
func (r *Result) Held() bool {
	return !r.Interrupted && !slices.ContainsFunc(r.Limits, func(l Limit) bool { return !l.Held })
}

// Reason is why requests were not sold.
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

// Point says that so many of a hundred were not above Took.
type Point struct {
	Percentile float64       `json:"percentile"`
	Took       time.Duration `json:"took"`
}

// Phase is one of the scenario's.
type Phase struct {
	Name      string        `json:"name"`
	From      time.Duration `json:"from"`
	To        time.Duration `json:"to"`
	Rate      float64       `json:"rate"` // offered
	Apart     bool          `json:"apart"`
	Latencies []Latency     `json:"latencies"`
}

// Second is what came in one, by when it was due.
type Second struct {
	Sold    int           `json:"sold"`
	Unsold  int           `json:"unsold"`
	Refused int           `json:"refused"`
	Errors  int           `json:"errors"`
	P50     time.Duration `json:"p50"` // from due to the last answer
	P99     time.Duration `json:"p99"`
	Max     time.Duration `json:"max"`
}

// Generator is how well the client itself kept up.
type Generator struct {
	P50      time.Duration `json:"p50"` // of how late arrivals began
	P99      time.Duration `json:"p99"`
	Max      time.Duration `json:"max"`
	Full     int           `json:"full"`      // arrivals that found every connection busy
	InFlight int           `json:"in_flight"` // of which there are so many
}

// distribution sums times up in a histogram of three digits.
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

// curve are percentiles up to where so many times have something to say: nine to
// each power of ten of what is left above.
func curve(n int) (percentiles []float64) {
	percentiles = append(percentiles, 0)
	for left := 100.0; left*float64(n) >= 100; left /= 10 {
		for i := 9; i >= 1; i-- {
			percentiles = append(percentiles, 100-left*float64(i)/10)
		}
	}
	return append(percentiles, 100)
}

// sumUp makes a result of what was taken down.
func sumUp(s *scenario.Scenario, l *loop, passed load.Passed, account *Account) *Result {
	r := &Result{
		Scenario: s.Name, About: s.About, Seed: l.opt.Seed, Began: l.began.UTC(), Lasted: l.end,
		Offered: len(calendar(s, l.opt.Seed)), Sent: int(passed.Arrivals), Account: account, Ends: map[string]int{},
		Generator: Generator{
			P50: time.Duration(passed.Lag.ValueAtPercentile(50)), P99: time.Duration(passed.Lag.ValueAtPercentile(99)),
			Max: time.Duration(passed.Lag.Max()), Full: int(passed.Full), InFlight: s.InFlight,
		},
	}
	samples := l.record.samples
	r.ends(samples)
	r.reasons(l.record)
	for what, of := range scenario.AllTimed {
		if s.Times(of) {
			r.Latencies = append(r.Latencies, distribution(string(of), times(samples, timed(what), func(x *Sample) bool {
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
				phase.Latencies = append(phase.Latencies, distribution(string(of), times(samples, timed(what), in)))
			}
		}
		r.Phases = append(r.Phases, phase)
	}
	r.seconds(samples)
	r.Stages, r.Syncs = stages(l.watch.looks), syncs(l.watch.looks)
	slices.SortFunc(account.Buyers, byName)
	return r
}

// times are those of what was answered with a decision.
func times(samples []Sample, what timed, in func(*Sample) bool) (took []time.Duration) {
	for i := range samples {
		if x := &samples[i]; x.what == what && (x.end == Sold || x.end == Unsold) && in(x) {
			took = append(took, x.Took)
		}
	}
	return took
}

// ends counts arrivals by what their last request came to.
func (r *Result) ends(samples []Sample) {
	for i := range samples {
		if x := &samples[i]; x.part > 0 && x.last {
			r.Ends[x.end.String()]++
		}
	}
}

func (r *Result) reasons(taken *record) {
	for what := range taken.reasons {
		for end := range taken.reasons[what] {
			for word, n := range taken.reasons[what][end] {
				r.Reasons = append(r.Reasons, Reason{string(scenario.AllTimed[what]), End(end).String(), word, n})
			}
		}
	}
	slices.SortFunc(r.Reasons, func(a, b Reason) int { return b.Count - a.Count })
}

// seconds puts every arrival into the second in which it was due.
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
		s.P50, s.P99, s.Max = rank(all, 50), rank(all, 99), all[len(all)-1]
	}
}
