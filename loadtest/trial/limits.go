package trial

import (
	"fmt"
	"slices"
	"time"

	"pingpost/loadtest/scenario"
)

// Limit is one that was to be held.
type Limit struct {
	What string `json:"what"` // as p99 of ping
	Got  string `json:"got"`
	Most string `json:"most"`
	Held bool   `json:"held"`
}

// held judges a result. What nothing was measured of is not held: a test that shows
// nothing has not passed.
func held(s *scenario.Scenario, r *Result, samples []Sample) (all []Limit) {
	add := func(what, got, most string, held bool) { all = append(all, Limit{what, got, most, held}) }
	for _, l := range r.Latencies {
		q, limited := s.Limits.Latency[scenario.Timed(l.Of)]
		if !limited {
			continue
		}
		for _, x := range []struct {
			name      string
			got, most time.Duration
		}{{"p50", l.P50, q.P50}, {"p99", l.P99, q.P99}, {"p999", l.P999, q.P999}, {"max", l.Max, q.Max}} {
			if x.most > 0 {
				add(x.name+" of "+l.Of, Short(x.got), Short(x.most), l.Count > 0 && x.got <= x.most)
			}
		}
	}
	total := 0
	for _, n := range r.Ends {
		total += n
	}
	share := func(what string, n int, most float64) {
		part := float64(n) / float64(max(1, total))
		add(what, fmt.Sprintf("%d, %.3g %%", n, part*100), fmt.Sprintf("%.3g %%", most*100), total > 0 && part <= most)
	}
	share("errors", r.Ends[Failed.String()]+r.Ends[Broken.String()], s.Limits.Errors)
	share("refused", r.Ends[Refused.String()], s.Limits.Refused)
	share("without a buyer", r.Ends[Unsold.String()]+r.Ends[Open.String()], s.Limits.Unsold)
	if s.Limits.Recovery != nil {
		all = append(all, recovered(s, r, samples))
	}
	for _, ratio := range s.Limits.Ratios {
		all = append(all, compared(s, &ratio, samples))
	}
	g := r.Generator
	add("p99 of how late the client began", Short(g.P99), Short(s.Limits.Late), g.P99 <= s.Limits.Late)
	add("arrivals that found all connections busy", fmt.Sprint(g.Full), "0", g.Full == 0)
	add("accounts that differ", fmt.Sprint(len(r.Account.Wrong)), "0", len(r.Account.Wrong) == 0)
	if s.Webhooks != nil && r.Account.Hooks != nil {
		h := r.Account.Hooks
		add("webhooks heard", fmt.Sprintf("%d of %d, after %s", h.Heard, h.Owed, Short(h.Within)), "all, within "+Short(s.Webhooks.Within),
			h.Heard >= h.Owed && h.Within <= s.Webhooks.Within)
	}
	return all
}

// phaseOf is the index of a phase, by its name.
func phaseOf(s *scenario.Scenario, name string) int {
	return slices.IndexFunc(s.Phases, func(p scenario.Phase) bool { return p.Name == name })
}

func timedOf(t scenario.Timed) timed { return timed(slices.Index(scenario.AllTimed, t)) }

// quantile is a percentile of one phase; false: nothing was measured there.
func quantile(s *scenario.Scenario, samples []Sample, t scenario.Timed, phase string, percentile float64) (time.Duration, bool) {
	part := phaseOf(s, phase) + 1
	took := times(samples, timedOf(t), func(x *Sample) bool { return int(x.part) == part })
	slices.Sort(took)
	return rank(took, percentile), len(took) > 0
}

func compared(s *scenario.Scenario, ratio *scenario.Ratio, samples []Sample) Limit {
	of, some := quantile(s, samples, ratio.Latency, ratio.Phase, ratio.At)
	to, others := quantile(s, samples, ratio.Latency, ratio.To, ratio.At)
	times := float64(of) / float64(max(1, to))
	return Limit{
		What: fmt.Sprintf("p%v of %s, %s over %s", ratio.At, ratio.Latency, ratio.Phase, ratio.To),
		Got:  fmt.Sprintf("%.2f times (%s and %s)", times, Short(of), Short(to)), Most: fmt.Sprintf("%v times", ratio.Most),
		Held: some && others && times <= ratio.Most,
	}
}

// calm is how long a stretch has to be normal to count as such: its p99 is of what
// came in it.
const calm = 500 * time.Millisecond

// recovered finds how long after a phase's end latencies were still above what is
// normal: until the end of the last stretch of half a second whose p99 was.
func recovered(s *scenario.Scenario, r *Result, samples []Sample) Limit {
	want := s.Limits.Recovery
	normal, known := quantile(s, samples, want.Latency, want.Like, 99)
	normal = max(time.Duration(float64(normal)*want.Times), want.Or)
	end := r.phaseEnd(want.After)
	stretches := map[int][]time.Duration{}
	for _, took := range after(samples, timedOf(want.Latency), end) {
		i := int(took.Due / calm)
		stretches[i] = append(stretches[i], took.Took)
	}
	var took time.Duration
	shown := false
	for i, all := range stretches {
		shown = shown || time.Duration(i+1)*calm > want.Within
		slices.Sort(all)
		if rank(all, 99) > normal {
			took = max(took, time.Duration(i+1)*calm)
		}
	}
	return Limit{
		What: fmt.Sprintf("p99 of %s after %s, until it was %s again", want.Latency, want.After, Short(normal)),
		Got:  Short(took), Most: Short(want.Within), Held: known && shown && took <= want.Within,
	}
}

// after are samples that were due after a time, counted from it.
func after(samples []Sample, what timed, from time.Duration) (late []Sample) {
	for _, x := range samples {
		if x.what == what && x.Due >= from && (x.end == Sold || x.end == Unsold) {
			x.Due -= from
			late = append(late, x)
		}
	}
	return late
}

func (r *Result) phaseEnd(name string) time.Duration {
	for i := range r.Phases {
		if r.Phases[i].Name == name {
			return r.Phases[i].To
		}
	}
	return 0
}
