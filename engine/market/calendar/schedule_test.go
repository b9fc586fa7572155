package calendar

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestParseScheduleErrors(t *testing.T) {
	cases := []struct {
		open []string
		want string // part of the error
	}{
		{nil, "has no opening hours"},
		{[]string{}, "has no opening hours"},
		{[]string{""}, "write days and hours"},
		{[]string{"Mon"}, "write days and hours"},
		{[]string{"08:00-18:00"}, "write days and hours"},
		{[]string{"Mon-Fri 08:00-18:00", "Son 08:00-12:00"}, `"Son 08:00-12:00": "Son" is not a weekday: use Mon Tue Wed Thu Fri Sat Sun`},
		{[]string{"mon 08:00-18:00"}, `"mon" is not a weekday`},
		{[]string{"Mon- 08:00-18:00"}, `"" is not a weekday`},
		{[]string{"Mon-Tue-Wed 08:00-18:00"}, `"Tue-Wed" is not a weekday`},
		{[]string{"Mon,Tue 08:00-18:00"}, `"Mon,Tue" is not a weekday`},
		{[]string{"Mon 8:00-18:00"}, "write HH:MM-HH:MM"},
		{[]string{"Mon 08:00"}, "write HH:MM-HH:MM"},
		{[]string{"Mon 08.00-18.00"}, "write HH:MM-HH:MM"},
		{[]string{"Mon 08:60-18:00"}, "write HH:MM-HH:MM"},
		{[]string{"Mon 08:00-24:01"}, "write HH:MM-HH:MM"},
		{[]string{"Mon 08:00-25:00"}, "write HH:MM-HH:MM"},
		{[]string{"Mon 08:00-18:00 "}, "write HH:MM-HH:MM"},
		{[]string{"Mon  08:00-18:00"}, "write HH:MM-HH:MM"},
		{[]string{"Mon -8:00-18:00"}, "write HH:MM-HH:MM"},
		{[]string{"Mon 24:00-02:00"}, "24:00 can only be an end"},
		{[]string{"Mon 08:00-08:00"}, "the hours end at the minute of their start"},
		{[]string{"Mon 24:00-24:00"}, "24:00 can only be an end"},
	}
	for _, c := range cases {
		if s, err := ParseWeeklySchedule(time.UTC, c.open); err == nil || s != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v; want …%s…", c.open, err, c.want)
		}
	}
}

