package market

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// conditionFields is a mapping with a field of each kind that filters treat differently.
func conditionFields(t testing.TB) *FieldMapping {
	t.Helper()
	m, mistakes := NewFieldMapping(FieldMappingSpec{Fields: []FieldSpec{
		{Name: "born", Type: TypeDate},
		{Name: "zip2", Type: TypeZIP},
		{Name: "area", Type: TypeZIP, Transforms: []FieldTransform{TransformZIP3}},
		{Name: "hash", Type: TypeDate, Transforms: []FieldTransform{TransformSHA256}},
		{Name: "color", Type: TypeEnum, Values: []string{"Red", "Blue", "blue"}},
		{Name: "home", Type: TypeBoolean},
		{Name: "rooms", Type: TypeInteger},
	}})
	if mistakes != nil {
		t.Fatal(mistakes)
	}
	return m
}

func pointerTo[T any](value T) *T { return &value }

// TestFilterConditions: the first column is the lead's field and value, the second the filter, the third
// the condition that excludes the lead; empty: it passes. The lead is decided on March 1, 2026 at 0:30
// in New York, which is still February in Los Angeles.
func TestFilterConditions(t *testing.T) {
	m := conditionFields(t)
	adult, band := FilterSpec{MinAge: pointerTo(18)}, FilterSpec{MinAge: pointerTo(25), MaxAge: pointerTo(34)}
	dallas := FilterSpec{Near: &NearSpec{ZIP: "75201", Miles: pointerTo("25")}}
	for _, test := range []struct {
		field, value string
		spec         FilterSpec
		unmet        string
	}{
		{"zip", "75201", FilterSpec{Prefix: []string{"752", "1"}}, ""},
		{"zip", "75201-1234", FilterSpec{Prefix: []string{"75201"}}, ""},
		{"zip", "10001", FilterSpec{Prefix: []string{"752", "1"}}, ""},
		{"zip", "75301", FilterSpec{Prefix: []string{"752", "1"}}, "begins with 1 752"},
		{"zip", "752", FilterSpec{Prefix: []string{"752"}}, ""}, // zip3 of a ping
		{"zip", "752", FilterSpec{Prefix: []string{"7520"}}, "begins with 7520"},
		{"zip", "", FilterSpec{NotPrefix: []string{"752"}}, "does not begin with 752"},
		{"zip", "75201", FilterSpec{NotPrefix: []string{"752"}}, "does not begin with 752"},
		{"zip", "75301", FilterSpec{NotPrefix: []string{"752"}}, ""},
		{"zip", "75301", FilterSpec{Prefix: []string{"75"}, NotPrefix: []string{"753"}}, "does not begin with 753"},
		{"zip", "75201-1234", FilterSpec{In: []string{"75201"}}, ""},
		{"zip", "75201-1234", FilterSpec{NotIn: []string{"75201"}}, "not in 75201"},
		{"zip", "75201", FilterSpec{In: []string{"75201-1234"}}, "in 75201-1234"},
		{"phone", "+12145550123", FilterSpec{Prefix: []string{"+1214"}}, ""},
		{"source", "Facebook", FilterSpec{Prefix: []string{"face"}}, "begins with face"},

		{"zip", "75202", dallas, ""},
		{"zip2", "75202-0001", dallas, ""},
		{"zip", "77002", dallas, "within 25 miles of 75201"},
		{"zip", "752", dallas, "within 25 miles of 75201"},
		{"zip", "75221", dallas, "within 25 miles of 75201"}, // post boxes
		{"zip", "75202", FilterSpec{Near: &NearSpec{ZIP: "75201", Km: pointerTo("1.5")}, NotIn: []string{"75202"}}, "not in 75202"},
		{"zip", "75202", FilterSpec{Near: &NearSpec{ZIP: "75201", Km: pointerTo("40")}, In: []string{"75201", "77002"}}, "in 75201 77002"},
		{"zip", "77002", FilterSpec{Near: &NearSpec{ZIP: "75201", Km: pointerTo("40")}, In: []string{"75201", "77002"}}, "within 40 km of 75201"},

		{"source", "AB12", FilterSpec{Matches: `[A-Z]{2}\d+`}, ""},
		{"source", "xAB12", FilterSpec{Matches: `[A-Z]{2}\d+`}, `matches [A-Z]{2}\d+`},
		{"source", "AB12 ", FilterSpec{Matches: `[A-Z]{2}\d+`}, `matches [A-Z]{2}\d+`},
		{"source", "ab", FilterSpec{Matches: `a|b`}, `matches a|b`},
		{"source", strings.Repeat("a", 256), FilterSpec{Matches: `a+`}, ""},
		{"source", strings.Repeat("a", 257), FilterSpec{Matches: `a+`}, `matches a+`},

		{"born", "2020-01-01", FilterSpec{From: "2020-01-01", Until: "2025-12-31"}, ""},
		{"born", "2025-12-31", FilterSpec{From: "2020-01-01", Until: "2025-12-31"}, ""},
		{"born", "2019-12-31", FilterSpec{From: "2020-01-01", Until: "2025-12-31"}, "between 2020-01-01 2025-12-31"},
		{"born", "2026-01-01", FilterSpec{Until: "2025-12-31"}, "<= 2025-12-31"},
		{"born", "0999-12-31", FilterSpec{From: "1000-01-01"}, ">= 1000-01-01"},
		{"born", "", FilterSpec{From: "1000-01-01"}, ">= 1000-01-01"},

		{"born", "2008-02-29", adult, ""}, // 18 on March 1, as 2026 has no February 29
		{"born", "2008-03-01", adult, ""},
		{"born", "2008-03-02", adult, "age >= 18"},
		{"born", "2026-03-02", FilterSpec{MaxAge: pointerTo(65)}, "age <= 65"}, // not born yet
		{"born", "2026-03-01", FilterSpec{MaxAge: pointerTo(0)}, ""},
		{"born", "1960-03-02", FilterSpec{MaxAge: pointerTo(65)}, ""},
		{"born", "1960-03-01", FilterSpec{MaxAge: pointerTo(65)}, "age <= 65"},
		{"born", "2001-03-01", band, ""},
		{"born", "2001-03-02", band, "age between 25 34"},
		{"born", "", adult, "age >= 18"},
		{"born", "1980-01-01", FilterSpec{MinAge: pointerTo(18), From: "1990-01-01"}, ">= 1990-01-01"},

		{"state", "CA", FilterSpec{In: []string{"ca"}}, ""}, // as the lead's value is stored
		{"color", "Red", FilterSpec{NotIn: []string{" RED"}}, "not in Red"},
		{"color", "Blue", FilterSpec{In: []string{"blue"}}, "in blue"},
	} {
		test.spec.Field = test.field
		f, err := NewFilter(test.spec, m)
		if err != nil {
			t.Errorf("%s %+v: %v", test.field, test.spec, err)
			continue
		}
		l := Lead{Values: make([]FieldValue, m.SlotCount())}
		l.Values[f.FieldSlot()] = TextValueOrAbsent([]byte(test.value))
		zone := time.FixedZone("New York", -5*60*60)
		l.SetDecisionTime(time.Date(2026, time.March, 1, 0, 30, 0, 0, zone).UnixNano(), zone)
		condition, unmet := f.FirstUnmetCondition(&l)
		if got := strings.TrimSpace(fmt.Sprint(condition.Operator, " ", strings.Join(condition.Values, " "))); got != test.unmet || unmet != (test.unmet != "") || f.Accepts(&l) == unmet {
			t.Errorf("%s %q, filter %+v: unmet condition %q, want %q", test.field, test.value, test.spec, got, test.unmet)
		}
	}
}

