package metrics

import (
	"io"
	"strconv"
	"sync/atomic"

	"github.com/VictoriaMetrics/metrics"

	"pingpost/engine/timing"
	"pingpost/internal/trace"
)

// requestPhase is one of the parts into which the server divides the time of a request.
type requestPhase uint8

const (
	phaseDecode requestPhase = iota // reading the body after the head, authentication, parsing
	phaseDecide                     // the engine's own work, including waits for conflicting requests
	phaseCommit                     // waiting for the log to be durable
	phaseBuyer                      // waiting for buyers' answers to pings and posts
	phaseAnswer                     // encoding the answer, without sending it
	phases
)

var phaseNames = [phases]string{"decode", "decide", "commit", "buyer", "answer"}

// RequestTimings records when a request passed certain points, in Unix nanoseconds, to compute the
// time of each phase.
type RequestTimings struct {
	Begun   int64 // the head was read
	entered int64 // the engine was called
	Left    int64 // the engine returned
	Engine  timing.Timings
	Trace   *trace.TracedRequest // nil: the request is not traced
}

// EnterEngine records that the server calls the engine at the time nowNanos. It returns the
// structure in which the engine records its own waiting times.
func (l *RequestTimings) EnterEngine(nowNanos int64) *timing.Timings {
	l.entered, l.Engine = nowNanos, timing.Timings{Trace: l.Trace.EnterEngine(nowNanos)}
	return &l.Engine
}

func (l *RequestTimings) LeaveEngine(nowNanos int64) {
	l.Left = nowNanos
	l.Trace.LeaveEngine(nowNanos)
}

// phaseDurations returns the nanoseconds that the request spent in each phase, if its answer is
// complete at the time answeredNanos. They add up to the whole time of the request.
func (l *RequestTimings) phaseDurations(answeredNanos int64) [phases]int64 {
	return [phases]int64{
		phaseDecode: l.entered - l.Begun,
		phaseDecide: l.Left - l.entered - l.Engine.Log - l.Engine.Buyers,
		phaseCommit: l.Engine.Log,
		phaseBuyer:  l.Engine.Buyers,
		phaseAnswer: answeredNanos - l.Left,
	}
}

// histogramBounds are the upper bounds of the buckets, in nanoseconds: 1, 2 and 5 of each
// power of ten from a microsecond to ten seconds.
var histogramBounds = func() (bounds [22]int64) {
	unit := int64(1000)
	for i := range bounds {
		bounds[i] = unit * [...]int64{1, 2, 5}[i%3]
		if i%3 == 2 {
			unit *= 10
		}
	}
	return bounds
}()

// durationHistogram counts durations in buckets without a lock, because each request updates five
// histograms.
type durationHistogram struct {
	buckets [len(histogramBounds) + 1]atomic.Uint64
	sum     atomic.Int64 // nanoseconds
	_       [64]byte     // padding: the next histogram starts in another cache line
}

func (h *durationHistogram) add(nanoseconds int64) {
	i := 0
	for i < len(histogramBounds) && nanoseconds > histogramBounds[i] {
		i++
	}
	h.buckets[i].Add(1)
	h.sum.Add(max(0, nanoseconds))
}

// phaseHistograms has a histogram for each phase of ingest, ping and post. Requests that were
// answered with an error do not count.
type phaseHistograms [3][phases]durationHistogram

var phaseRoutes = [len(phaseHistograms{})]Route{RouteIngest, RoutePing, RoutePost}

// CountPhases counts the time per phase of a request on this route that was answered without an
// error at the time answeredNanos. For an ingest it also counts the whole time.
func (m *Meter) CountPhases(route Route, l *RequestTimings, answeredNanos int64) {
	if route == RouteIngest {
		m.ingestTimes.add(answeredNanos - l.Begun)
	}
	for i, on := range phaseRoutes {
		if on == route {
			for p, nanoseconds := range l.phaseDurations(answeredNanos) {
				m.phases[i][p].add(nanoseconds)
			}
		}
	}
}

func (l *phaseHistograms) register(set *metrics.Set) { set.RegisterMetricsWriter(l.writeMetrics) }

// writeMetrics writes all phase histograms in the text format of Prometheus.
func (l *phaseHistograms) writeMetrics(w io.Writer) {
	var text []byte
	for i := range l {
		for p := range l[i] {
			text = l[i][p].appendPhaseMetricText(text, `{path="`+RouteNames[phaseRoutes[i]]+`",phase="`+phaseNames[p]+`"`)
		}
	}
	_, _ = w.Write(text) // an error means that the client has gone
}

const phaseMetric = "pingpost_phase_seconds"

func (h *durationHistogram) appendPhaseMetricText(text []byte, labels string) []byte {
	seconds := func(nanoseconds int64) []byte {
		return strconv.AppendFloat(nil, float64(nanoseconds)/1e9, 'g', -1, 64)
	}
	total := uint64(0)
	for i := range h.buckets {
		total += h.buckets[i].Load()
		bound := []byte("+Inf")
		if i < len(histogramBounds) {
			bound = seconds(histogramBounds[i])
		}
		text = append(append(append(append(text, phaseMetric+"_bucket"...), labels...), `,le="`...), bound...)
		text = append(strconv.AppendUint(append(text, `"} `...), total, 10), '\n')
	}
	text = append(append(append(append(text, phaseMetric+"_sum"...), labels...), "} "...), seconds(h.sum.Load())...)
	text = append(append(append(text, '\n'), phaseMetric+"_count"...), labels...)
	return append(strconv.AppendUint(append(text, "} "...), total, 10), '\n')
}
