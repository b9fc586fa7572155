package calendar

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"pingpost/engine/market/format"
)

// WeeklySchedule holds the opening hours of a week, by the clocks of a zone, and the days on which
// they do not apply. An hour that the clocks skip is never open, and an hour that they repeat is
// open twice. It is immutable.
//
// It stores the minutes at which it opens and closes, and not one bit for each of the week's
// 10,080 minutes, because callers also need the next change.
type WeeklySchedule struct {
	zone         *time.Location
	openingHours []string // as configured, for messages
	closedDays   []string // as configured, for messages
	closedOn     []closedDay
	opensAtStart bool  // in the week's first minute
	changes      []int // minutes of the week, ascending, at which it opens or closes
}

const (
	minutesInDay  = 24 * 60
	minutesInWeek = daysInWeek * minutesInDay
	weekNanos     = int64(minutesInWeek) * int64(time.Minute)
)

var weekdays = [daysInWeek]string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}

// ParseWeeklySchedule reads opening hours such as
//
//	Mon-Fri 08:00-18:00
//	Sat 10:00-24:00
//	Fri-Mon 22:00-02:00
//
// The end is exclusive. Days may wrap around the week. If the end is before the start, the hours
// continue into the next day; an end equal to the start is an error. Overlapping hours are merged.
//
// closedOn lists days on which the schedule is closed, such as 2026-12-25, or 12-25 for every year.
// With them, openingHours may be empty: the schedule is then open at all other times.
func ParseWeeklySchedule(zone *time.Location, openingHours []string, closedOn ...string) (*WeeklySchedule, error) {
	if len(openingHours) == 0 && len(closedOn) == 0 {
		return nil, errors.New("the schedule has no opening hours: write hours such as Mon-Fri 08:00-18:00, or remove the schedule to be always open")
	}
	var week [minutesInWeek]bool
	for _, line := range openingHours {
		if err := markOpenMinutes(&week, line); err != nil {
			return nil, fmt.Errorf("opening hours %q: %w", line, err)
		}
	}
	s := &WeeklySchedule{
		zone: zone, openingHours: slices.Clone(openingHours), closedDays: slices.Clone(closedOn),
		opensAtStart: week[0] || len(openingHours) == 0,
	}
	for _, text := range closedOn {
		closed, err := parseClosedDay(text)
		if err != nil {
			return nil, err
		}
		s.closedOn = append(s.closedOn, closed)
	}
	for minute := 1; minute < minutesInWeek; minute++ {
		if week[minute] != week[minute-1] {
			s.changes = append(s.changes, minute)
		}
	}
	if week[0] != week[minutesInWeek-1] {
		s.changes = append(s.changes, minutesInWeek)
	}
	return s, nil
}

// String returns the configured opening hours, their time zone and the closed days, such as
// "Mon-Fri 08:00-18:00 America/New_York, closed on 12-25".
func (s *WeeklySchedule) String() string {
	hours := "all hours"
	if len(s.openingHours) > 0 {
		hours = strings.Join(s.openingHours, ", ")
	}
	text := hours + " " + s.zone.String()
	if len(s.closedDays) > 0 {
		text += ", closed on " + strings.Join(s.closedDays, ", ")
	}
	return text
}

// LocalWeekdayAndTime returns the weekday and the time of day in the schedule's zone, such as "Sat
// 02:10". On a closed day it returns the date too, such as "Fri 2026-12-25 10:00".
func (s *WeeklySchedule) LocalWeekdayAndTime(unixNanos int64) string {
	layout := "Mon 15:04"
	if s.isClosedOn(latestDayBegunBy(unixNanos, s.zone)) {
		layout = "Mon 2006-01-02 15:04"
	}
	return time.Unix(0, unixNanos).In(s.zone).Format(layout)
}

// IsOpenAt reports whether the schedule is open at the instant unixNanos. mayChangeAtNanos is the
// next instant at which the answer may change, or math.MaxInt64 if it never does. Both are in Unix
// nanoseconds.
func (s *WeeklySchedule) IsOpenAt(unixNanos int64) (open bool, mayChangeAtNanos int64) {
	open, mayChangeAtNanos = s.isOpenByHours(unixNanos)
	if len(s.closedOn) == 0 {
		return open, mayChangeAtNanos
	}
	return s.limitToOpenDays(open, mayChangeAtNanos, unixNanos)
}

