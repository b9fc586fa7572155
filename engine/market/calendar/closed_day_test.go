package calendar

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseClosedDay(t *testing.T) {
	for text, want := range map[string]closedDay{
		"2026-12-25": {2026, time.December, 25}, "12-25": {0, time.December, 25}, "02-29": {0, time.February, 29}, "2028-02-29": {2028, time.February, 29},
		"": {}, "2026-02-29": {}, "02-30": {}, "2026-13-01": {}, "13-01": {}, "00-01": {}, "01-00": {}, "0000-01-01": {},
		"2026-1-5": {}, "1-5": {}, "26-12-25": {}, "2026-12-25 ": {}, " 12-2": {}, "25.12.": {}, "Dec 25": {}, "2026-12-25T00:00:00Z": {},
	} {
		got, err := parseClosedDay(text)
		if got != want || (err == nil) != (want != closedDay{}) || err != nil && !strings.Contains(err.Error(), "write a date that exists") {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if s, err := ParseWeeklySchedule(time.UTC, []string{"Mon 08:00-09:00"}, "12-25", "02-30"); s != nil || err == nil || !strings.HasPrefix(err.Error(), `"02-30" is not a date`) {
		t.Errorf("a schedule with a date that does not exist: %v", err)
	}
}

func TestClosedDays(t *testing.T) {
	office, night := []string{"Mon-Fri 08:00-18:00"}, []string{"Thu 22:00-02:00"}
	for _, c := range []struct {
		name, zone     string
		open, closedOn []string
		at             string
		want           bool
		until          string // in the zone
	}{
		{"a closed date", "UTC", office, []string{"2026-12-25"}, "2026-12-25T10:00:00Z", false, "2026-12-26T00:00:00Z"},
		{"its last nanosecond", "UTC", office, []string{"2026-12-25"}, "2026-12-25T23:59:59.999999999Z", false, "2026-12-26T00:00:00Z"},
		{"the date a year later", "UTC", office, []string{"2026-12-25"}, "2028-12-25T10:00:00Z", true, "2028-12-25T18:00:00Z"},
		{"a date of every year", "UTC", office, []string{"12-25"}, "2028-12-25T10:00:00Z", false, "2028-12-26T00:00:00Z"},
		{"another day", "UTC", office, []string{"12-25", "2026-01-01"}, "2026-12-24T10:00:00Z", true, "2026-12-24T18:00:00Z"},
		{"the evening before ends at midnight", "UTC", night, []string{"2026-12-25"}, "2026-12-24T23:00:00Z", true, "2026-12-25T00:00:00Z"},
		{"hours past midnight do not continue", "UTC", night, []string{"2026-12-25"}, "2026-12-25T01:00:00Z", false, "2026-12-26T00:00:00Z"},
		{"a leap day", "UTC", nil, []string{"02-29"}, "2028-02-29T12:00:00Z", false, "2028-03-01T00:00:00Z"},
		{"no leap day in the year", "UTC", nil, []string{"02-29"}, "2027-03-01T12:00:00Z", true, "2027-03-02T00:00:00Z"},
		{"by the zone's date", "America/New_York", nil, []string{"07-04"}, "2026-07-03T23:59:59-04:00", true, "2026-07-04T00:00:00-04:00"},
		{"a day that begins after a gap", "America/Havana", nil, []string{"03-10"}, "2024-03-10T01:00:00-04:00", false, "2024-03-11T00:00:00-04:00"},
		{"the day before one that begins after a gap", "America/Havana", nil, []string{"03-09"}, "2024-03-09T23:59:59-05:00", false, "2024-03-10T01:00:00-04:00"},
		{"a repetition of the old day belongs to the new one", "America/St_Johns", nil, []string{"2006-10-28"}, "2006-10-28T23:30:00-03:30", true, "2006-10-30T00:00:00-03:30"},
		{"the new day is closed in the repetition", "America/St_Johns", nil, []string{"2006-10-29"}, "2006-10-28T23:30:00-03:30", false, "2006-10-30T00:00:00-03:30"},
		{"a skipped date", "Pacific/Apia", nil, []string{"2011-12-30"}, "2011-12-29T23:59:59-10:00", true, "2011-12-31T00:00:00+14:00"},
		{"the day after a skipped date", "Pacific/Apia", nil, []string{"2011-12-30"}, "2011-12-31T00:00:00+14:00", true, "2012-01-01T00:00:00+14:00"},
	} {
		zone := loadZone(t, c.zone)
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		s, err := ParseWeeklySchedule(zone, c.open, c.closedOn...)
		if err != nil {
			t.Fatal(err)
		}
		open, until := s.IsOpenAt(at.UnixNano())
		if got := time.Unix(0, until).In(zone).Format(time.RFC3339); open != c.want || got != c.until {
			t.Errorf("%s: open %t until %s, want %t until %s", c.name, open, got, c.want, c.until)
		}
	}
}

func TestScheduleNamesClosedDays(t *testing.T) {
	for _, c := range []struct {
		open, closedOn []string
		want, local    string
	}{
		{[]string{"Mon-Fri 08:00-18:00"}, nil, "Mon-Fri 08:00-18:00 UTC", "Fri 10:00"},
		{[]string{"Mon-Fri 08:00-18:00", "Sat 08:00-12:00"}, []string{"01-01"}, "Mon-Fri 08:00-18:00, Sat 08:00-12:00 UTC, closed on 01-01", "Fri 10:00"},
		{nil, []string{"2026-12-24", "12-25"}, "all hours UTC, closed on 2026-12-24, 12-25", "Fri 2026-12-25 10:00"},
	} {
		s, err := ParseWeeklySchedule(time.UTC, c.open, c.closedOn...)
		if err != nil {
			t.Fatal(err)
		}
		local := s.LocalWeekdayAndTime(time.Date(2026, time.December, 25, 10, 0, 0, 0, time.UTC).UnixNano())
		if s.String() != c.want || local != c.local {
			t.Errorf("got %q at %q, want %q at %q", s, local, c.want, c.local)
		}
	}
}

// scheduleModel evaluates a schedule minute by minute: its day is the latest date that the zone's
// clocks have shown.
type scheduleModel struct {
	zone     *time.Location
	open     []hours
	closedOn []string
	latest   string // date
}

// isOpenIn returns the state in a minute. Minutes must ascend, from a few days before the first one
// that counts.
func (m *scheduleModel) isOpenIn(minute int64) bool {
	at := time.Unix(minute*60, 0).In(m.zone)
	m.latest = max(m.latest, at.Format(time.DateOnly))
	open := len(m.open) == 0
	for _, h := range m.open {
		open = open || h.include((int(at.Weekday())+6)%7, at.Hour()*60+at.Minute())
	}
	return open && !slices.Contains(m.closedOn, m.latest) && !slices.Contains(m.closedOn, m.latest[len("2006-"):])
}

// A schedule with closed days has the state of the model in each minute until the change that it
// announces. It announces the change after a day at the latest.
func TestScheduleWithClosedDaysMatchesModel(t *testing.T) {
	lines := []string{"Mon-Fri 08:00-18:00", "Sat 10:00-24:00", "Fri-Mon 22:00-02:00", "Mon-Sun 00:00-24:00", "Sun 01:00-03:00"}
	closed, open := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		zone := loadZone(t, rapid.SampledFrom(unusualZones).Draw(t, "zone"))
		at := pickInstant(zone, rapid.Int64().Draw(t, "minute"), rapid.Bool().Draw(t, "near a change of the clocks"), rapid.Int16().Draw(t, "past"))
		m := scheduleModel{zone: zone}
		openingHours := rapid.SliceOfN(rapid.SampledFrom(lines), 0, 2).Draw(t, "open")
		for _, line := range openingHours {
			h, _ := parseHoursModel(line)
			m.open = append(m.open, h)
		}
		for range rapid.IntRange(1, 4).Draw(t, "closed days") {
			date := time.Unix(0, at).In(zone).AddDate(0, 0, rapid.IntRange(-3, 5).Draw(t, "day")).Format(time.DateOnly)
			m.closedOn = append(m.closedOn, date[rapid.SampledFrom([]int{0, len("2006-")}).Draw(t, "of every year"):])
		}
		s, err := ParseWeeklySchedule(zone, openingHours, m.closedOn...)
		if err != nil {
			t.Fatal(err)
		}
		first := at / int64(time.Minute)
		until, state := int64(math.MinInt64), false
		for minute := first - 3*minutesInDay; minute < first+5*minutesInDay; minute++ {
			want := m.isOpenIn(minute)
			if minute < first {
				continue
			}
			now := minute * int64(time.Minute)
			if now >= until {
				state, until = s.IsOpenAt(now)
				if until <= now || until > now+50*int64(time.Hour) {
					t.Fatalf("%s: the change after %s is announced for %s", s, formatIn(zone, now), formatIn(zone, until))
				}
			}
			if state != want {
				t.Fatalf("%s: at %s open %t, want %t", s, formatIn(zone, now), state, want)
			}
			if state {
				open++
			} else {
				closed++
			}
		}
	})
	if open == 0 || closed == 0 {
		t.Errorf("the schedules were open in %d minutes and closed in %d", open, closed)
	}
}

func formatIn(zone *time.Location, unixNanos int64) string {
	return fmt.Sprint(time.Unix(0, unixNanos).In(zone))
}

func TestCoveredMinutes(t *testing.T) {
	var covered CoveredMinutes
	for i, c := range []struct {
		zone, open string
		want       bool
	}{
		{"UTC", "Mon-Fri 08:00-12:00", true},
		{"UTC", "Mon-Fri 08:00-12:00", false},
		{"UTC", "Tue 09:00-12:01", true},
		{"UTC", "Tue 12:00-12:01", false},
		{"America/New_York", "Mon 08:00-12:00", true},
		{"UTC", "Sun 23:00-01:00", true},
		{"UTC", "Mon 00:00-01:00", false},
		{"UTC", "Sun 22:59-23:01", true},
		{"UTC", "Mon-Sun 00:00-24:00", true},
		{"UTC", "Sun 00:00-24:00", false},
		{"America/New_York", "Mon 08:00-12:00", false},
	} {
		if got := covered.Add(mustParseSchedule(t, loadZone(t, c.zone), c.open)); got != c.want {
			t.Errorf("%d: %s %s adds a minute: %t, want %t", i, c.zone, c.open, got, c.want)
		}
	}
}
