package config

import (
	"time"

	"pingpost/engine/market/calendar"
)

// Schedule is when a door is open, in lines such as Mon-Fri 08:00-18:00.
type Schedule struct {
	TimeZone string   `json:"time_zone,omitempty"` // absent: that of what it belongs to
	Open     []string `json:"open,omitempty"`
}

// schedule compiles opening hours; nil is always open.
func (c *compiler) schedule(at place, s *Schedule, zone *time.Location) *calendar.Schedule {
	if s == nil {
		return nil
	}
	if s.TimeZone != "" {
		zone = c.zone(at.key("time_zone"), s.TimeZone)
	}
	if len(s.Open) == 0 {
		c.fail(at.key("open"), "lists no opening hours; write such as Mon-Fri 08:00-18:00, or leave the schedule out to be always open")
		return nil
	}
	good := true
	for i, line := range s.Open {
		if _, err := calendar.ParseSchedule(zone, []string{line}); err != nil {
			c.failQuoting(at.key("open").at(i), err.Error())
			good = false
		}
	}
	if !good {
		return nil
	}
	schedule, err := calendar.ParseSchedule(zone, s.Open)
	if err != nil {
		c.failQuoting(at.key("open"), err.Error())
	}
	return schedule
}
