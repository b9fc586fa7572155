package payload

import (
	"maps"
	"slices"
	"strings"
	"time"

	"pingpost/engine/market/calendar"
)

// Bounds are the beginning (inclusive) and the end (exclusive) of a period, in Unix nanoseconds.
type Bounds struct{ From, To int64 }

// presets are the periods that a request can name. They are days, weeks and months of the zone, so a
// day can have 23 or 25 hours.
var presets = map[string]struct {
	unit calendar.Period
	back bool // the period before the current one
}{
	"today": {calendar.Day, false}, "yesterday": {calendar.Day, true},
	"this_week": {calendar.Week, false}, "last_week": {calendar.Week, true},
	"this_month": {calendar.Month, false}, "last_month": {calendar.Month, true},
}

// PeriodNames lists the names of the periods, for error messages.
var PeriodNames = strings.Join(slices.Sorted(maps.Keys(presets)), ", ")

// NamedPeriod returns the period with this name, such as yesterday, at the time now in the zone. The
// bool is false for an unknown name.
func NamedPeriod(name string, now time.Time, zone *time.Location) (period Bounds, known bool) {
	preset, known := presets[name]
	if !known {
		return period, false
	}
	period.From, period.To = preset.unit.WindowContaining(now.UnixNano(), zone)
	if preset.back {
		period.From, period.To = preset.unit.WindowContaining(period.From-1, zone)
	}
	return period, true
}

// ParseDayOrTime parses a date such as 2026-01-31, which means its beginning in the zone, or an RFC
// 3339 time. It returns Unix nanoseconds. It accepts the years 1971 to 2199.
func ParseDayOrTime(text string, zone *time.Location) (unixNanos int64, ok bool) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		if t, err = time.Parse(time.DateOnly, text); err != nil {
			return 0, false
		}
		if t.Year() > 1970 && t.Year() < 2200 {
			noon := time.Date(t.Year(), t.Month(), t.Day(), 12, 0, 0, 0, zone) // exists in every zone
			unixNanos, _ = calendar.Day.WindowContaining(noon.UnixNano(), zone)
			return unixNanos, true
		}
	}
	if t.Year() <= 1970 || t.Year() >= 2200 {
		return 0, false
	}
	return t.UnixNano(), true
}
