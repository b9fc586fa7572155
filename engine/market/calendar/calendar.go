package calendar

import (
	"math"
	"time"
)

// Calendar days of a zone, as windows of time.
//
// A day begins at the first instant at which the zone's clocks show its date or a later
// one:
//   - If clocks skip midnight, the day begins at the first instant after the gap.
//   - If midnight occurs twice, the day begins at the first one.
//   - If clocks are set back from a new day into the old one, the new day continues,
//     because a closed window must not open again.
//   - If clocks skip a whole date, its window is empty.
//
// Rejected: time.Date. In a gap or an overlap it does not define which of the two instants
// it returns.
//
// An hour is an hour of the zone's clocks at one offset from UTC. So a day on which the
// clocks change by an hour has 23 or 25 hours, and a change by half an hour makes one hour
// half as long.

// day is a calendar date as the number of days since 1970-01-01. It has no time zone.
type day int64

const (
	secondsInHour = 3600
	secondsInDay  = 24 * secondsInHour
	daysInWeek    = 7
	mondayOffset  = 3 // 1970-01-01 was a Thursday
)

// utcOffsetInterval is an interval of time in which a zone's clocks have one offset from UTC. from
// (inclusive) and to (exclusive) are in Unix seconds.
type utcOffsetInterval struct {
	from, to int64
	offset   int64
}

// The range of Unix nanoseconds, in seconds.
const (
	firstSecond = math.MinInt64 / int64(time.Second)
	lastSecond  = math.MaxInt64 / int64(time.Second)
)

// utcOffsetIntervalAt returns the interval of constant offset that contains an instant. It merges
// neighbouring intervals that differ only in the name of the zone.
func utcOffsetIntervalAt(unixSeconds int64, zone *time.Location) utcOffsetInterval {
	at := time.Unix(unixSeconds, 0).In(zone)
	_, offset := at.Zone()
	run := utcOffsetInterval{from: math.MinInt64, to: math.MaxInt64, offset: int64(offset)}
	for start, _ := at.ZoneBounds(); !start.IsZero() && start.Unix() > firstSecond; {
		before := start.Add(-time.Second)
		if _, o := before.Zone(); o != offset {
			run.from = start.Unix()
			break
		}
		start, _ = before.ZoneBounds()
	}
	for end := nextPossibleOffsetChange(at); !end.IsZero() && end.Unix() < lastSecond; end = nextPossibleOffsetChange(end) {
		if _, o := end.Zone(); o != offset {
			run.to = end.Unix()
			break
		}
	}
	return run
}

// nextPossibleOffsetChange returns the next instant later than after when the offset of its zone may
// change, or the zero time if it never changes again. It corrects Time.ZoneBounds: for a zone's
// recurring rule, Go ends every year after 365 days. So on the last day of a leap year ZoneBounds
// returns an end in the past. That year has no further change: the next one can be on New Year's Day.
func nextPossibleOffsetChange(after time.Time) (changeOrZero time.Time) {
	_, end := after.ZoneBounds()
	if end.IsZero() || end.After(after) {
		return end
	}
	today := floorDiv(after.Unix(), secondsInDay)
	return time.Unix((today+1)*secondsInDay, 0).In(after.Location())
}

// hourWindowContaining returns the start and end of the clock hour in the zone that contains unixNanos.
// All are in Unix nanoseconds.
func hourWindowContaining(unixNanos int64, zone *time.Location) (startNanos, endNanos int64) {
	seconds := floorDiv(unixNanos, int64(time.Second))
	run := utcOffsetIntervalAt(seconds, zone)
	hour := floorDiv(seconds+run.offset, secondsInHour)*secondsInHour - run.offset
	return max(hour, run.from) * int64(time.Second), min(hour+secondsInHour, run.to) * int64(time.Second)
}

// startOfDay returns the instant at which the date begins in the zone, in Unix nanoseconds.
func startOfDay(d day, zone *time.Location) (startNanos int64) {
	return FirstInstantShowing(int64(d)*secondsInDay, zone)
}

// FirstInstantShowing returns the first instant at which the zone's clocks show a date and time or a
// later one, in Unix nanoseconds. localSeconds is the Unix time at which clocks in UTC show it. If
// clocks skip the time, this is the instant after the gap. If they show it twice, it is the first one.
func FirstInstantShowing(localSeconds int64, zone *time.Location) (unixNanos int64) {
	// No clock is a day ahead of UTC, so a day earlier no clock shows the time.
	for run := utcOffsetIntervalAt(localSeconds-secondsInDay, zone); ; run = utcOffsetIntervalAt(run.to, zone) {
		if begins := max(localSeconds-run.offset, run.from); begins < run.to {
			return begins * int64(time.Second)
		}
	}
}

// latestDayBegunBy returns the latest date that has begun in the zone by unixNanos, in Unix
// nanoseconds.
func latestDayBegunBy(unixNanos int64, zone *time.Location) day {
	seconds := floorDiv(unixNanos, int64(time.Second))
	_, offset := time.Unix(seconds, 0).In(zone).Zone()
	d := day(floorDiv(seconds+int64(offset), secondsInDay))
	for startOfDay(d+1, zone) <= unixNanos {
		d++
	}
	return d
}

// firstDayOfPeriodContaining returns the first day of the day, week or month that contains dayInPeriod.
func (p Period) firstDayOfPeriodContaining(dayInPeriod day) day {
	switch p {
	case Week:
		return day(floorDiv(int64(dayInPeriod)+mondayOffset, daysInWeek)*daysInWeek - mondayOffset)
	case Month:
		year, month, _ := dayInPeriod.dateInUTC()
		return firstDayOfMonth(year, month)
	}
	return dayInPeriod
}

// firstDayOfNextPeriod returns the first day of the next day, week or month. firstOfPresent is the
// first day of the present one.
func (p Period) firstDayOfNextPeriod(firstOfPresent day) day {
	switch p {
	case Week:
		return firstOfPresent + daysInWeek
	case Month:
		year, month, _ := firstOfPresent.dateInUTC()
		return firstDayOfMonth(year, month+1)
	}
	return firstOfPresent + 1
}

// dateInUTC returns the day as year, month and day of the month.
func (d day) dateInUTC() (year int, month time.Month, dayOfMonth int) {
	return time.Unix(int64(d)*secondsInDay, 0).UTC().Date()
}

// firstDayOfMonth returns the first day of a month. Month 13 is January of the next year.
func firstDayOfMonth(year int, month time.Month) day {
	return day(time.Date(year, month, 1, 0, 0, 0, 0, time.UTC).Unix() / secondsInDay)
}

// floorDiv returns a/b rounded down, also for a negative a. b is positive.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
