package format

import (
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

// IsDate reports whether the text is a date YYYY-MM-DD that exists in the Gregorian calendar,
// from the year 1 on.
func IsDate(text []byte) bool {
	var midnight [len("2006-01-02T00:00:00Z")]byte
	copy(midnight[copy(midnight[:], text):], "T00:00:00Z")
	_, ok := ParseTimestampClamped(midnight[:])
	return ok && len(text) == dateLength
}
