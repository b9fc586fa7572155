package market

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/bitset"
	"pingpost/engine/market/valuelist"
	"pingpost/engine/market/zipcode"
)

// Few samples, so that leads often match filters.
var (
	textSamples   = []string{"", "CA", "NV", "true", "false", "2", "2.0", "x"}
	numberSamples = []string{"0", "-0", "1", "1.0", "1.5", "2", "2.0", "2e0", "-3", "100", "1e300", "-1e300"}
)

// The slots of the generated leads: any value, texts, ZIP codes and dates.
const (
	slotAny LeadFieldIndex = iota
	slotText
	slotZIP
	slotDate
	slotsOfIndexTest
)

// dayOfIndexTest is the day of the decisions.
var dayOfIndexTest = time.Date(2026, time.March, 1, 0, 30, 0, 0, time.UTC)

var (
	zipSamples  = []string{"75201", "75201-1234", "75202", "75202-0001", "10001", "752"}
	dateSamples = []string{"2008-02-29", "2008-03-01", "2008-03-02", "2026-03-01", "2026-03-02", "1961-01-01", "x"}
)

// filterGenerator makes filters that may contradict themselves.
func filterGenerator() *rapid.Generator[Filter] {
	return rapid.Custom(func(t *rapid.T) Filter {
		bound := rapid.Custom(func(t *rapid.T) *string {
			digits := strconv.Itoa(rapid.IntRange(-100, 100).Draw(t, "tenths")) + "e-1"
			return &digits
		})
		list := func(samples []string) []string {
			return rapid.SliceOfN(rapid.SampledFrom(samples), 1, 4).Draw(t, "list")
		}
		var spec FilterSpec
		slot, kind, kindOfLists := LeadFieldIndex(rapid.IntRange(0, int(slotsOfIndexTest)-1).Draw(t, "slot")), rapid.IntRange(0, 6).Draw(t, "kind"), valuelist.Texts
		samples := map[LeadFieldIndex][]string{slotAny: slices.Concat(textSamples, numberSamples), slotText: textSamples, slotZIP: zipSamples, slotDate: dateSamples}[slot]
		switch kind {
		case 0:
			spec.Absent = true
		case 1:
			spec.In = list(samples)
		case 2:
			spec.NotIn = list(samples)
		default:
			switch slot {
			case slotAny:
				spec.Min = bound.Draw(t, "min")
				if kind > 4 {
					spec.In, spec.NotIn = list(samples), list(samples)
				}
			case slotText:
				spec.Matches = rapid.SampledFrom([]string{"[A-Z]*", ".", "2.*"}).Draw(t, "pattern")
			case slotZIP:
				prefixes := []string{"7", "75", "752", "7520", "75201", "1", "2"}
				if spec.Prefix = list(prefixes); kind > 4 {
					spec.Prefix, spec.NotPrefix, spec.In = list(prefixes), list(prefixes), list(samples)
				}
				if kind == 6 {
					miles := "1"
					spec = FilterSpec{Near: &NearSpec{ZIP: "75201", Miles: &miles}, NotIn: list(samples)}
				}
			case slotDate:
				age := rapid.IntRange(0, 70).Draw(t, "age")
				date := rapid.SampledFrom(dateSamples[:len(dateSamples)-1]).Draw(t, "date")
				spec = []FilterSpec{{MinAge: &age}, {MaxAge: &age}, {From: date}, {Until: date, MinAge: &age}}[kind-3]
			}
		}
		switch slot {
		case slotAny:
			kindOfLists = valuelist.Values
		case slotZIP:
			kindOfLists = valuelist.ZIPs
		}
		f, err := spec.compileWithoutTypeCheck(slot, kindOfLists)
		if err != nil {
			t.Fatal(err)
		}
		return f
	})
}

// leadGenerator makes leads with the slots of the index test.
func leadGenerator() *rapid.Generator[*Lead] {
	textOf := func(samples []string) *rapid.Generator[FieldValue] {
		return rapid.OneOf(rapid.Just(FieldValue{}), rapid.Map(rapid.SampledFrom(samples), text))
	}
	return rapid.Custom(func(t *rapid.T) *Lead {
		l := &Lead{Values: []FieldValue{
			slotAny: rapid.OneOf(
				textOf(textSamples),
				rapid.Map(rapid.SampledFrom(numberSamples), number),
				rapid.Map(rapid.IntRange(-10, 10), func(n int) FieldValue { return integer(strconv.Itoa(n)) }),
				rapid.Map(rapid.SampledFrom([]string{"true", "false"}), boolean),
			).Draw(t, "any"),
			slotText: textOf(textSamples).Draw(t, "text"),
			slotZIP:  textOf(zipSamples).Draw(t, "zip"),
			slotDate: textOf(dateSamples).Draw(t, "date"),
		}}
		l.SetDecisionTime(dayOfIndexTest.UnixNano(), time.UTC)
		return l
	})
}

