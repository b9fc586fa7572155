package scenario

import (
	"slices"
	"time"
)

// SetRate scales the rates of all phases so that the first measured phase has this rate.
func (s *Scenario) SetRate(rate float64) {
	if p := slices.IndexFunc(s.Phases, func(p Phase) bool { return !p.Warmup }); p >= 0 {
		times := rate / s.Phases[p].Rate
		for i := range s.Phases {
			s.Phases[i].Rate *= times
		}
	}
}

// SetDuration scales the measured phases to this total duration. It also scales the
// warm-up phases if that makes them shorter.
func (s *Scenario) SetDuration(duration time.Duration) {
	var now time.Duration
	for _, p := range s.Phases {
		if !p.Warmup {
			now += p.For
		}
	}
	if now == 0 {
		return
	}
	times := float64(duration) / float64(now)
	for i := range s.Phases {
		if p := &s.Phases[i]; !p.Warmup || times < 1 {
			p.For = time.Duration(float64(p.For) * times)
		}
	}
}

// SetBuyers sets the number of buyers in the first group.
func (s *Scenario) SetBuyers(buyers int) {
	if len(s.Buyers) > 0 {
		s.Buyers[0].Count = buyers
	}
}

// Duration returns the total duration of all phases.
func (s *Scenario) Duration() (sum time.Duration) {
	for _, p := range s.Phases {
		sum += p.For
	}
	return sum
}
