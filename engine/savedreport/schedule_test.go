package savedreport

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/internal/must"
)

// localMinutes is the time that clocks show, as minutes of a clock in UTC.
func localMinutes(t time.Time) int64 {
	_, offset := t.Zone()
	return (t.Unix() + int64(offset)) / 60
}

// naiveMoments returns the moments of a schedule from the beginning to before the end. It watches the
// clocks of a zone minute by minute: each day of the schedule has a moment when they first show its
// time or a later one.
func naiveMoments(s *Schedule, zone *time.Location, begin, end time.Time) (moments []int64) {
	minutes, _ := ParseTimeOfDay(s.Time)
	reached := localMinutes(begin.In(zone)) // the latest that the clocks have shown
	for at := begin; at.Before(end); at = at.Add(time.Minute) {
		shown := localMinutes(at.In(zone))
		for ; reached < shown; reached++ {
			passed := time.Unix((reached+1)*60, 0).UTC()
			if passed.Hour()*60+passed.Minute() == minutes && isDayOf(s, passed) {
				moments = append(moments, at.UnixNano())
			}
		}
	}
	return moments
}

func isDayOf(s *Schedule, date time.Time) bool {
	switch s.Frequency {
	case Weekly:
		return Weekdays[date.Weekday()] == s.Weekday
	case Monthly:
		last := date.AddDate(0, 0, 1).Day() == 1
		return date.Day() == s.Day || last && date.Day() < s.Day
	}
	return true
}

var testZones = []string{
	"UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "America/Santiago", "Africa/Cairo", "Asia/Kolkata", "Pacific/Apia", "Atlantic/Azores",
}

// testSchedule returns a schedule whose time is often in an hour in which clocks change.
func testSchedule(t *rapid.T) *Schedule {
	s := &Schedule{
		Frequency: rapid.SampledFrom([]Frequency{Daily, Weekly, Monthly}).Draw(t, "frequency"),
		Time:      fmt.Sprintf("%02d:%02d", rapid.SampledFrom([]int{0, 1, 2, 3, 8, 12, 23}).Draw(t, "hour"), rapid.SampledFrom([]int{0, 1, 15, 30, 59}).Draw(t, "minute")),
	}
	switch s.Frequency {
	case Weekly:
		s.Weekday = rapid.SampledFrom(Weekdays[:]).Draw(t, "weekday")
	case Monthly:
		s.Day = rapid.IntRange(1, 31).Draw(t, "day")
	case Daily:
	}
	return s
}

// The moments of a year, in zones and years whose clocks change, are those of a model that watches the
// clocks.
func TestMomentsOfYearMatchModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone := must.Value(time.LoadLocation(rapid.SampledFrom(testZones).Draw(t, "zone")))(t)
		begin := time.Date(rapid.SampledFrom([]int{2011, 2024, 2026, 2027}).Draw(t, "year"), 1, 1, 0, 0, 0, 0, time.UTC)
		end := begin.AddDate(1, 0, 0)
		s := testSchedule(t)
		want := naiveMoments(s, zone, begin, end)
		var got []int64
		for at := s.NextAfter(begin.UnixNano(), zone); at < end.UnixNano(); at = s.NextAfter(at, zone) {
			got = append(got, at)
			if latest := s.LatestBy(at, zone); latest != at {
				t.Fatalf("at the moment %s, the latest one is %s", time.Unix(0, at).In(zone), time.Unix(0, latest).In(zone))
			}
		}
		want = slices.Compact(want) // two days share a moment if clocks skip one of them
		for i := range max(len(want), len(got)) {
			if i >= len(want) || i >= len(got) || want[i] != got[i] {
				t.Fatalf("%+v in %s: moment %d differs: %d moments, want %d: %s", s, zone, i, len(got), len(want), describeMoment(got, i, zone)+", want "+describeMoment(want, i, zone))
			}
		}
	})
}

func describeMoment(moments []int64, i int, zone *time.Location) string {
	if i >= len(moments) {
		return "none"
	}
	return time.Unix(0, moments[i]).In(zone).String()
}

// Between two moments, both neighbors are found from any instant.
func TestNeighborsOfInstant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone := must.Value(time.LoadLocation(rapid.SampledFrom(testZones).Draw(t, "zone")))(t)
		s := testSchedule(t)
		at := rapid.Int64Range(0, 70*365*24*3600).Draw(t, "second") * int64(time.Second)
		before, after := s.LatestBy(at, zone), s.NextAfter(at, zone)
		if before > at || after <= at || s.NextAfter(before, zone) != after || s.LatestBy(after-1, zone) != before {
			t.Fatalf("%+v in %s at %d: %d and %d", s, zone, at, before, after)
		}
	})
}

func TestMomentsAtClockChanges(t *testing.T) {
	for _, row := range []struct {
		schedule          Schedule
		zone, after, want string
	}{
		{Schedule{Frequency: Daily, Time: "08:30"}, "Asia/Kolkata", "2026-11-30T03:00:00Z", "2026-12-01T03:00:00Z"},
		{Schedule{Frequency: Daily, Time: "02:30"}, "America/New_York", "2026-03-07T12:00:00Z", "2026-03-08T07:00:00Z"}, // 03:00 local
		{Schedule{Frequency: Daily, Time: "01:30"}, "America/New_York", "2026-10-31T12:00:00Z", "2026-11-01T05:30:00Z"}, // the first 01:30
		{Schedule{Frequency: Daily, Time: "01:30"}, "America/New_York", "2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"}, // not the second one
		{Schedule{Frequency: Daily, Time: "00:15"}, "America/Santiago", "2026-09-05T12:00:00Z", "2026-09-06T04:00:00Z"}, // 01:00 local
		{Schedule{Frequency: Daily, Time: "02:10"}, "Australia/Lord_Howe", "2026-10-03T00:00:00Z", "2026-10-03T15:30:00Z"},
		{Schedule{Frequency: Weekly, Weekday: "monday", Time: "07:00"}, "UTC", "2026-11-30T07:00:00Z", "2026-12-07T07:00:00Z"},
		{Schedule{Frequency: Monthly, Day: 31, Time: "00:00"}, "UTC", "2027-01-31T00:00:00Z", "2027-02-28T00:00:00Z"},
		{Schedule{Frequency: Monthly, Day: 1, Time: "06:00"}, "Europe/Berlin", "2026-12-15T00:00:00Z", "2027-01-01T05:00:00Z"},
	} {
		zone, after := must.Value(time.LoadLocation(row.zone))(t), must.Value(time.Parse(time.RFC3339, row.after))(t)
		if got := time.Unix(0, row.schedule.NextAfter(after.UnixNano(), zone)).UTC().Format(time.RFC3339); got != row.want {
			t.Errorf("%+v in %s after %s: %s, want %s", row.schedule, row.zone, row.after, got, row.want)
		}
	}
}

func TestParseTime(t *testing.T) {
	for text, want := range map[string]int{"00:00": 0, "08:30": 510, "23:59": 1439, "24:00": -1, "8:30": -1, "08:60": -1, "": -1, "08:30:00": -1} {
		got, ok := ParseTimeOfDay(text)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
