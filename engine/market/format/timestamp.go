package format

import "math"

// ParseTimestamp converts a time in RFC 3339, with any offset, to Unix nanoseconds. A time before
// 1970 becomes 1, because zero commonly means a missing time. A time after 2262 becomes the
// greatest int64. A second 60 is the first of the next minute. ok is false if the text is no such
// time.
func ParseTimestamp(text []byte) (unixNanos int64, ok bool) {
	if !IsTimestamp(text) {
		return 0, false
	}
	year, _ := ParseDigits(text[:4])
	month, _ := ParseDigits(text[5:7])
	day, _ := ParseDigits(text[8:10])
	hour, _ := ParseDigits(text[11:13])
	minute, _ := ParseDigits(text[14:16])
	second, _ := ParseDigits(text[17:19])
	seconds := (int64(daysSince1970(year, month, day))*24+int64(hour))*3600 + int64(minute)*60 + int64(second)

	rest, fraction := text[secondLength:], int64(0)
	if rest[0] == '.' {
		var digits []byte
		digits, rest = cutLeadingDigits(rest[1:])
		for i := range 9 {
			fraction *= 10
			if i < len(digits) {
				fraction += int64(digits[i] - '0')
			}
		}
	}
	seconds -= utcOffsetSeconds(rest)
	switch {
	case seconds < 0:
		return 1, true
	case seconds >= math.MaxInt64/1_000_000_000:
		return math.MaxInt64, true
	}
	return max(seconds*1_000_000_000+fraction, 1), true
}

// utcOffsetSeconds returns the offset from UTC in seconds of the text Z or ±hh:mm; it is positive
// east of Greenwich.
func utcOffsetSeconds(zoneText []byte) int64 {
	if len(zoneText) == 1 {
		return 0
	}
	hour, _ := ParseDigits(zoneText[1:3])
	minute, _ := ParseDigits(zoneText[4:])
	seconds := int64(hour)*3600 + int64(minute)*60
	if zoneText[0] == '-' {
		return -seconds
	}
	return seconds
}

// daysSince1970 returns the number of days from 1970-01-01 to the date, in the Gregorian
// calendar. It counts years from March, so that the leap day is the last day of a year.
func daysSince1970(year, month, day int) int {
	if month <= 2 {
		year--
		month += 12
	}
	const before1970 = 719_468 // days from 0000-03-01
	return year*365 + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 1 - before1970
}
