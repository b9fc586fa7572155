package scenario

import "time"

// Faster scales every rate, so that the first phase that is measured has this one.
func (s *Scenario) Faster(rate float64) {
	if p := s.first(); p >= 0 {
		times := rate / s.Phases[p].Rate
		for i := range s.Phases {
			s.Phases[i].Rate *= times
		}
	}
}

func (s *Scenario) first() int {
	for i := range s.Phases {
		if !s.Phases[i].Warmup {
			return i
		}
	}
	return -1
}

// Last scales every phase that is measured, so that together they last so long; and
// the others with them where that makes them shorter.
func (s *Scenario) Last(lasting time.Duration) {
	var now time.Duration
	for _, p := range s.Phases {
		if !p.Warmup {
			now += p.For
		}
	}
	if now == 0 {
		return
	}
	times := float64(lasting) / float64(now)
	for i := range s.Phases {
		if p := &s.Phases[i]; !p.Warmup || times < 1 {
			p.For = time.Duration(float64(p.For) * times)
		}
	}
}

// Bought has so many buyers in the first group of them.
func (s *Scenario) Bought(buyers int) {
	if len(s.Buyers) > 0 {
		s.Buyers[0].Count = buyers
	}
}

// Lasting is how long all phases take together.
func (s *Scenario) Lasting() (sum time.Duration) {
	for _, p := range s.Phases {
		sum += p.For
	}
	return sum
}
