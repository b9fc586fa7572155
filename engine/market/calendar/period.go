package calendar

import (
	"math"
	"time"
)

// Period is the length of time over which a cap counts: an hour, day, week or month, or all of
// time.
type Period uint8

// Numbers are in the log and never change.
const (
	Hour  Period = 1
	Day   Period = 2
	Week  Period = 3 // begins on Monday
	Month Period = 4
	Total Period = 5 // has one window, all of time
)

var periodNames = [...]string{
	Hour: "hour", Day: "day", Week: "week", Month: "month", Total: "total",
}

// ParsePeriod returns the period named hour, day, week, month or total, and false for any other
// text.
func ParsePeriod(s string) (period Period, known bool) {
	for p := Hour; p <= Total; p++ {
		if periodNames[p] == s {
			return p, true
		}
	}
	return 0, false
}

func (p Period) String() string {
	if p < Hour || p > Total {
		return "unknown"
	}
	return periodNames[p]
}

// WindowContaining returns the hour, day, week or month in the zone that contains the instant unixNanos,
// or all of time for Total. startNanos is inclusive and endNanos exclusive; all are in Unix nanoseconds.
// The windows of one period and zone follow each other without gap or overlap, so a window's
// startNanos identifies it.
func (p Period) WindowContaining(unixNanos int64, zone *time.Location) (startNanos, endNanos int64) {
	switch p {
	case Hour:
		return hourWindowContaining(unixNanos, zone)
	case Day, Week, Month:
		first := p.firstDayOfPeriodContaining(latestDayBegunBy(unixNanos, zone))
		return startOfDay(first, zone), startOfDay(p.firstDayOfNextPeriod(first), zone)
	case Total:
		return 0, math.MaxInt64
	}
	panic("BUG: window of an unknown period")
}