// isOpenByHours is IsOpenAt without the closed days.
func (s *WeeklySchedule) isOpenByHours(unixNanos int64) (open bool, mayChangeAtNanos int64) {
	if len(s.changes) == 0 {
		return s.opensAtStart, math.MaxInt64
	}
	run := utcOffsetIntervalAt(floorDiv(unixNanos, int64(time.Second)), s.zone)
	local := unixNanos + run.offset*int64(time.Second) + mondayOffset*secondsInDay*int64(time.Second)
	intoWeek := local - floorDiv(local, weekNanos)*weekNanos
	minute := int(intoWeek / int64(time.Minute))

	passed := sort.SearchInts(s.changes, minute+1)
	next := minutesInWeek + s.changes[0]
	if passed < len(s.changes) {
		next = s.changes[passed]
	}
	mayChangeAtNanos = unixNanos - intoWeek + int64(next)*int64(time.Minute)
	if run.to < mayChangeAtNanos/int64(time.Second) { // the clocks are set before that
		mayChangeAtNanos = run.to * int64(time.Second)
	}
	return s.opensAtStart != (passed%2 == 1), mayChangeAtNanos
}

// markOpenMinutes marks the minutes of the week that a line, such as Mon-Fri 08:00-18:00,
// declares open.
func markOpenMinutes(openMinutes *[minutesInWeek]bool, line string) error {
	days, hours, ok := strings.Cut(line, " ")
	if !ok {
		return errors.New("write days and hours, such as Mon-Fri 08:00-18:00")
	}
	first, last, ranged := strings.Cut(days, "-")
	if !ranged {
		last = first
	}
	from, err := parseWeekday(first)
	if err != nil {
		return err
	}
	to, err := parseWeekday(last)
	if err != nil {
		return err
	}
	opens, closes, err := parseTimeRange(hours)
	if err != nil {
		return err
	}
	for d := from; ; d = (d + 1) % daysInWeek {
		for minute := opens; minute < closes; minute++ {
			openMinutes[(d*minutesInDay+minute)%minutesInWeek] = true
		}
		if d == to {
			return nil
		}
	}
}

// parseWeekday returns the index of a weekday's short name, from 0 for Mon.
func parseWeekday(name string) (daysAfterMonday int, err error) {
	for i, weekday := range weekdays {
		if name == weekday {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%q is not a weekday: use %s", name, strings.Join(weekdays[:], " "))
}

// parseTimeRange parses HH:MM-HH:MM as minutes since midnight. If the hours end on the next day,
// closesAtMinute is past 24:00.
func parseTimeRange(text string) (opensAtMinute, closesAtMinute int, err error) {
	from, to, _ := strings.Cut(text, "-")
	opensAtMinute, okFrom := parseMinuteOfDay(from)
	closesAtMinute, okTo := parseMinuteOfDay(to)
	switch {
	case !okFrom, !okTo:
		return 0, 0, fmt.Errorf("%q is not a time range: write HH:MM-HH:MM, from 00:00 to 24:00", text)
	case opensAtMinute == minutesInDay:
		return 0, 0, errors.New("24:00 can only be an end of hours: to start there, use 00:00 of the next day")
	case opensAtMinute == closesAtMinute:
		return 0, 0, errors.New("the hours end at the minute of their start: write 00:00-24:00 for a whole day")
	case closesAtMinute < opensAtMinute:
		closesAtMinute += minutesInDay
	}
	return opensAtMinute, closesAtMinute, nil
}

// parseMinuteOfDay parses HH:MM, up to 24:00, as minutes since midnight. The bool is false for
// any other text.
func parseMinuteOfDay(text string) (minutesAfterMidnight int, ok bool) {
	if len(text) != len("HH:MM") || text[2] != ':' {
		return 0, false
	}
	for _, i := range [4]int{0, 1, 3, 4} {
		if !format.IsDigit(text[i]) {
			return 0, false
		}
	}
	hour := int(text[0]-'0')*10 + int(text[1]-'0')
	minute := int(text[3]-'0')*10 + int(text[4]-'0')
	total := hour*60 + minute
	return total, minute < 60 && total <= minutesInDay
}