func TestFilterIndexMatchesFilters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Many sets of few kinds: enough to fill masks and blocks.
		kinds := rapid.SliceOfN(rapid.SliceOfN(filterGenerator(), 0, 4), 1, 8).Draw(t, "kinds")
		sets := make([][]Filter, rapid.IntRange(0, 300).Draw(t, "sets"))
		step := rapid.IntRange(1, 7).Draw(t, "step")
		for i := range sets {
			sets[i] = kinds[i*step%len(kinds)]
		}
		index := NewFilterIndex(sets)
		for range 5 {
			l := leadGenerator().Draw(t, "lead")
			got := bitset.New(len(sets))
			got.ResetToAllBelow(len(sets))
			excluded := -1 // a set excluded before the call
			if len(sets) > 0 {
				excluded = rapid.IntRange(0, len(sets)-1).Draw(t, "excluded")
				got.Remove(excluded)
			}
			index.ClearFailingSets(l, got)
			for i, filters := range sets {
				want := i != excluded
				for k := range filters {
					want = want && acceptsModel(&filters[k], l)
				}
				if got.Has(i) != want {
					t.Fatalf("set %d: the filters accept: %t, the index accepts: %t", i, want, got.Has(i))
				}
			}
		}
	})
}

// acceptsModel applies the conditions of a filter one by one, from the texts in which an explanation shows them.
func acceptsModel(f *Filter, l *Lead) bool {
	accepted := true
	for _, c := range f.Conditions() {
		accepted = accepted && meetsModel(c, &l.Values[f.slot])
	}
	condition, unmet := f.FirstUnmetCondition(l)
	if unmet == accepted || unmet && meetsModel(condition, &l.Values[f.slot]) || accepted != f.Accepts(l) {
		panic(fmt.Sprintf("%+v: accepted %t, but FirstUnmetCondition returns %v, %t", f.Conditions(), accepted, condition, unmet))
	}
	return accepted
}

func meetsModel(c FilterCondition, v *FieldValue) bool {
	if v.Kind == KindAbsent || c.Operator == FilterAbsent {
		return v.Kind == KindAbsent && c.Operator == FilterAbsent
	}
	value := string(v.Text)
	date, err := time.Parse(time.DateOnly, value)
	equal := func(entry string) bool {
		n, isNumber := valuelist.ParseNumber(entry)
		return v.isNumber() && isNumber && n == v.Num || !v.isNumber() && (entry == value || len(entry) == 5 && len(value) == 10 && value[5] == '-' && strings.HasPrefix(value, entry))
	}
	begins := func(prefix string) bool { return strings.HasPrefix(value, prefix) }
	bound := func() float64 { n, _ := valuelist.ParseNumber(c.Values[0]); return n }
	age := func() float64 {
		years := dayOfIndexTest.Year() - date.Year()
		if dayOfIndexTest.Format("01-02") < date.Format("01-02") {
			years--
		}
		return float64(years)
	}
	switch c.Operator {
	case FilterIn:
		return slices.ContainsFunc(c.Values, equal)
	case FilterNotIn:
		return !slices.ContainsFunc(c.Values, equal)
	case FilterNear:
		return c.Values[0] == "1 miles of 75201" && (value == "75201" || value == "75201-1234" || value == "75202" || value == "75202-0001")
	case FilterPrefix:
		return slices.ContainsFunc(c.Values, begins)
	case FilterNotPrefix:
		return !slices.ContainsFunc(c.Values, begins)
	case FilterMatches:
		return regexp.MustCompile("^(" + c.Values[0] + ")$").MatchString(value)
	case FilterMinAge:
		return err == nil && !date.After(dayOfIndexTest) && age() >= bound()
	case FilterMaxAge:
		return err == nil && !date.After(dayOfIndexTest) && age() <= bound()
	case FilterMax:
		return err == nil && value <= c.Values[0]
	case FilterMin:
		if strings.Contains(c.Values[0], "-0") && len(c.Values[0]) == 10 {
			return err == nil && value >= c.Values[0]
		}
		return v.isNumber() && v.Num >= bound()
	}
	panic("BUG: no model of " + c.Operator)
}

// TestFilterIndexWithSeveralListsOnOneField: a buyer and its campaign entry can each list values of
// a field.
func TestFilterIndexWithSeveralListsOnOneField(t *testing.T) {
	index := NewFilterIndex([][]Filter{{
		filterOn(t, 0, FilterSpec{In: []string{"CA", "NV", "1", "2"}}),
		filterOn(t, 0, FilterSpec{In: []string{"NV", "NY", "2", "3"}}),
	}})
	for want, values := range map[bool][]FieldValue{
		true:  {text("NV"), number("2")},
		false: {text("CA"), text("NY"), number("1"), number("3")},
	} {
		for _, v := range values {
			passing := bitset.New(1)
			passing.ResetToAllBelow(1)
			index.ClearFailingSets(&Lead{Values: []FieldValue{v}}, passing)
			if passing.Has(0) != want {
				t.Errorf("value %s is accepted: %t", v.Text, !want)
			}
		}
	}
}