// TestAgeDependsOnZone: the same moment is still February in the west.
func TestAgeDependsOnZone(t *testing.T) {
	f, err := NewFilter(FilterSpec{Field: "born", MinAge: pointerTo(18)}, conditionFields(t))
	if err != nil {
		t.Fatal(err)
	}
	l := Lead{Values: make([]FieldValue, f.FieldSlot()+1)}
	l.Values[f.FieldSlot()] = text("2008-03-01")
	for hours, want := range map[int]bool{-5: true, -6: false, 0: true} {
		zone := time.FixedZone("", hours*60*60)
		if l.SetDecisionTime(time.Date(2026, time.March, 1, 5, 30, 0, 0, time.UTC).UnixNano(), zone); f.Accepts(&l) != want {
			t.Errorf("UTC%+d: accepted %t", hours, !want)
		}
	}
}

func TestNewFilterRejectsNewConditions(t *testing.T) {
	m := conditionFields(t)
	for _, test := range []struct {
		spec FilterSpec
		err  string // part of the error; empty: accepted
	}{
		{FilterSpec{Field: "zip", Prefix: []string{"1", "12", "123", "1234", "12345"}}, ""},
		{FilterSpec{Field: "zip", Prefix: []string{"123456"}}, `"123456", but the field's type is zip: give one to five digits`},
		{FilterSpec{Field: "zip", NotPrefix: []string{"75-"}}, `"75-", but the field's type is zip`},
		{FilterSpec{Field: "area", Prefix: []string{"752"}}, ""},
		{FilterSpec{Field: "source", Prefix: []string{""}}, "empty text"},
		{FilterSpec{Field: "rooms", Prefix: []string{"1"}}, "prefix, not_prefix and matches are for text, but the field's type is integer"},
		{FilterSpec{Field: "home", Matches: "t.*"}, "are for text, but the field's type is boolean"},
		{FilterSpec{Field: "source", Matches: "("}, "matches: the pattern is not an RE2 regular expression"},
		{FilterSpec{Field: "source", Matches: "a)|(b"}, "matches: the pattern is not an RE2"},
		{FilterSpec{Field: "source", Matches: strings.Repeat("a", 1001)}, "matches: a pattern has at most 1000 bytes"},
		{FilterSpec{Field: "source", Absent: true, Matches: "a"}, "absent cannot be combined"},
		{FilterSpec{Field: "zip", Absent: true, Prefix: []string{"7"}}, "absent cannot be combined"},

		{FilterSpec{Field: "zip", Near: &NearSpec{ZIP: "75201", Miles: pointerTo("500")}}, ""},
		{FilterSpec{Field: "zip", Near: &NearSpec{ZIP: "75201", Miles: pointerTo("501")}}, "near has a distance that is no number above 0 and up to 500 miles"},
		{FilterSpec{Field: "zip", Near: &NearSpec{ZIP: "75201", Km: pointerTo("0")}}, "above 0"},
		{FilterSpec{Field: "zip", Near: &NearSpec{ZIP: "75201"}}, "give either miles or km"},
		{FilterSpec{Field: "zip", Near: &NearSpec{ZIP: "75201", Miles: pointerTo("1"), Km: pointerTo("1")}}, "give either miles or km"},
		{FilterSpec{Field: "zip", Near: &NearSpec{ZIP: "75221", Miles: pointerTo("1")}}, `the location of the ZIP code "75221" is unknown`},
		{FilterSpec{Field: "source", Near: &NearSpec{ZIP: "75201", Miles: pointerTo("1")}}, "near is for ZIP codes, but the field's type is string"},
		{FilterSpec{Field: "area", Near: &NearSpec{ZIP: "75201", Miles: pointerTo("1")}}, "the field's transform zip3 hides the value"},

		{FilterSpec{Field: "born", From: "2020-02-30"}, "from is not a date that exists"},
		{FilterSpec{Field: "born", Until: "2020-1-1"}, "until is not a date that exists"},
		{FilterSpec{Field: "born", From: "2020-01-02", Until: "2020-01-01"}, "from is later than until"},
		{FilterSpec{Field: "born", From: "2020-01-01", Until: "2020-01-01"}, ""},
		{FilterSpec{Field: "source", From: "2020-01-01"}, "are for dates, but the field's type is string: set the field's type to date"},
		{FilterSpec{Field: "hash", MinAge: pointerTo(18)}, "the field's transform sha256 hides the value"},
		{FilterSpec{Field: "born", Min: pointerTo("1")}, "the field's type is date: use from and until, or min_age and max_age"},
		{FilterSpec{Field: "born", Min: pointerTo("1"), From: "2020-01-01"}, "from and until are for dates"},
		{FilterSpec{Field: "born", MinAge: pointerTo(-1)}, "min_age is not an age; give 0 to 150 years"},
		{FilterSpec{Field: "born", MaxAge: pointerTo(151)}, "max_age is not an age"},
		{FilterSpec{Field: "born", MinAge: pointerTo(65), MaxAge: pointerTo(64)}, "min_age is greater than max_age"},
		{FilterSpec{Field: "born", MinAge: pointerTo(18), MaxAge: pointerTo(18)}, ""},

		{FilterSpec{Field: "source", In: []string{"a", "b"}, NotIn: []string{"b", "a", "c"}}, "exclude each other"},
		{FilterSpec{Field: "source", In: []string{"a", "b"}, NotIn: []string{"a"}}, ""},
		{FilterSpec{Field: "zip", In: []string{"10001"}, Prefix: []string{"752"}}, "exclude each other"},
		{FilterSpec{Field: "zip", In: []string{"75201", "10001"}, Prefix: []string{"752"}}, ""},
		{FilterSpec{Field: "zip", Prefix: []string{"752", "753"}, NotPrefix: []string{"75"}}, "exclude each other"},
		{FilterSpec{Field: "zip", Prefix: []string{"75"}, NotPrefix: []string{"752"}}, ""},
		{FilterSpec{Field: "zip", Near: &NearSpec{ZIP: "75201", Miles: pointerTo("1")}, Prefix: []string{"1"}}, "exclude each other"},
		{FilterSpec{Field: "zip", Near: &NearSpec{ZIP: "75201", Miles: pointerTo("1")}, In: []string{"77002"}}, "exclude each other"},
		{FilterSpec{Field: "source", In: []string{"ab"}, Matches: "."}, "exclude each other"},
		{FilterSpec{Field: "zip", In: []string{"75201"}, Matches: "[0-9]{5}-[0-9]{4}"}, ""},
		{FilterSpec{Field: "rooms", In: []string{"1", "2"}, Min: pointerTo("3")}, "exclude each other"},
		{FilterSpec{Field: "born", In: []string{"2020-01-01"}, From: "2020-01-02"}, "exclude each other"},
		{FilterSpec{Field: "born", In: []string{"2020-01-01"}, MinAge: pointerTo(18)}, ""}, // some day
		{FilterSpec{Field: "home", NotIn: []string{"true", "false"}}, "exclude each other"},
		{FilterSpec{Field: "state", Absent: true}, ""},
	} {
		f, err := NewFilter(test.spec, m)
		if name, found := m.FindContradictoryField([]Filter{f}); err == nil && found && name == test.spec.Field {
			err = errors.New("exclude each other")
		}
		if contradictory, _ := test.spec.CheckWithoutField(); contradictory && (err == nil || err.Error() != "exclude each other") {
			t.Errorf("%+v: is contradictory without its field only", test.spec)
		}
		if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
			t.Errorf("%+v: %v; want …%s…", test.spec, err, test.err)
		}
	}
}

