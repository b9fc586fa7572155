package savedreport

import (
	"slices"
	"time"

	"pingpost/engine/market/calendar"
)

// Frequency is how often a schedule has a moment.
type Frequency string

const (
	Daily   Frequency = "daily"
	Weekly  Frequency = "weekly"
	Monthly Frequency = "monthly"
)

// Weekdays are the names of the weekdays in schedules, from Sunday on.
var Weekdays = [...]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// Schedule has a moment on each of its days, at a time of the workspace's time zone.
type Schedule struct {
	Frequency  Frequency `json:"frequency"`
	Weekday    string    `json:"weekday,omitempty"` // weekly: one of Weekdays
	Day        int       `json:"day,omitempty"`     // monthly: 1 to 31; in a shorter month, its last day
	Time       string    `json:"time"`              // 08:30
	Recipients []string  `json:"recipients"`        // e-mail addresses
}

// ParseTimeOfDay returns the minutes since midnight of a time such as 08:30. The bool is false for another
// text.
func ParseTimeOfDay(text string) (minutes int, ok bool) {
	t, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		return 0, false
	}
	return t.Hour()*60 + t.Minute(), true
}

// hasSameMomentsAs reports whether two schedules have the same moments. nil has none.
func (s *Schedule) hasSameMomentsAs(other *Schedule) bool {
	if s == nil || other == nil {
		return s == other
	}
	return s.Frequency == other.Frequency && s.Weekday == other.Weekday && s.Day == other.Day && s.Time == other.Time
}

// NextAfter returns the first moment later than unixNanos, in Unix nanoseconds.
func (s *Schedule) NextAfter(unixNanos int64, zone *time.Location) (momentNanos int64) {
	moments := s.momentsAround(unixNanos, zone)
	return moments[slices.IndexFunc(moments, func(m int64) bool { return m > unixNanos })]
}

// LatestBy returns the last moment that is not later than unixNanos, in Unix nanoseconds.
func (s *Schedule) LatestBy(unixNanos int64, zone *time.Location) (momentNanos int64) {
	moments := s.momentsAround(unixNanos, zone)
	after := slices.IndexFunc(moments, func(m int64) bool { return m > unixNanos })
	return moments[after-1]
}

// momentsAround returns moments of the schedule in ascending order, with at least one before and one
// after an instant.
//
// Each day of the schedule has one moment: the first instant at which clocks show its time or a later
// one. So a time that clocks skip moves to the first minute after the gap, and a time that they show
// twice counts once.
func (s *Schedule) momentsAround(unixNanos int64, zone *time.Location) (moments []int64) {
	year, month, day := time.Unix(0, unixNanos).In(zone).Date()
	minutes, _ := ParseTimeOfDay(s.Time)
	add := func(year int, month time.Month, day int) {
		date := time.Date(year, month, day, 0, minutes, 0, 0, time.UTC)
		if s.Frequency != Weekly || Weekdays[date.Weekday()] == s.Weekday {
			moments = append(moments, calendar.FirstInstantShowing(date.Unix(), zone))
		}
	}
	switch s.Frequency {
	case Monthly:
		for shift := time.Month(-2); shift <= 2; shift++ {
			lastDay := time.Date(year, month+shift+1, 0, 0, 0, 0, 0, time.UTC).Day()
			add(year, month+shift, min(s.Day, lastDay))
		}
	case Weekly:
		for shift := -9; shift <= 9; shift++ {
			add(year, month, day+shift)
		}
	default:
		for shift := -2; shift <= 2; shift++ {
			add(year, month, day+shift)
		}
	}
	return moments
}
