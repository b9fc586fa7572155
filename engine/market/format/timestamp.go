package format

import (
	"fmt"
	"math"
	"time"
)

// ParseTimestampClamped converts a time in RFC 3339, with any offset and up to nine decimals of the
// seconds, to Unix nanoseconds. A time before 1970 becomes 1, because zero commonly means a missing
// time. A time after 2262 becomes the greatest int64. Every minute may have a second 60, because
// there is no table of leap seconds; it is the first of the next minute. ok is false if the text is
// no such time.
func ParseTimestampClamped(text []byte) (positiveUnixNanos int64, ok bool) {
	const secondStart, zoneIfUTC = len("2006-01-02T15:04:"), len("2006-01-02T15:04:05.999999999")
	var capitals [len("2006-01-02T15:04:05.999999999+00:00")]byte
	if len(text) <= secondStart+2 || len(text) > len(capitals) || string(text[:4]) == "0000" {
		return 0, false
	}
	last := copy(capitals[:], text) - 1
	capitals[dateLength] &^= 0x20 // t becomes T
	isUTC := text[last]|0x20 == 'z'
	if isUTC {
		capitals[last] = 'Z'
	}
	// The standard library also accepts an hour of one digit, a decimal comma and any offset.
	if text[13] != ':' || text[secondStart+2] == ',' || isUTC && last > zoneIfUTC ||
		!isUTC && (string(text[last-4:last-2]) > "23" || string(text[last-1:]) > "59") {
		return 0, false
	}
	seconds := int64(0)
	if second := capitals[secondStart : secondStart+2]; string(second) == "60" {
		copy(second, "59")
		seconds = 1
	}
	var at time.Time
	if at.UnmarshalText(capitals[:last+1]) != nil {
		return 0, false
	}
	switch seconds += at.Unix(); {
	case seconds < 0:
		return 1, true
	case seconds >= math.MaxInt64/1_000_000_000:
		return math.MaxInt64, true
	}
	return max(seconds*1_000_000_000+int64(at.Nanosecond()), 1), true
}

const dateLength = len("2006-01-02")

// ParseDate returns the date YYYY-MM-DD as the number YYYYMMDD, such as 20260131. ok is false if the text
// is no date of the Gregorian calendar from the year 1 on.
func ParseDate(text []byte) (date int, ok bool) {
	if len(text) != dateLength || text[4] != '-' || text[7] != '-' {
		return 0, false
	}
	for i, c := range text {
		switch {
		case i == 4 || i == 7:
		case IsDigit(c):
			date = 10*date + int(c-'0')
		default:
			return 0, false
		}
	}
	year, month, day := date/10000, time.Month(date/100%100), date%100
	if year == 0 || month < time.January || month > time.December || day == 0 {
		return 0, false
	}
	return date, day <= time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// Date returns the date as text, for a number that ParseDate returns.
func Date(date int) string { return fmt.Sprintf("%04d-%02d-%02d", date/10000, date/100%100, date%100) }

// YearsBetween returns the full years from one date to another; each is a number that ParseDate
// returns. From February 29, a full year ends on March 1 of a common year. ok is false if the second date
// is the earlier one.
func YearsBetween(from, until int) (years int, ok bool) { return (until - from) / 10000, from <= until }
