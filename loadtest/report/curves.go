package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"
	"time"

	"pingpost/loadtest/load"
	"pingpost/loadtest/trial"
)

// drawing is a chart with its title and legend.
type drawing struct {
	Title, Says string
	Legend      []entry
	SVG         template.HTML
}

type entry struct{ Color, Name string }

func (c *chart) drawing(title, says string) drawing {
	d := drawing{Title: title, Says: says, SVG: c.draw()}
	for _, s := range c.series {
		d.Legend = append(d.Legend, entry{s.color, s.name})
	}
	return d
}

var colors = []string{"c1", "c2", "c3", "c4", "c5"}

// tickTime formats a time in milliseconds for an axis.
func tickTime(ms float64) string {
	return strings.Replace(load.FormatDuration(time.Duration(ms*1e6+0.5)), "µ", "&#181;", 1)
}

func millis(d time.Duration) float64 { return float64(d) / 1e6 }

// overTime charts the latency by the second in which arrivals were due.
func overTime(r *trial.Result) drawing {
	c := &chart{label: "latency by second", x: secondsOf(r), bands: bandsOf(r)}
	least, most := math.Inf(1), 0.0
	for i, name := range []string{"max", "p99", "p50"} { // later series are drawn above earlier ones
		s := series{name: name, color: colors[2-i]}
		for second, x := range r.Seconds {
			value := math.NaN()
			if took := [...]time.Duration{x.Max, x.P99, x.P50}[i]; took > 0 {
				value = millis(took)
				least, most = min(least, value), max(most, value)
			}
			s.points = append(s.points, [2]float64{float64(second) + 0.5, value})
		}
		c.series = append(c.series, s)
	}
	c.y = logScale(least, most, tickTime)
	return c.drawing("Latency over time", "From when an arrival was due to its last answer, by the second in which it was due. A stall lifts all who came meanwhile.")
}

// rates charts the outcomes of each second's arrivals.
func rates(r *trial.Result) drawing {
	c := &chart{label: "arrivals by second", x: secondsOf(r), bands: bandsOf(r), layered: true}
	most := 0.0
	layers := []struct {
		name, color string
		of          func(*trial.Second) int
	}{
		{"sold", "good", func(s *trial.Second) int { return s.Sold }},
		{"without a buyer", "c2", func(s *trial.Second) int { return s.Unsold }},
		{"refused, to come again", "c3", func(s *trial.Second) int { return s.Refused }},
		{"errors", "bad", func(s *trial.Second) int { return s.Errors }},
	}
	for _, l := range layers {
		s := series{name: l.name, color: l.color}
		sum := 0
		for second := range r.Seconds {
			x := &r.Seconds[second]
			sum += l.of(x)
			most = max(most, float64(x.Sold+x.Unsold+x.Refused+x.Errors))
			s.points = append(s.points, [2]float64{float64(second) + 0.5, float64(l.of(x))})
		}
		if sum > 0 {
			c.series = append(c.series, s)
		}
	}
	c.y = linearScale(most, func(v float64) string { return fmt.Sprintf("%.0f", v) })
	return c.drawing("Rate over time", "Arrivals a second, by what they came to.")
}

// percentiles charts the distribution of each latency, with a scale that shows the tail.
func percentiles(r *trial.Result) drawing {
	c := &chart{label: "latency by percentile"}
	least, most, count := math.Inf(1), 0.0, 1
	for i, l := range r.Latencies {
		if l.Count == 0 {
			continue
		}
		s := series{name: l.Of, color: colors[i%len(colors)]}
		count = max(count, l.Count)
		for _, p := range l.Curve {
			value := millis(p.Took)
			least, most = min(least, value), max(most, value)
			// The last point is the maximum. It is drawn at the percentile that one more
			// sample would have.
			s.points = append(s.points, [2]float64{nines(min(p.Percentile, 100-100/float64(2*l.Count))), value})
		}
		c.series = append(c.series, s)
	}
	c.y = logScale(least, most, tickTime)
	c.x = scale{most: max(1, nines(100-100/float64(2*count)))}
	for i, text := range []string{"0", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %", "99.9999 %"} {
		if float64(i) <= c.x.most {
			c.x.ticks = append(c.x.ticks, tick{float64(i), text})
		}
	}
	c.x.ticks = append(c.x.ticks, tick{math.Log10(2), "50 %"})
	return c.drawing("Percentiles", "So many of all took at most so long, in the phases that limits hold for.")
}

// nines returns the number of nines of a percentile: 1 for 90, 2 for 99.
func nines(percentile float64) float64 { return -math.Log10(1 - min(percentile, 99.9999999)/100) }

// stagesOver charts the phases of a path's requests by second.
func stagesOver(r *trial.Result, path string) (d drawing, shown bool) {
	c := &chart{label: "phases of " + path, layered: true}
	most := 0.0
	var sums []float64
	for i, s := range stagesOf(r, path) {
		layer := series{name: s.Name, color: colors[i%len(colors)]}
		for at, mean := range s.Means {
			if at == len(sums) {
				sums = append(sums, 0)
			}
			value := math.NaN()
			if mean >= 0 {
				value = millis(mean)
				sums[at] += value
				most = max(most, sums[at])
			}
			layer.points = append(layer.points, [2]float64{float64(at) + 0.5, value})
		}
		c.series = append(c.series, layer)
	}
	if len(c.series) == 0 || len(sums) < 2 {
		return d, false
	}
	c.x = linearScale(float64(len(sums)), func(v float64) string { return fmt.Sprintf("%.0f s", v) })
	c.x.most = float64(len(sums))
	c.x.ticks = ticksUpTo(c.x.ticks, c.x.most)
	c.y = linearScale(most, tickTime)
	return c.drawing(path, "Mean of each second, as the exchange measured it; the last second has what came after it."), true
}

func stagesOf(r *trial.Result, path string) (of []trial.Stage) {
	for _, s := range r.Stages {
		if s.Path == path {
			of = append(of, s)
		}
	}
	return of
}

func ticksUpTo(ticks []tick, most float64) (kept []tick) {
	for _, t := range ticks {
		if t.at <= most {
			kept = append(kept, t)
		}
	}
	return kept
}

func secondsOf(r *trial.Result) scale {
	s := linearScale(max(1, float64(len(r.Seconds))), func(v float64) string { return fmt.Sprintf("%.0f s", v) })
	s.most = max(1, float64(len(r.Seconds)))
	s.ticks = ticksUpTo(s.ticks, s.most)
	return s
}

// bandsOf returns the scenario's phases; the time before the first is the warm-up.
func bandsOf(r *trial.Result) (bands []band) {
	var from float64
	for _, p := range r.Phases {
		if p.From.Seconds() > from {
			bands = append(bands, band{"warm-up", from, p.From.Seconds(), true})
		}
		from = p.To.Seconds()
		bands = append(bands, band{p.Name, p.From.Seconds(), from, false})
	}
	return bands
}