func TestFilterIndexWithDistinctBounds(t *testing.T) {
	const sets = 500
	var filters [][]Filter
	for i := range sets {
		low, high := strconv.Itoa(i*7%sets), strconv.Itoa(i*7%sets+50)
		filters = append(filters, []Filter{filterOn(t, 0, FilterSpec{Min: &low, Max: &high})})
	}
	index := NewFilterIndex(filters)
	for n := -2; n < sets+60; n++ {
		l := Lead{Values: []FieldValue{integer(strconv.Itoa(n))}}
		got := bitset.New(sets)
		got.ResetToAllBelow(sets)
		index.ClearFailingSets(&l, got)
		for i := range filters {
			if want := filters[i][0].Accepts(&l); got.Has(i) != want {
				t.Fatalf("value %d, set %d: the filter accepts: %t, the index accepts: %t", n, i, want, got.Has(i))
			}
		}
	}
}

func TestFilterIndexWithoutFilters(t *testing.T) {
	all := bitset.New(3)
	all.ResetToAllBelow(3)
	NewFilterIndex(make([][]Filter, 3)).ClearFailingSets(&Lead{}, all)
	if all.Count() != 3 {
		t.Errorf("%d of 3 sets without filters are accepted", all.Count())
	}
}

func TestFilterIndexPanicsOnTooSmallBitset(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	NewFilterIndex(make([][]Filter, 65)).ClearFailingSets(&Lead{}, bitset.New(64))
}

func BenchmarkFilterIndex(b *testing.B) {
	for _, buyers := range []int{10, 1000} {
		b.Run(fmt.Sprintf("buyers=%d", buyers), func(b *testing.B) {
			index, l := newLargeIndex(b, buyers)
			dst := bitset.New(buyers)
			b.ReportAllocs()
			for b.Loop() {
				dst.ResetToAllBelow(buyers)
				index.ClearFailingSets(l, dst)
			}
		})
	}
}

// BenchmarkFilterIndexOfZIPs has a thousand buyers with long lists of ZIP codes, or with short ones of
// other conditions.
func BenchmarkFilterIndexOfZIPs(b *testing.B) {
	const buyers = 1000
	digits := func(n, width int) string { return fmt.Sprintf("%0*d", width, n) }
	many := func(i, count, step, width int) (list []string) {
		for k := range count {
			list = append(list, digits((i*37+k*step)%pow10(width), width))
		}
		return list
	}
	miles, age := "25", 18
	centers, _ := zipcode.FindWithin("75201", 300)
	for _, bench := range []struct {
		name string
		spec func(i int) FilterSpec
	}{
		{"10000 zips", func(i int) FilterSpec { return FilterSpec{In: many(i, 10_000, 4, 5)} }},
		{"5 prefixes", func(i int) FilterSpec { return FilterSpec{Prefix: many(i, 5, 31, 3)} }},
		{"5 excluded prefixes", func(i int) FilterSpec { return FilterSpec{NotPrefix: many(i, 5, 31, 3)} }},
		{"near", func(i int) FilterSpec {
			return FilterSpec{Near: &NearSpec{ZIP: centers[i%len(centers)], Miles: &miles}}
		}},
		{"10 patterns", func(i int) FilterSpec { return FilterSpec{Matches: "[0-7]" + digits(i%10, 1) + "[0-9]*"} }},
		{"age", func(i int) FilterSpec { oldest := 40 + i%50; return FilterSpec{MinAge: &age, MaxAge: &oldest} }},
		{"dates", func(i int) FilterSpec {
			return FilterSpec{From: "1950-01-01", Until: "20" + digits(i%100, 2) + "-01-01"}
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			sets := make([][]Filter, buyers)
			for i := range sets {
				f, err := bench.spec(i).compileWithoutTypeCheck(0, valuelist.ZIPs)
				if err != nil {
					b.Fatal(err)
				}
				sets[i] = []Filter{f}
			}
			index := NewFilterIndex(sets)
			value := "75201"
			if bench.name == "age" || bench.name == "dates" {
				value = "1980-02-29"
			}
			l := &Lead{Values: []FieldValue{text(value)}}
			l.SetDecisionTime(dayOfIndexTest.UnixNano(), time.UTC)
			dst := bitset.New(buyers)
			b.ReportAllocs()
			for b.Loop() {
				dst.ResetToAllBelow(buyers)
				index.ClearFailingSets(l, dst)
			}
			b.ReportMetric(float64(dst.Count()), "sets-left")
		})
	}
}

func pow10(n int) int {
	if n == 0 {
		return 1
	}
	return 10 * pow10(n-1)
}

// newLargeIndex returns an index of n buyers, each with two lists and a bound, and a lead.
func newLargeIndex(t interface{ Fatal(...any) }, buyers int) (*FilterIndex, *Lead) {
	var sets [][]Filter
	for i := range buyers {
		low := strconv.Itoa(i % 20)
		sets = append(sets, []Filter{
			filterOn(t, 0, FilterSpec{Min: &low}),
			filterOn(t, 1, FilterSpec{In: []string{"CA", textSamples[i%len(textSamples)]}}),
			filterOn(t, 2, FilterSpec{NotIn: []string{strconv.Itoa(i)}}),
		})
	}
	return NewFilterIndex(sets), &Lead{Values: []FieldValue{integer("10"), text("NV"), integer("7")}}
}
