package format

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseTimestamp(t *testing.T) {
	for text, want := range map[string]int64{
		"1970-01-01T00:00:01Z":                1_000_000_000,
		"1970-01-01T00:00:00.000000002Z":      2,
		"1970-01-01T00:00:00Z":                1, // zero would say that nothing was said
		"1969-12-31T23:59:59Z":                1,
		"0001-01-01T00:00:00Z":                1,
		"1970-01-01T05:30:01+05:30":           1_000_000_000,
		"1969-12-31T16:00:01-08:00":           1_000_000_000,
		"2026-03-02T12:00:04.5Z":              1_772_452_804_500_000_000,
		"2026-03-02t12:00:04.5z":              1_772_452_804_500_000_000,
		"2024-02-29T23:59:60Z":                1_709_251_200_000_000_000,
		"2262-04-11T23:47:15.999999999Z":      math.MaxInt64 - 854_775_808,
		"2262-04-11T23:47:16.9Z":              math.MaxInt64,
		"9999-12-31T23:59:59.999999999-23:59": math.MaxInt64,
	} {
		if got, ok := ParseTimestamp([]byte(text)); got != want || !ok {
			t.Errorf("%s: %d %v, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "soon", "2026-03-02", "2026-03-02T12:00:00", "2026-02-29T12:00:00Z", "2026-03-02T24:00:00Z", "2026-03-02 12:00:00Z", "1772452804"} {
		if _, ok := ParseTimestamp([]byte(text)); ok {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestTimestampsAreThoseOfTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone := time.FixedZone("", 60*rapid.IntRange(-23*60, 23*60).Draw(t, "minutes east"))
		at := time.Unix(0, rapid.Int64Range(1, math.MaxInt64/1_000_000_000*1_000_000_000-1).Draw(t, "at"))
		layout := rapid.SampledFrom([]string{time.RFC3339, time.RFC3339Nano, "2006-01-02T15:04:05.000Z"}).Draw(t, "layout")
		if layout == "2006-01-02T15:04:05.000Z" {
			zone = time.UTC
		}
		text := at.In(zone).Format(layout)
		want, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := ParseTimestamp([]byte(text))
		if !ok || got != max(want.UnixNano(), 1) {
			t.Fatalf("%s: %d %v, want %d", text, got, ok, want.UnixNano())
		}
	})
}
