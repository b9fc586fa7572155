package calendar

// CoveredMinutes collects the open minutes of schedules, for each zone. The zero value has none.
type CoveredMinutes map[string]*[minutesInWeek]bool

// Add adds the schedule's opening hours, without regard to its closed days. It reports whether a minute
// is new. Schedules of different zones do not cover each other.
func (c *CoveredMinutes) Add(s *WeeklySchedule) (addedMinute bool) {
	if *c == nil {
		*c = make(CoveredMinutes)
	}
	covered := (*c)[s.zone.String()]
	if covered == nil {
		covered = new([minutesInWeek]bool)
		(*c)[s.zone.String()] = covered
	}
	open, next := s.opensAtStart, 0
	for minute := range covered {
		if next < len(s.changes) && s.changes[next] == minute {
			open, next = !open, next+1
		}
		addedMinute = addedMinute || open && !covered[minute]
		covered[minute] = covered[minute] || open
	}
	return addedMinute
}
