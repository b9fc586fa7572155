package calendar

import (
	"math"
	"strings"
	"testing"
	"time"
)

// pickInstant returns a whole minute between 1980 and 2099, when all offsets are whole minutes.
// If near is set, it is within 27 hours of the zone's next change of offset.
func pickInstant(zone *time.Location, minute int64, near bool, past int16) int64 {
	const first, last = 10 * 366 * 24 * 60, 130 * 365 * 24 * 60 // 1980 to 2099
	at := time.Unix((first+int64(uint64(minute)%(last-first)))*60, 0).In(zone)
	if _, end := at.ZoneBounds(); near && !end.IsZero() && end.Year() < 2099 {
		at = end.Add(time.Duration(past%(27*60)) * time.Minute)
	}
	return at.UnixNano()
}

// FuzzWindow compares the windows of caps with the model, which reads the clock minute by minute.
// The seeds combine each zone with each period, far from a change of the clocks and next to one.
func FuzzWindow(f *testing.F) {
	for i := range 20 * len(unusualZones) {
		zone, period, round := i%len(unusualZones), i/len(unusualZones)%4, i/len(unusualZones)/4
		f.Add(uint8(zone), uint8(period), int64(i)*9_999_991, round > 1, int16(i*17), int64(i))
	}
	f.Fuzz(func(t *testing.T, where, which uint8, minute int64, near bool, past int16, into int64) {
		zone := loadZone(t, unusualZones[int(where)%len(unusualZones)])
		p := Hour + Period(which%4)
		at := pickInstant(zone, minute, near, past) + int64(uint64(into)%uint64(time.Minute))
		start, end := p.WindowContaining(at, zone)
		if wantStart, wantEnd := windowModel(p, at, zone); start != wantStart || end != wantEnd {
			t.Fatalf("%s of %s in %s: %d to %d, want %d to %d", p, time.Unix(0, at).In(zone), zone, start, end, wantStart, wantEnd)
		}
	})
}

// parseHoursModel parses a line of opening hours; false means that the contract forbids it.
func parseHoursModel(line string) (h hours, ok bool) {
	days, times, ok := strings.Cut(line, " ")
	if !ok {
		return h, false
	}
	from, to, ranged := strings.Cut(days, "-")
	if !ranged {
		to = from
	}
	h.firstDay, h.lastDay = -1, -1
	for i, name := range weekdays {
		if name == from {
			h.firstDay = i
		}
		if name == to {
			h.lastDay = i
		}
	}
	opens, closes, _ := strings.Cut(times, "-")
	var okFrom, okTo bool
	h.opens, okFrom = parseClockModel(opens)
	h.closes, okTo = parseClockModel(closes)
	return h, h.firstDay >= 0 && h.lastDay >= 0 && okFrom && okTo && h.opens < 24*60 && h.opens != h.closes
}

func parseClockModel(text string) (minute int, ok bool) {
	if text == "24:00" {
		return 24 * 60, true
	}
	at, err := time.Parse("15:04", text)
	return at.Hour()*60 + at.Minute(), err == nil && len(text) == len("15:04")
}

// FuzzSchedule compares accepted lines with the model, and the opening state with the zone's
// clock, minute by minute until the next change. The seeds combine each zone with all lines, far
// from a change of the clocks and next to one.
func FuzzSchedule(f *testing.F) {
	for i, lines := range []string{
		"Mon-Fri 08:00-18:00", "Sat 10:00-24:00", "Fri-Mon 22:00-02:00", "Mon-Sun 00:00-24:00", "Mon 00:00-00:00", "Sun 23:59-00:01\nMon 00:00-01:00",
		"Mon-Sun 08:00-18:00\nMon-Sun 18:00-08:00", "Mon 24:00-25:00", "mon 08:00-09:00", "Mon  08:00-09:00", "Mon-Fri-Sat 08:00-09:00", "", "Tue 8:00-9:00", "Wed 02:00-03:00\nThu 02:30-02:31",
		"Sun-Sun 12:00-11:59", "Sun 01:00-03:00\nSat 00:00-24:00\nFri 23:00-24:00",
	} {
		for zone := range unusualZones {
			for round := range 3 {
				f.Add(uint8(zone), lines, int64(i+zone+100*round)*7_777_777, round > 0, int16(-100*i))
			}
		}
	}
	f.Fuzz(func(t *testing.T, where uint8, text string, minute int64, near bool, past int16) {
		zone := loadZone(t, unusualZones[int(where)%len(unusualZones)])
		lines := strings.Split(text, "\n")
		if len(lines) > 8 {
			return
		}
		all, isValid := make([]hours, len(lines)), true
		for i, line := range lines {
			var ok bool
			all[i], ok = parseHoursModel(line)
			isValid = isValid && ok
		}
		s, err := ParseWeeklySchedule(zone, lines)
		if (err == nil) != isValid {
			t.Fatalf("%q: %v, want valid: %t", lines, err, isValid)
		}
		if err != nil {
			return
		}
		checkSchedule(t, s, zone, all, pickInstant(zone, minute, near, past))
	})
}

func checkSchedule(t *testing.T, s *WeeklySchedule, zone *time.Location, all []hours, at int64) {
	stateAt := func(minute int64) (open bool, offset int) {
		at := time.Unix(minute*60, 0).In(zone)
		for _, h := range all {
			open = open || h.include((int(at.Weekday())+6)%7, at.Hour()*60+at.Minute())
		}
		_, offset = at.Zone()
		return open, offset
	}
	open, until := s.IsOpenAt(at)
	first := at / int64(time.Minute)
	openNow, offsetNow := stateAt(first)
	if open != openNow || until <= at || until != math.MaxInt64 && until%int64(time.Minute) != 0 {
		t.Fatalf("%v at %s: open %t until %d", all, time.Unix(0, at).In(zone), open, until)
	}
	for minute := first; minute < first+8*24*60; minute++ {
		open, offset := stateAt(minute)
		isPast := minute*int64(time.Minute) >= until
		if !isPast && open != openNow || isPast && open == openNow && offset == offsetNow {
			t.Fatalf("%v at %s: at %s open %t, but no change is expected until %d", all, time.Unix(0, at).In(zone), time.Unix(minute*60, 0).In(zone), open, until)
		}
		if isPast {
			return
		}
	}
}