func mustParseSchedule(t interface{ Fatal(...any) }, zone *time.Location, open ...string) *WeeklySchedule {
	s, err := ParseWeeklySchedule(zone, open)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestIsOpenAt(t *testing.T) {
	office := []string{"Mon-Fri 08:00-18:00", "Sat 10:00-24:00"}
	night := []string{"Fri 22:00-02:00"}
	weekend := []string{"Fri-Mon 12:00-13:00"}
	cases := []struct {
		name  string
		open  []string
		zone  string
		at    string
		want  bool
		until string // in the zone
	}{
		{"before opening", office, "UTC", "2025-06-10T07:59:59Z", false, "2025-06-10T08:00:00Z"},
		{"at opening", office, "UTC", "2025-06-10T08:00:00Z", true, "2025-06-10T18:00:00Z"},
		{"the last nanosecond", office, "UTC", "2025-06-10T17:59:59.999999999Z", true, "2025-06-10T18:00:00Z"},
		{"the end is exclusive", office, "UTC", "2025-06-10T18:00:00Z", false, "2025-06-11T08:00:00Z"},
		{"Saturday until midnight", office, "UTC", "2025-06-14T23:59:00Z", true, "2025-06-15T00:00:00Z"},
		{"from Sunday to the next week", office, "UTC", "2025-06-15T12:00:00Z", false, "2025-06-16T08:00:00Z"},
		{"hours past midnight, before midnight", night, "UTC", "2025-06-13T23:00:00Z", true, "2025-06-14T02:00:00Z"},
		{"hours past midnight, after midnight", night, "UTC", "2025-06-14T01:59:00Z", true, "2025-06-14T02:00:00Z"},
		{"hours past midnight, another day", night, "UTC", "2025-06-13T01:00:00Z", false, "2025-06-13T22:00:00Z"},
		{"hours past midnight, Sunday to Monday", []string{"Sun 22:00-02:00"}, "UTC", "2025-06-16T01:00:00Z", true, "2025-06-16T02:00:00Z"},
		{"days across the week's end, Friday", weekend, "UTC", "2025-06-13T12:30:00Z", true, "2025-06-13T13:00:00Z"},
		{"days across the week's end, Monday", weekend, "UTC", "2025-06-16T12:30:00Z", true, "2025-06-16T13:00:00Z"},
		{"days across the week's end, Tuesday", weekend, "UTC", "2025-06-17T12:30:00Z", false, "2025-06-20T12:00:00Z"},
		{"hours that meet", []string{"Mon 08:00-12:00", "Mon 12:00-18:00"}, "UTC", "2025-06-09T09:00:00Z", true, "2025-06-09T18:00:00Z"},
		{"hours that overlap", []string{"Mon 08:00-14:00", "Mon 12:00-18:00"}, "UTC", "2025-06-09T09:00:00Z", true, "2025-06-09T18:00:00Z"},
		{"open over the week's end", []string{"Sun-Mon 00:00-24:00"}, "UTC", "2025-06-15T09:00:00Z", true, "2025-06-17T00:00:00Z"},
		{"closes at the week's end", []string{"Sun 10:00-24:00"}, "UTC", "2025-06-15T12:00:00Z", true, "2025-06-16T00:00:00Z"},
		{"opens at the week's start", []string{"Mon 00:00-18:00"}, "UTC", "2025-06-10T12:00:00Z", false, "2025-06-16T00:00:00Z"},
		{"before 1970", office, "UTC", "1969-12-30T09:00:00Z", true, "1969-12-30T18:00:00Z"},

		{"by the zone's clocks", office, "America/Los_Angeles", "2025-06-10T17:00:00-07:00", true, "2025-06-10T18:00:00-07:00"},
		{"until the clock changes", office, "America/New_York", "2024-11-02T23:30:00-04:00", true, "2024-11-03T00:00:00-04:00"},
		{"a skipped hour is not open", []string{"Sun 02:00-03:00"}, "America/New_York", "2024-03-10T03:00:00-04:00", false, "2024-03-17T02:00:00-04:00"},
		{"a repeated hour is open", []string{"Sun 01:00-02:00"}, "America/New_York", "2024-11-03T01:30:00-04:00", true, "2024-11-03T01:00:00-05:00"},
		{"the repetition of a repeated hour is open", []string{"Sun 01:00-02:00"}, "America/New_York", "2024-11-03T01:30:00-05:00", true, "2024-11-03T02:00:00-05:00"},
	}
	for _, c := range cases {
		zone := loadZone(t, c.zone)
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		open, until := mustParseSchedule(t, zone, c.open...).IsOpenAt(at.UnixNano())
		if got := time.Unix(0, until).In(zone).Format(time.RFC3339); open != c.want || got != c.until {
			t.Errorf("%s: open %t until %s, want %t until %s", c.name, open, got, c.want, c.until)
		}
	}
}

func TestAlwaysOpenScheduleHasNoEnd(t *testing.T) {
	zone := loadZone(t, "America/New_York")
	for _, open := range [][]string{
		{"Mon-Sun 00:00-24:00"},
		{"Mon-Sun 08:00-18:00", "Mon-Sun 18:00-08:00"},
	} {
		if always, until := mustParseSchedule(t, zone, open...).IsOpenAt(time.Now().UnixNano()); !always || until != math.MaxInt64 {
			t.Errorf("%s: open %t until %d", open, always, until)
		}
	}
}

// hours is the model of a line of opening hours, in minutes of the day.
type hours struct{ firstDay, lastDay, opens, closes int }

// include reports whether the hours contain a minute of a weekday, also after midnight.
func (h hours) include(weekday, minute int) bool {
	listed := func(d int) bool {
		if h.firstDay <= h.lastDay {
			return h.firstDay <= d && d <= h.lastDay
		}
		return d >= h.firstDay || d <= h.lastDay
	}
	if h.opens < h.closes {
		return listed(weekday) && h.opens <= minute && minute < h.closes
	}
	return listed(weekday) && minute >= h.opens || listed((weekday+6)%7) && minute < h.closes
}
