package server

import (
	"io"
	"strconv"
	"sync/atomic"

	"github.com/VictoriaMetrics/metrics"

	"pingpost/engine"
	"pingpost/server/trace"
)

// phase is a stretch of a request's time in the server.
type phase uint8

const (
	phaseDecode phase = iota // head and body read, caller known, body parsed
	phaseDecide              // the engine's own work, and waiting for requests that stand in the way
	phaseCommit              // facts on their way to the disk
	phaseBuyer               // pings and posts under way
	phaseAnswer              // the answer put together; the kernel sends it
	phases
)

var phaseNames = [phases]string{"decode", "decide", "commit", "buyer", "answer"}

// lap takes a request's times, in Unix nanoseconds.
type lap struct {
	begun   int64 // its head was read
	entered int64 // the engine was called
	left    int64 // the engine returned
	spent   engine.Spent
	traced  *trace.Request // nil: it is not
}

// enter notes that the engine is called, and returns what it adds to.
func (l *lap) enter(now int64) *engine.Spent {
	l.entered, l.spent = now, engine.Spent{Trace: l.traced.Enter(now)}
	return &l.spent
}

func (l *lap) leave(now int64) {
	l.left = now
	l.traced.Leave(now)
}

// of are the five stretches, which add up to the whole.
func (l *lap) of(now int64) [phases]int64 {
	return [phases]int64{
		phaseDecode: l.entered - l.begun,
		phaseDecide: l.left - l.entered - l.spent.Log - l.spent.Buyers,
		phaseCommit: l.spent.Log,
		phaseBuyer:  l.spent.Buyers,
		phaseAnswer: now - l.left,
	}
}

// lapBounds are the buckets' upper bounds, in nanoseconds: 1, 2 and 5 of each power
// of ten from a microsecond to ten seconds.
var lapBounds = func() (bounds [22]int64) {
	unit := int64(1000)
	for i := range bounds {
		bounds[i] = unit * [...]int64{1, 2, 5}[i%3]
		if i%3 == 2 {
			unit *= 10
		}
	}
	return bounds
}()

// lapHistogram counts without a lock: five of them are written for each request.
type lapHistogram struct {
	buckets [len(lapBounds) + 1]atomic.Uint64
	sum     atomic.Int64 // nanoseconds
	_       [64]byte     // the next one's counts are in another line of the cache
}

func (h *lapHistogram) add(nanoseconds int64) {
	i := 0
	for i < len(lapBounds) && nanoseconds > lapBounds[i] {
		i++
	}
	h.buckets[i].Add(1)
	h.sum.Add(max(0, nanoseconds))
}

// lapMeter has a histogram for each phase of the three kinds of requests that
// decide something. What was refused before it was decided is in none.
type lapMeter [3][phases]lapHistogram

var lapRoutes = [len(lapMeter{})]route{routeIngest, routePing, routePost}

// lap counts a request that has got its answer.
func (m *Meter) lap(r route, l *lap, now int64) {
	if r == routeIngest {
		m.ingestLap.add(now - l.begun)
	}
	for i, on := range lapRoutes {
		if on == r {
			for p, nanoseconds := range l.of(now) {
				m.laps[i][p].add(nanoseconds)
			}
		}
	}
}

func (l *lapMeter) show(set *metrics.Set) { set.RegisterMetricsWriter(l.print) }

// print writes the histograms in Prometheus's text form.
func (l *lapMeter) print(w io.Writer) {
	var text []byte
	for i := range l {
		for p := range l[i] {
			text = l[i][p].appendTo(text, `{path="`+routeNames[lapRoutes[i]]+`",phase="`+phaseNames[p]+`"`)
		}
	}
	_, _ = w.Write(text) // whoever asked and has gone misses nothing
}

const lapName = "pingpost_phase_seconds"

func (h *lapHistogram) appendTo(text []byte, labels string) []byte {
	seconds := func(nanoseconds int64) []byte {
		return strconv.AppendFloat(nil, float64(nanoseconds)/1e9, 'g', -1, 64)
	}
	total := uint64(0)
	for i := range h.buckets {
		total += h.buckets[i].Load()
		bound := []byte("+Inf")
		if i < len(lapBounds) {
			bound = seconds(lapBounds[i])
		}
		text = append(append(append(append(text, lapName+"_bucket"...), labels...), `,le="`...), bound...)
		text = append(strconv.AppendUint(append(text, `"} `...), total, 10), '\n')
	}
	text = append(append(append(append(text, lapName+"_sum"...), labels...), "} "...), seconds(h.sum.Load())...)
	text = append(append(append(text, '\n'), lapName+"_count"...), labels...)
	return append(strconv.AppendUint(append(text, "} "...), total, 10), '\n')
}
