package trial

import (
	"fmt"
	"slices"
	"time"

	"pingpost/loadtest/load"
	"pingpost/loadtest/scenario"
)

// Limit is the check of one limit.
type Limit struct {
	What string `json:"what"` // for example "p99 of ping"
	Got  string `json:"got"`
	Most string `json:"most"`
	Held bool   `json:"held"`
}

// checkLimits checks all limits of a scenario. A limit without measured data is not held,
// because a test without data must not pass.
func checkLimits(s *scenario.Scenario, r *Result, samples []Sample) (all []Limit) {
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
				add(x.name+" of "+l.Of, load.FormatDuration(x.got), load.FormatDuration(x.most), l.Count > 0 && x.got <= x.most)
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
	share("unsold", r.Ends[Unsold.String()]+r.Ends[Open.String()], s.Limits.Unsold)
	if s.Limits.Recovery != nil {
		all = append(all, recoveryLimit(s, r, samples))
	}
	for _, ratio := range s.Limits.Ratios {
		all = append(all, ratioLimit(s, &ratio, samples))
	}
	g := r.Generator
	add("p99 of the client's own delay", load.FormatDuration(g.P99), load.FormatDuration(s.Limits.Late), g.P99 <= s.Limits.Late)
	add("arrivals that found all connections busy", fmt.Sprint(g.Full), "0", g.Full == 0)
	add("mismatches", fmt.Sprint(len(r.Account.Mismatches)), "0", len(r.Account.Mismatches) == 0)
	if s.Webhooks != nil && r.Account.Webhooks != nil {
		h := r.Account.Webhooks
		add("webhooks received", fmt.Sprintf("%d of %d, after %s", h.Received, h.Expected, load.FormatDuration(h.Within)), "all, within "+load.FormatDuration(s.Webhooks.Within),
			h.Received >= h.Expected && h.Within <= s.Webhooks.Within)
	}
	return all
}

// phaseOf returns the index of a phase.
func phaseOf(s *scenario.Scenario, name string) int {
	return slices.IndexFunc(s.Phases, func(p scenario.Phase) bool { return p.Name == name })
}

func timedOf(t scenario.Timed) timedKind { return timedKind(slices.Index(scenario.AllTimed, t)) }

// quantile returns a percentile of one phase. It returns false without measured data.
func quantile(s *scenario.Scenario, samples []Sample, t scenario.Timed, phase string, percentile float64) (time.Duration, bool) {
	part := phaseOf(s, phase) + 1
	took := latencies(samples, timedOf(t), func(x *Sample) bool { return int(x.part) == part })
	slices.Sort(took)
	return percentileOf(took, percentile), len(took) > 0
}

func ratioLimit(s *scenario.Scenario, ratio *scenario.Ratio, samples []Sample) Limit {
	of, some := quantile(s, samples, ratio.Latency, ratio.Phase, ratio.At)
	to, others := quantile(s, samples, ratio.Latency, ratio.To, ratio.At)
	times := float64(of) / float64(max(1, to))
	return Limit{
		What: fmt.Sprintf("p%v of %s, %s over %s", ratio.At, ratio.Latency, ratio.Phase, ratio.To),
		Got:  fmt.Sprintf("%.2f times (%s and %s)", times, load.FormatDuration(of), load.FormatDuration(to)), Most: fmt.Sprintf("%v times", ratio.Most),
		Held: some && others && times <= ratio.Most,
	}
}

// recoveryWindow is the length of the intervals whose p99 is compared.
const recoveryWindow = 500 * time.Millisecond

// recoveryLimit measures the time after the end of a phase until latencies are normal:
// the end of the last interval whose p99 is above normal.
func recoveryLimit(s *scenario.Scenario, r *Result, samples []Sample) Limit {
	want := s.Limits.Recovery
	normal, known := quantile(s, samples, want.Latency, want.Like, 99)
	normal = max(time.Duration(float64(normal)*want.Times), want.Or)
	end := r.phaseEnd(want.After)
	stretches := map[int][]time.Duration{}
	for _, took := range samplesAfter(samples, timedOf(want.Latency), end) {
		i := int(took.Due / recoveryWindow)
		stretches[i] = append(stretches[i], took.Took)
	}
	var took time.Duration
	shown := false
	for i, all := range stretches {
		shown = shown || time.Duration(i+1)*recoveryWindow > want.Within
		slices.Sort(all)
		if percentileOf(all, 99) > normal {
			took = max(took, time.Duration(i+1)*recoveryWindow)
		}
	}
	return Limit{
		What: fmt.Sprintf("p99 of %s after %s, until it was %s again", want.Latency, want.After, load.FormatDuration(normal)),
		Got:  load.FormatDuration(took), Most: load.FormatDuration(want.Within), Held: known && shown && took <= want.Within,
	}
}

// samplesAfter returns the samples due after a time, with due times relative to it.
func samplesAfter(samples []Sample, what timedKind, from time.Duration) (late []Sample) {
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
