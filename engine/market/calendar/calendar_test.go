package calendar

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func loadZone(t interface{ Fatal(...any) }, name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func TestWindowContaining(t *testing.T) {
	cases := []struct {
		name       string
		zone       string
		period     Period
		at         string
		start, end string // in the zone
	}{
		{"an hour", "UTC", Hour, "2025-06-10T14:37:21Z", "2025-06-10T14:00:00Z", "2025-06-10T15:00:00Z"},
		{"the first instant of an hour", "UTC", Hour, "2025-06-10T14:00:00Z", "2025-06-10T14:00:00Z", "2025-06-10T15:00:00Z"},
		{"the last instant of an hour", "UTC", Hour, "2025-06-10T14:59:59.999999999Z", "2025-06-10T14:00:00Z", "2025-06-10T15:00:00Z"},
		{"before 1970", "UTC", Hour, "1969-12-31T23:59:59.5Z", "1969-12-31T23:00:00Z", "1970-01-01T00:00:00Z"},
		{"an hour where clocks differ by 45 minutes", "Asia/Kathmandu", Hour, "2025-06-10T14:37:00+05:45", "2025-06-10T14:00:00+05:45", "2025-06-10T15:00:00+05:45"},
		{"the first of two equal hours", "America/New_York", Hour, "2024-11-03T01:30:00-04:00", "2024-11-03T01:00:00-04:00", "2024-11-03T01:00:00-05:00"},
		{"the second of two equal hours", "America/New_York", Hour, "2024-11-03T01:30:00-05:00", "2024-11-03T01:00:00-05:00", "2024-11-03T02:00:00-05:00"},
		{"the hour after a skipped one", "America/New_York", Hour, "2024-03-10T03:10:00-04:00", "2024-03-10T03:00:00-04:00", "2024-03-10T04:00:00-04:00"},
		{"an hour begun half an hour late", "Australia/Lord_Howe", Hour, "2024-10-06T02:45:00+11:00", "2024-10-06T02:30:00+11:00", "2024-10-06T03:00:00+11:00"},
		{"a repeated half hour", "Australia/Lord_Howe", Hour, "2024-04-07T01:45:00+10:30", "2024-04-07T01:30:00+10:30", "2024-04-07T02:00:00+10:30"},
		{"an hour that ends after a minute", "America/St_Johns", Hour, "2006-04-02T00:00:30-03:30", "2006-04-02T00:00:00-03:30", "2006-04-02T01:01:00-02:30"},
		{"an hour shortened by 15 minutes", "Asia/Kathmandu", Hour, "1986-01-01T00:20:00+05:45", "1986-01-01T00:15:00+05:45", "1986-01-01T01:00:00+05:45"},

		{"a day", "America/New_York", Day, "2025-06-10T23:59:59-04:00", "2025-06-10T00:00:00-04:00", "2025-06-11T00:00:00-04:00"},
		{"a day of 23 hours", "America/New_York", Day, "2024-03-10T12:00:00-04:00", "2024-03-10T00:00:00-05:00", "2024-03-11T00:00:00-04:00"},
		{"a day of 25 hours", "America/New_York", Day, "2024-11-03T12:00:00-05:00", "2024-11-03T00:00:00-04:00", "2024-11-04T00:00:00-05:00"},
		{"a day without midnight", "America/Havana", Day, "2024-03-10T12:00:00-04:00", "2024-03-10T01:00:00-04:00", "2024-03-11T00:00:00-04:00"},
		{"the day before one without midnight", "America/Havana", Day, "2024-03-09T23:59:59-05:00", "2024-03-09T00:00:00-05:00", "2024-03-10T01:00:00-04:00"},
		{"a day with two midnights", "America/Havana", Day, "2024-11-03T00:30:00-05:00", "2024-11-03T00:00:00-04:00", "2024-11-04T00:00:00-05:00"},
		{"a summer's first day without midnight", "America/Sao_Paulo", Day, "2017-10-15T01:00:00-02:00", "2017-10-15T01:00:00-02:00", "2017-10-16T00:00:00-02:00"},
		{"a day whose last hour comes twice", "America/Sao_Paulo", Day, "2018-02-17T23:30:00-03:00", "2018-02-17T00:00:00-02:00", "2018-02-18T00:00:00-03:00"},
		{"a day that begins twice", "America/St_Johns", Day, "2006-10-28T23:30:00-03:30", "2006-10-29T00:00:00-02:30", "2006-10-30T00:00:00-03:30"},
		{"the day before one that begins twice", "America/St_Johns", Day, "2006-10-28T23:30:00-02:30", "2006-10-28T00:00:00-02:30", "2006-10-29T00:00:00-02:30"},
		{"the day before a skipped day", "Pacific/Apia", Day, "2011-12-29T12:00:00-10:00", "2011-12-29T00:00:00-10:00", "2011-12-31T00:00:00+14:00"},
		{"the day after a skipped day", "Pacific/Apia", Day, "2011-12-31T12:00:00+14:00", "2011-12-31T00:00:00+14:00", "2012-01-01T00:00:00+14:00"},
		{"a leap day", "UTC", Day, "2024-02-29T12:00:00Z", "2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"},

		{"a week on its Monday", "UTC", Week, "2025-06-09T00:00:00Z", "2025-06-09T00:00:00Z", "2025-06-16T00:00:00Z"},
		{"a week on its Sunday", "UTC", Week, "2025-06-15T23:59:59Z", "2025-06-09T00:00:00Z", "2025-06-16T00:00:00Z"},
		{"a week before 1970", "UTC", Week, "1969-12-28T12:00:00Z", "1969-12-22T00:00:00Z", "1969-12-29T00:00:00Z"},
		{"a week with a day of 23 hours", "America/New_York", Week, "2024-03-10T12:00:00-04:00", "2024-03-04T00:00:00-05:00", "2024-03-11T00:00:00-04:00"},

		{"a month", "America/New_York", Month, "2024-03-31T12:00:00-04:00", "2024-03-01T00:00:00-05:00", "2024-04-01T00:00:00-04:00"},
		{"the year's last month", "Asia/Kathmandu", Month, "2024-12-31T23:59:00+05:45", "2024-12-01T00:00:00+05:45", "2025-01-01T00:00:00+05:45"},
	}
	for _, c := range cases {
		zone := loadZone(t, c.zone)
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		from, to := c.period.WindowContaining(at.UnixNano(), zone)
		start, end := time.Unix(0, from).In(zone).Format(time.RFC3339), time.Unix(0, to).In(zone).Format(time.RFC3339)
		if start != c.start || end != c.end {
			t.Errorf("%s, %s: %s to %s, want %s to %s", c.name, c.zone, start, end, c.start, c.end)
		}
	}
}

func TestHoursInADay(t *testing.T) {
	cases := []struct {
		zone, noon string
		hours      int
	}{
		{"America/New_York", "2024-07-01T12:00:00-04:00", 24},
		{"America/New_York", "2024-03-10T12:00:00-04:00", 23},
		{"America/New_York", "2024-11-03T12:00:00-05:00", 25},
		{"America/Havana", "2024-03-10T12:00:00-04:00", 23},
		{"America/Havana", "2024-11-03T12:00:00-05:00", 25},
		{"America/Sao_Paulo", "2018-02-17T12:00:00-02:00", 25},
		{"Australia/Lord_Howe", "2024-10-06T12:00:00+11:00", 24}, // one of them half as long
		{"Australia/Lord_Howe", "2024-04-07T12:00:00+10:30", 25}, // one of them half as long
		{"Asia/Kathmandu", "2024-07-01T12:00:00+05:45", 24},
	}
	for _, c := range cases {
		zone := loadZone(t, c.zone)
		noon, err := time.Parse(time.RFC3339, c.noon)
		if err != nil {
			t.Fatal(err)
		}
		at, end := Day.WindowContaining(noon.UnixNano(), zone)
		hours := 0
		for ; at < end; hours++ {
			_, at = Hour.WindowContaining(at, zone)
		}
		if hours != c.hours || at != end {
			t.Errorf("%s on %s has %d hours, want %d", c.zone, c.noon, hours, c.hours)
		}
	}
}

// TestUTCOffsetOnLastDayOfLeapYear: time.ZoneBounds ends a leap year under a recurring rule a day
// early. A loop from end to end once never passed that day.
func TestUTCOffsetOnLastDayOfLeapYear(t *testing.T) {
	for _, name := range []string{"America/New_York", "America/Havana", "Antarctica/Troll", "Australia/Lord_Howe"} {
		zone := loadZone(t, name)
		for year := 2024; year < 2100; year += 4 {
			for hour := range 48 {
				at := time.Date(year, time.December, 31, hour-12, 30, 0, 0, time.UTC)
				interval := utcOffsetIntervalAt(at.Unix(), zone)
				_, offset := at.In(zone).Zone()
				if interval.from > at.Unix() || interval.to <= at.Unix() || interval.offset != int64(offset) {
					t.Fatalf("%s at %s: wrong interval from %d to %d", name, at, interval.from, interval.to)
				}
				if _, next := time.Unix(interval.to, 0).In(zone).Zone(); next == offset {
					t.Fatalf("%s at %s: the offset does not change at %d", name, at, interval.to)
				}
			}
		}
	}
}

// unusualZones have unusual offsets or changes.
var unusualZones = []string{
	"UTC", "America/New_York", "America/Los_Angeles", "Australia/Lord_Howe", "Asia/Kathmandu",
	"America/Havana", "America/Sao_Paulo", "America/St_Johns", "Pacific/Apia", "Pacific/Kwajalein",
	"Europe/Dublin", "Africa/Casablanca", "Asia/Tehran", "Antarctica/Troll", "Pacific/Chatham",
}

// windowModel finds a window by reading the zone's clock minute by minute. A new hour begins
// when the hour or the offset changes; a new day, week or month when its date is later than all
// before.
func windowModel(p Period, t int64, zone *time.Location) (start, end int64) {
	if p == Hour {
		return hourModel(t, zone)
	}
	clockAt := func(minute int64) int {
		at := time.Unix(minute*60, 0).In(zone)
		year, month, dayOfMonth := at.Date()
		switch p {
		case Week:
			monday := dayOfMonth - (int(at.Weekday())+6)%7
			year, month, dayOfMonth = time.Date(year, month, monday, 0, 0, 0, 0, time.UTC).Date()
		case Month:
			dayOfMonth = 0
		}
		return (year*100+int(month))*100 + dayOfMonth
	}
	span := map[Period]int64{Day: 3, Week: 9, Month: 33}[p] * 24 * 60
	now := t / int64(time.Minute)
	latest := 0
	for minute := now - span; ; minute++ {
		if s := clockAt(minute); s > latest {
			latest = s
			if minute > now {
				return start, minute * int64(time.Minute)
			}
			start = minute * int64(time.Minute)
		}
	}
}

func hourModel(t int64, zone *time.Location) (start, end int64) {
	clockAt := func(minute int64) [2]int {
		at := time.Unix(minute*60, 0).In(zone)
		_, offset := at.Zone()
		return [2]int{at.YearDay()*24 + at.Hour(), offset}
	}
	now := t / int64(time.Minute)
	first, last := now, now
	for clockAt(first-1) == clockAt(now) {
		first--
	}
	for clockAt(last+1) == clockAt(now) {
		last++
	}
	return first * int64(time.Minute), (last + 1) * int64(time.Minute)
}

func TestWindowsAreContiguous(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone := loadZone(t, rapid.SampledFrom(unusualZones).Draw(t, "zone"))
		p := rapid.SampledFrom([]Period{Hour, Day, Week, Month}).Draw(t, "period")
		// Includes times before time zones, with offsets in seconds.
		at := rapid.Int64Range(-120*366*secondsInDay, 120*366*secondsInDay).Draw(t, "second") * int64(time.Second)
		start, end := p.WindowContaining(at, zone)
		if at < start || at >= end {
			t.Fatalf("%d is not in its window %d to %d", at, start, end)
		}
		for _, inside := range []int64{start, end - 1} {
			if s, e := p.WindowContaining(inside, zone); s != start || e != end {
				t.Fatalf("window %d to %d, but for %d in it %d to %d", start, end, inside, s, e)
			}
		}
		if next, _ := p.WindowContaining(end, zone); next != end {
			t.Fatalf("a window ends at %d, the next begins at %d", end, next)
		}
		if _, before := p.WindowContaining(start-1, zone); before != start {
			t.Fatalf("a window begins at %d, the previous ends at %d", start, before)
		}
	})
}

func TestOffsetIntervalSpansZoneNameChange(t *testing.T) {
	zone := loadZone(t, "America/New_York")
	// War time became peace time in 1945, at the same offset.
	war := utcOffsetIntervalAt(time.Date(1945, 8, 1, 0, 0, 0, 0, time.UTC).Unix(), zone)
	peace := utcOffsetIntervalAt(time.Date(1945, 9, 1, 0, 0, 0, 0, time.UTC).Unix(), zone)
	if war != peace {
		t.Errorf("two intervals, %v and %v, want one", war, peace)
	}
}

func TestFloorDiv(t *testing.T) {
	var got []int64
	for _, a := range []int64{-8, -7, -1, 0, 1, 6, 7} {
		got = append(got, floorDiv(a, 7))
	}
	if want := []int64{-2, -1, -1, 0, 0, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
