package calendar

import (
	"math"
	"time"
)

// Calendar days of a zone, as windows of time.
//
// A day begins at the first instant at which the zone's clocks show its date or
// a later one. Where midnight is skipped that is the first instant after the
// gap; where it comes twice, the first of the two; where clocks are set back
// from a new day into the old one, the new day goes on, because a window that
// was closed must not open again; where a whole date is skipped its window is
// empty. time.Date was no help: in a gap or an overlap it does not promise
// which of the two instants it returns.
//
// An hour is one that the zone's clocks show, at one offset from UTC. So a day
// that sets the clocks by an hour has 23 or 25 of them, and where they are set
// by half an hour, one hour is half as long.

// day counts the dates from 1970-01-01, in no zone.
type day int64

const (
	secondsInHour = 3600
	secondsInDay  = 24 * secondsInHour
	daysInWeek    = 7
	mondayOffset  = 3 // 1970-01-01 was a Thursday
)

// offsetRun is a stretch of time, in Unix seconds, during which a zone's
// clocks keep one offset from UTC.
type offsetRun struct {
	from, to int64
	offset   int64
}

// The instants that Unix nanoseconds can name, in seconds.
const (
	firstSecond = math.MinInt64 / int64(time.Second)
	lastSecond  = math.MaxInt64 / int64(time.Second)
)

// offsetRunAt merges neighbours that differ in name alone.
func offsetRunAt(seconds int64, zone *time.Location) offsetRun {
	at := time.Unix(seconds, 0).In(zone)
	_, offset := at.Zone()
	run := offsetRun{from: math.MinInt64, to: math.MaxInt64, offset: int64(offset)}
	for start, _ := at.ZoneBounds(); !start.IsZero() && start.Unix() > firstSecond; {
		before := start.Add(-time.Second)
		if _, o := before.Zone(); o != offset {
			run.from = start.Unix()
			break
		}
		start, _ = before.ZoneBounds()
	}
	for end := zoneEnd(at); !end.IsZero() && end.Unix() < lastSecond; end = zoneEnd(end) {
		if _, o := end.Zone(); o != offset {
			run.to = end.Unix()
			break
		}
	}
	return run
}

// zoneEnd is where the zone's rule may change next, always later than at.
// Go lets every year of a rule that goes on for ever end after 365 days, so on
// the last day of a leap year ZoneBounds tells an end that has passed. The year
// has no other change by then: the next may be on New Year's Day.
func zoneEnd(at time.Time) time.Time {
	_, end := at.ZoneBounds()
	if end.IsZero() || end.After(at) {
		return end
	}
	today := floorDiv(at.Unix(), secondsInDay)
	return time.Unix((today+1)*secondsInDay, 0).In(at.Location())
}

func hourWindow(t int64, zone *time.Location) (start, end int64) {
	seconds := floorDiv(t, int64(time.Second))
	run := offsetRunAt(seconds, zone)
	hour := floorDiv(seconds+run.offset, secondsInHour)*secondsInHour - run.offset
	return max(hour, run.from) * int64(time.Second), min(hour+secondsInHour, run.to) * int64(time.Second)
}

// startOfDay is the instant, in Unix nanoseconds, at which the day begins.
func startOfDay(d day, zone *time.Location) int64 {
	midnight := int64(d) * secondsInDay // as UTC has it
	// No clock is a day ahead of UTC, so a day earlier none shows the date.
	for run := offsetRunAt(midnight-secondsInDay, zone); ; run = offsetRunAt(run.to, zone) {
		if begins := max(midnight-run.offset, run.from); begins < run.to {
			return begins * int64(time.Second)
		}
	}
}

// dayReached is the latest day that has begun.
func dayReached(t int64, zone *time.Location) day {
	seconds := floorDiv(t, int64(time.Second))
	_, offset := time.Unix(seconds, 0).In(zone).Zone()
	d := day(floorDiv(seconds+int64(offset), secondsInDay))
	for startOfDay(d+1, zone) <= t {
		d++
	}
	return d
}

// firstDay is the first day of the window that a day is in.
func (p Period) firstDay(d day) day {
	switch p {
	case Week:
		return day(floorDiv(int64(d)+mondayOffset, daysInWeek)*daysInWeek - mondayOffset)
	case Month:
		year, month, _ := d.date()
		return dayOf(year, month)
	}
	return d
}

// nextFirstDay is the first day of the window after the one that begins so.
func (p Period) nextFirstDay(first day) day {
	switch p {
	case Week:
		return first + daysInWeek
	case Month:
		year, month, _ := first.date()
		return dayOf(year, month+1)
	}
	return first + 1
}

func (d day) date() (year int, month time.Month, dayOfMonth int) {
	return time.Unix(int64(d)*secondsInDay, 0).UTC().Date()
}

// dayOf is the first of a month; month 13 is the next January.
func dayOf(year int, month time.Month) day {
	return day(time.Date(year, month, 1, 0, 0, 0, 0, time.UTC).Unix() / secondsInDay)
}

// floorDiv rounds towards the past, also before 1970.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
