package format

import (
	"fmt"
	"math"
	"testing"
	"time"
)

func TestParseTimestamp(t *testing.T) {
	for text, want := range map[string]int64{
		"1970-01-01T00:00:01Z":                1_000_000_000,
		"1970-01-01T00:00:00.000000002Z":      2,
		"1970-01-01T00:00:00Z":                1, // zero means missing
		"1969-12-31T23:59:59Z":                1,
		"0001-01-01T00:00:00Z":                1,
		"1500-01-01T00:00:00Z":                1, // its nanoseconds overflow to a time after 1970
		"1970-01-01T05:30:01+05:30":           1_000_000_000,
		"1969-12-31T16:00:01-08:00":           1_000_000_000,
		"2026-03-02T12:00:04.5Z":              1_772_452_804_500_000_000,
		"2026-03-02t12:00:04.5z":              1_772_452_804_500_000_000,
		"2024-02-29T23:59:60Z":                1_709_251_200_000_000_000,
		"2262-04-11T23:47:15.999999999Z":      math.MaxInt64 - 854_775_808,
		"2262-04-11T23:47:16.9Z":              math.MaxInt64,
		"9999-12-31T23:59:59.999999999-23:59": math.MaxInt64,
	} {
		if got, ok := ParseTimestampClamped([]byte(text)); got != want || !ok {
			t.Errorf("%s: %d %v, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"", "soon", "1772452804", "2026-03-02", "2026-03-02T12:00:00", "2026-03-02 12:00:00Z", "0000-03-02T12:00:00Z", "2026-02-29T12:00:00Z",
		"2026-03-02T24:00:00Z", "2026-03-02T12:60:00Z", "2026-03-02T12:00:61Z", "2026-03-02T9:30:00Z", "2026-03-02T9:30:00.5Z", "2026-03-02T12-00-00Z", "2026-03-02T12:00:00ZZ",
		"2026-03-02T12:00:00.Z", "2026-03-02T12:00:00,5Z", "2026-03-02T12:00:00.1234567890Z", "2026-03-02T12:00:00.1234567890+01:00",
		"2026-03-02T12:00:00+0530", "2026-03-02T12:00:00+24:00", "2026-03-02T12:00:00+05:60",
	} {
		if _, ok := ParseTimestampClamped([]byte(text)); ok {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestParseDate(t *testing.T) {
	for year := 1896; year <= 2104; year++ {
		for month := range 14 {
			for day := range 33 {
				text := fmt.Sprintf("%04d-%02d-%02d", year, month, day)
				_, err := time.Parse(time.DateOnly, text)
				if date, ok := ParseDate([]byte(text)); ok != (err == nil) || ok && date != 10000*year+100*month+day {
					t.Errorf("%s: %d, %v", text, date, ok)
				}
			}
		}
	}
	for _, text := range []string{"", "0000-01-01", "2026-1-01", "2026-01-1", "26-01-01", "2026/01/01", "2026-01-01T", "2026-01-01T00:00:00Z", " 2026-01-01", "+026-01-01", "２026-01-01", "2026-0x-01"} {
		if _, ok := ParseDate([]byte(text)); ok {
			t.Errorf("%q is accepted as a date", text)
		}
	}
}

func TestYearsBetween(t *testing.T) {
	for _, test := range []struct{ from, until, years int }{
		{20080301, 20260228, 17},
		{20080301, 20260301, 18},
		{20080301, 20261231, 18},
		{20080229, 20260228, 17}, // February 29: March 1 in common years
		{20080229, 20260301, 18},
		{20080229, 20280228, 19},
		{20080229, 20280229, 20},
		{20071231, 20080101, 0},
		{20260101, 20260101, 0},
		{10101, 99991231, 9998},
	} {
		if years, ok := YearsBetween(test.from, test.until); !ok || years != test.years {
			t.Errorf("%d to %d: %d, %t; want %d", test.from, test.until, years, ok, test.years)
		}
	}
	if years, ok := YearsBetween(20260102, 20260101); ok {
		t.Errorf("a date in the future has the age %d", years)
	}
}
