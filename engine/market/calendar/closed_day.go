package calendar

import (
	"fmt"
	"slices"
	"time"
)

// closedDay is a date on which a schedule is closed. The year 0 means the date of every year.
type closedDay struct {
	year       int
	month      time.Month
	dayOfMonth int
}

// parseClosedDay parses a date such as 2026-12-25, or a date of every year such as 12-25. The date
// must exist; 02-29 exists in leap years.
func parseClosedDay(text string) (closedDay, error) {
	const leapYear = "2000-"
	date, everyYear := text, len(text) == len("12-25")
	if everyYear {
		date = leapYear + text
	}
	at, err := time.Parse(time.DateOnly, date)
	if err != nil || at.Year() == 0 {
		return closedDay{}, fmt.Errorf("%q is not a date: write a date that exists, such as 2026-12-25, or 12-25 for every year", text)
	}
	d := closedDay{at.Year(), at.Month(), at.Day()}
	if everyYear {
		d.year = 0
	}
	return d, nil
}

// isClosedOn reports whether the schedule lists the day as closed.
func (s *WeeklySchedule) isClosedOn(d day) bool {
	year, month, dayOfMonth := d.dateInUTC()
	return slices.ContainsFunc(s.closedOn, func(closed closedDay) bool {
		return closed.month == month && closed.dayOfMonth == dayOfMonth && (closed.year == 0 || closed.year == year)
	})
}

// limitToOpenDays limits an answer of the opening hours at the instant unixNanos to the days that are
// not closed. A closed day lasts from its first instant to that of the next day, so it also ends where
// the clocks skip midnight. The limited answer may change at the end of each day.
func (s *WeeklySchedule) limitToOpenDays(openByHours bool, hoursChangeAtNanos, unixNanos int64) (open bool, mayChangeAtNanos int64) {
	today := latestDayBegunBy(unixNanos, s.zone)
	tomorrow := startOfDay(today+1, s.zone)
	if s.isClosedOn(today) {
		return false, tomorrow
	}
	return openByHours, min(hoursChangeAtNanos, tomorrow)
}
