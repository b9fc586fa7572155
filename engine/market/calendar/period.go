package calendar

import (
	"math"
	"time"
)

// Period is the span over which a cap counts.
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

// ParsePeriod reads hour, day, week, month or total.
func ParsePeriod(s string) (Period, bool) {
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

// WindowContaining returns the period's window around an instant: from start up to, but not
// including, end, in Unix nanoseconds. The windows of one period and zone follow each
// other without gap or overlap, so the start identifies one.
func (p Period) WindowContaining(t int64, zone *time.Location) (start, end int64) {
	switch p {
	case Hour:
		return hourWindowContaining(t, zone)
	case Day, Week, Month:
		first := p.firstDayOfPeriod(latestDayBegunBy(t, zone))
		return startOfDay(first, zone), startOfDay(p.firstDayOfNextPeriod(first), zone)
	case Total:
		return 0, math.MaxInt64
	}
	panic("BUG: window of an unknown period")
}
