package calendar

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"strings"
	"time"

	"pingpost/engine/market/format"
)

// WeeklySchedule holds a buyer's opening hours of a week, by the clocks of a zone. An hour that
// the clocks skip is never open, and an hour that they repeat is open twice. It is immutable.
//
// It stores the minutes at which it opens and closes, and not one bit for each of the week's
// 10,080 minutes, because callers also need the next change.
type WeeklySchedule struct {
	zone         *time.Location
	opensAtStart bool  // in the week's first minute
	changes      []int // minutes of the week, ascending, at which it opens or closes
}

const (
	minutesInDay  = 24 * 60
	minutesInWeek = daysInWeek * minutesInDay
	weekNanos     = int64(minutesInWeek) * int64(time.Minute)
)

var weekdays = [daysInWeek]string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}

// ParseSchedule reads opening hours such as
//
//	Mon-Fri 08:00-18:00
//	Sat 10:00-24:00
//	Fri-Mon 22:00-02:00
//
// The end is exclusive. Days may wrap around the week. If the end is not after the start, the
// hours continue into the next day. Overlapping hours are merged.
func ParseSchedule(zone *time.Location, open []string) (*WeeklySchedule, error) {
	if len(open) == 0 {
		return nil, errors.New("the schedule has no opening hours: write hours such as Mon-Fri 08:00-18:00, or remove the schedule to be always open")
	}
	var week [minutesInWeek]bool
	for _, line := range open {
		if err := addOpeningHours(&week, line); err != nil {
			return nil, fmt.Errorf("opening hours %q: %w", line, err)
		}
	}
	s := &WeeklySchedule{zone: zone, opensAtStart: week[0]}
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

// IsOpen reports whether the schedule is open at the instant t. until is the next instant at
// which the answer may change. Both are in Unix nanoseconds.
func (s *WeeklySchedule) IsOpen(t int64) (open bool, until int64) {
	if len(s.changes) == 0 {
		return s.opensAtStart, math.MaxInt64
	}
	run := offsetIntervalAt(floorDiv(t, int64(time.Second)), s.zone)
	local := t + run.offset*int64(time.Second) + mondayOffset*secondsInDay*int64(time.Second)
	intoWeek := local - floorDiv(local, weekNanos)*weekNanos
	minute := int(intoWeek / int64(time.Minute))

	passed := sort.SearchInts(s.changes, minute+1)
	next := minutesInWeek + s.changes[0]
	if passed < len(s.changes) {
		next = s.changes[passed]
	}
	until = t - intoWeek + int64(next)*int64(time.Minute)
	if run.to < until/int64(time.Second) { // the clocks are set before that
		until = run.to * int64(time.Second)
	}
	return s.opensAtStart != (passed%2 == 1), until
}

// addOpeningHours marks the minutes of the week that a line, such as Mon-Fri 08:00-18:00,
// declares open.
func addOpeningHours(week *[minutesInWeek]bool, line string) error {
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
			week[(d*minutesInDay+minute)%minutesInWeek] = true
		}
		if d == to {
			return nil
		}
	}
}

// parseWeekday returns the index of a weekday's short name, from 0 for Mon.
func parseWeekday(name string) (int, error) {
	for i, weekday := range weekdays {
		if name == weekday {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%q is not a weekday: use %s", name, strings.Join(weekdays[:], " "))
}

// parseTimeRange parses HH:MM-HH:MM as minutes since midnight. If the hours end on the next day,
// closes is past 24:00.
func parseTimeRange(text string) (opens, closes int, err error) {
	from, to, _ := strings.Cut(text, "-")
	opens, okFrom := parseMinuteOfDay(from)
	closes, okTo := parseMinuteOfDay(to)
	switch {
	case !okFrom, !okTo:
		return 0, 0, fmt.Errorf("%q is not a time range: write HH:MM-HH:MM, from 00:00 to 24:00", text)
	case opens == minutesInDay:
		return 0, 0, errors.New("24:00 can only be an end of hours: to start there, use 00:00 of the next day")
	case opens == closes:
		return 0, 0, errors.New("the hours end at the minute of their start: write 00:00-24:00 for a whole day")
	case closes < opens:
		closes += minutesInDay
	}
	return opens, closes, nil
}

// parseMinuteOfDay parses HH:MM, up to 24:00, as minutes since midnight. The bool is false for
// any other text.
func parseMinuteOfDay(text string) (int, bool) {
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
