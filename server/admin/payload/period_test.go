package payload

import (
	"testing"
	"time"

	"pingpost/internal/must"
)

// TestNamedPeriods has the days on which clocks change: a day in New York has 23 or 25 hours, and in
// Santiago a day begins at 01:00.
func TestNamedPeriods(t *testing.T) {
	for _, row := range []struct{ zone, now, name, from, to string }{
		{"UTC", "2026-11-28T13:00:00Z", "today", "2026-11-28T00:00:00Z", "2026-11-29T00:00:00Z"},
		{"America/New_York", "2026-11-28T03:00:00Z", "today", "2026-11-27T05:00:00Z", "2026-11-28T05:00:00Z"},
		{"America/New_York", "2026-03-08T20:00:00Z", "today", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"},
		{"America/New_York", "2026-11-01T20:00:00Z", "today", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"},
		{"America/New_York", "2026-11-02T20:00:00Z", "yesterday", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"},
		{"America/New_York", "2026-11-15T20:00:00Z", "this_month", "2026-11-01T04:00:00Z", "2026-12-01T05:00:00Z"},
		{"America/New_York", "2026-04-01T03:00:00Z", "last_month", "2026-02-01T05:00:00Z", "2026-03-01T05:00:00Z"},
		{"America/New_York", "2026-01-15T20:00:00Z", "last_month", "2025-12-01T05:00:00Z", "2026-01-01T05:00:00Z"},
		{"America/New_York", "2026-03-08T20:00:00Z", "this_week", "2026-03-02T05:00:00Z", "2026-03-09T04:00:00Z"},
		{"America/New_York", "2026-03-09T20:00:00Z", "last_week", "2026-03-02T05:00:00Z", "2026-03-09T04:00:00Z"},
		{"America/Santiago", "2026-09-06T12:00:00Z", "today", "2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z"},
		{"Asia/Kolkata", "2026-11-28T19:00:00Z", "today", "2026-11-28T18:30:00Z", "2026-11-29T18:30:00Z"},
	} {
		zone := must.Value(time.LoadLocation(row.zone))(t)
		p, known := NamedPeriod(row.name, must.Value(time.Parse(time.RFC3339, row.now))(t), zone)
		if from, to := FormatTimeToSeconds(p.From), FormatTimeToSeconds(p.To); !known || from != row.from || to != row.to {
			t.Errorf("%s in %s at %s: %s to %s, want %s to %s", row.name, row.zone, row.now, from, to, row.from, row.to)
		}
	}
	if _, known := NamedPeriod("", time.Now(), time.UTC); known {
		t.Error("the empty name is a period")
	}
}

func TestParseDayOrTime(t *testing.T) {
	for _, row := range []struct{ zone, text, want string }{
		{"UTC", "2026-11-30", "2026-11-30T00:00:00Z"},
		{"America/New_York", "2026-11-01", "2026-11-01T04:00:00Z"},
		{"America/New_York", "2026-11-02", "2026-11-02T05:00:00Z"},
		{"America/Santiago", "2026-09-06", "2026-09-06T04:00:00Z"},
		{"Atlantic/Azores", "2026-10-25", "2026-10-25T00:00:00Z"},
		{"America/New_York", "2026-11-30T12:00:00+01:00", "2026-11-30T11:00:00Z"},
		{"UTC", "1970-12-31", ""},
		{"UTC", "2200-01-01", ""},
		{"UTC", "2026-02-30", ""},
		{"UTC", "yesterday", ""},
		{"UTC", "1900-01-01T00:00:00Z", ""},
	} {
		got := ""
		if at, ok := ParseDayOrTime(row.text, must.Value(time.LoadLocation(row.zone))(t)); ok {
			got = FormatTimeToSeconds(at)
		}
		if got != row.want {
			t.Errorf("%s in %s: %q, want %q", row.text, row.zone, got, row.want)
		}
	}
}