// TestFindContradictoryField compares with leads: if the filters contradict each other, each lead fails.
func TestFindContradictoryField(t *testing.T) {
	m := conditionFields(t)
	rapid.Check(t, func(t *rapid.T) {
		var filters []Filter
		for range rapid.IntRange(1, 3).Draw(t, "filters") {
			filters = append(filters, filterGenerator().Filter(func(f Filter) bool { return f.slot == slotText || f.slot == slotZIP }).Draw(t, "filter"))
		}
		name, found := m.FindContradictoryField(filters)
		for _, l := range rapid.SliceOfN(leadGenerator(), 20, 20).Draw(t, "leads") {
			if accepted := !slices.ContainsFunc(filters, func(f Filter) bool { return !f.Accepts(l) }); accepted && found {
				t.Fatalf("%s is contradictory, but %s %s passes", name, l.Values[slotText].Text, l.Values[slotZIP].Text)
			}
		}
	})
	state, _ := NewFilter(FilterSpec{Field: "state", In: []string{"CA"}}, m)
	zip, _ := NewFilter(FilterSpec{Field: "zip", Prefix: []string{"752"}}, m)
	other, _ := NewFilter(FilterSpec{Field: "zip", Prefix: []string{"7", "9"}}, m)
	texas, _ := NewFilter(FilterSpec{Field: "zip", Prefix: []string{"76"}}, m)
	if name, found := m.FindContradictoryField([]Filter{zip, state, other}); found {
		t.Errorf("%s is contradictory", name)
	}
	if name, found := m.FindContradictoryField([]Filter{zip, state, texas}); !found || name != "zip" {
		t.Errorf("%q, %t; want zip", name, found)
	}
}
