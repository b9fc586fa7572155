package scenario

import (
	"fmt"
	"slices"
)

func (c *checker) limits(s *Scenario) {
	l := &s.Limits
	c.share("$.limits.errors", "errors", l.Errors)
	c.share("$.limits.refused", "refused", l.Refused)
	c.share("$.limits.unsold", "unsold", l.Unsold)
	if l.Late <= 0 {
		c.addProblem("$.limits.late", "late %v: give a time above 0", l.Late)
	}
	for timed, q := range l.Latency {
		at := "$.limits.latency." + string(timed)
		c.timed(s, at, timed)
		if q.P50 < 0 || q.P99 < 0 || q.P999 < 0 || q.Max < 0 {
			c.addProblem(at, "latency of %s: give times above 0", timed)
		}
	}
	if r := l.Recovery; r != nil {
		c.timed(s, "$.limits.recovery.latency", r.Latency)
		c.measured(s, "$.limits.recovery.after", r.After)
		c.measured(s, "$.limits.recovery.like", r.Like)
		if r.Within <= 0 || r.Times < 1 {
			c.addProblem("$.limits.recovery", "recovery: give within a time above 0, and times 1 or more")
		}
		if last := len(s.Phases) - 1; last >= 0 && s.Phases[last].Name == r.After {
			c.addProblem("$.limits.recovery.after", "after %s: another phase must follow", r.After)
		}
	}
	for i, r := range l.Ratios {
		at := fmt.Sprintf("$.limits.ratios[%d]", i)
		c.timed(s, at+".latency", r.Latency)
		c.measured(s, at+".phase", r.Phase)
		c.measured(s, at+".to", r.To)
		if !(r.At > 0 && r.At <= 100) || !(r.Most > 0) {
			c.addProblem(at, "ratios: give a percentile up to 100, and a most above 0")
		}
	}
}

// timed checks that the scenario's requests have this latency.
func (c *checker) timed(s *Scenario, at string, t Timed) {
	if !slices.Contains(AllTimed, t) {
		c.addProblem(at, "unknown latency %q; give ingest, ping, post or sale", t)
		return
	}
	if !s.Times(t) {
		c.addProblem(at, "the scenario's kinds have no latency of %s", t)
	}
}

// Times reports whether the scenario's requests have this latency.
func (s *Scenario) Times(t Timed) bool {
	switch t {
	case TimedIngest:
		return s.Kinds[Ingest] > 0
	case TimedPing:
		return s.Kinds[Ping]+s.Kinds[PingPost] > 0
	}
	return s.Kinds[PingPost] > 0
}

func (c *checker) measured(s *Scenario, at, name string) {
	if !slices.ContainsFunc(s.Phases, func(p Phase) bool { return p.Name == name && !p.Warmup }) {
		c.addProblem(at, "there is no measured phase %q", name)
	}
}
