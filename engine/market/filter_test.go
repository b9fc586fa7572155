package market

import (
	"strings"
	"testing"
)

// The values that filters look at.
func text(s string) FieldValue { return FieldValue{Kind: KindString, Text: []byte(s)} }

func number(digits string) FieldValue {
	n, ok := parseNumber(digits)
	if !ok {
		panic("BUG: " + digits + " is no number")
	}
	return FieldValue{Kind: KindNumber, Text: []byte(digits), Num: n}
}

func integer(digits string) FieldValue {
	v := number(digits)
	v.Kind = KindInteger
	return v
}

func boolean(s string) FieldValue { return FieldValue{Kind: KindBoolean, Text: []byte(s)} }

func filterOn(t interface{ Fatal(...any) }, slot FieldSlot, spec FilterSpec) Filter {
	f, err := spec.compileWithoutTypeCheck(slot)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFilter(t *testing.T) {
	digits := func(s string) *string { return &s }
	in := func(values ...string) FilterSpec { return FilterSpec{In: values} }
	notIn := func(values ...string) FilterSpec { return FilterSpec{NotIn: values} }
	from := func(n string) FilterSpec { return FilterSpec{Min: digits(n)} }
	upTo := func(n string) FilterSpec { return FilterSpec{Max: digits(n)} }
	between := func(low, high string) FilterSpec { return FilterSpec{Min: digits(low), Max: digits(high)} }
	missing := FieldValue{}

	cases := []struct {
		name string
		spec FilterSpec
		of   FieldValue
		want bool
	}{
		{"listed", in("CA", "NV"), text("NV"), true},
		{"not listed", in("CA", "NV"), text("TX"), false},
		{"another case", in("CA"), text("ca"), false},
		{"absent, of a list", in("CA"), missing, false},
		{"a text of digits is a text", in("2.0"), text("2"), false},
		{"a ZIP code keeps its zero", in("02134"), text("02134"), true},
		{"a number by its value", in("2.0"), integer("2"), true},
		{"a number by its value, the other way", in("2"), number("2.0"), true},
		{"a number with an exponent", in("1e2"), number("100"), true},
		{"no zero has a sign", in("0"), number("-0"), true},
		{"a number that is not listed", in("2", "3"), integer("4"), false},
		{"a number among words", in("many"), integer("4"), false},
		{"what only strconv would read is a word", in("0x10"), integer("16"), false},
		{"true", in("true"), boolean("true"), true},
		{"false is not true", in("true"), boolean("false"), false},

		{"excluded", notIn("CA", "NV"), text("CA"), false},
		{"not excluded", notIn("CA", "NV"), text("TX"), true},
		{"a number excluded by its value", notIn("2.0"), integer("2"), false},
		{"absent, and that is not known to be allowed", notIn("CA"), missing, false},
		{"listed and excluded", FilterSpec{In: []string{"CA", "NV"}, NotIn: []string{"CA"}}, text("CA"), false},
		{"listed and not excluded", FilterSpec{In: []string{"CA", "NV"}, NotIn: []string{"CA"}}, text("NV"), true},

		{"at the least", from("1"), integer("1"), true},
		{"under the least", from("1"), number("0.999999"), false},
		{"far over the least", from("1"), number("1e300"), true},
		{"at the most", upTo("0.75"), number("0.75"), true},
		{"over the most", upTo("0.75"), number("0.750001"), false},
		{"between", between("-5", "5"), number("-4.5"), true},
		{"exactly one number", between("3", "3.0"), integer("3"), true},
		{"a text of digits is no number", from("1"), text("2"), false},
		{"true is no number", from("0"), boolean("true"), false},
		{"absent, of a bound", from("0"), missing, false},
		{"listed, but over the most", FilterSpec{In: []string{"1", "9"}, Max: digits("5")}, integer("9"), false},

		{"absent as wanted", FilterSpec{Absent: true}, missing, true},
		{"present, and not wanted", FilterSpec{Absent: true}, text(""), false},
	}
	for _, c := range cases {
		f := filterOn(t, FirstCustomSlot, c.spec)
		l := Lead{Values: make([]FieldValue, FirstCustomSlot+1)}
		l.Values[FirstCustomSlot] = c.of
		if got := f.Accepts(&l); got != c.want {
			t.Errorf("%s: passes %t", c.name, got)
		}
	}
}

func TestNewFilter(t *testing.T) {
	digits := func(s string) *string { return &s }
	m, mistakes := NewFieldMapping(FieldMappingSpec{Fields: []FieldSpec{
		{Name: "homeowner", BuyerName: "owns_home", Type: TypeBoolean},
		{Name: "vehicle_count", Type: TypeInteger},
		{Name: "age", Type: TypeString},
	}})
	if mistakes != nil {
		t.Fatal(mistakes)
	}
	cases := []struct {
		spec FilterSpec
		err  string // part of it; none: it is taken
	}{
		{FilterSpec{Field: "state", In: []string{"CA"}}, ""},
		{FilterSpec{Field: "owns_home", In: []string{"true"}}, ""},
		{FilterSpec{Field: "vehicle_count", Min: digits("1"), NotIn: []string{"3", "4.0"}}, ""},
		{FilterSpec{Field: "ai_quality_score", Min: digits("0.5")}, ""},
		{FilterSpec{Field: "age", Absent: true}, ""},

		{FilterSpec{Field: "homeowner", In: []string{"true"}}, `"homeowner": the campaign has no such field; use its name after mapping`},
		{FilterSpec{Field: "", In: []string{"x"}}, "no such field"},
		{FilterSpec{Field: "age"}, `"age": no condition`},
		{FilterSpec{Field: "age", In: []string{}}, "no condition"},
		{FilterSpec{Field: "age", Absent: true, In: []string{"x"}}, "absent cannot be combined"},
		{FilterSpec{Field: "vehicle_count", Absent: true, Max: digits("1")}, "absent cannot be combined"},
		{FilterSpec{Field: "vehicle_count", Min: digits("one")}, "min is not a number"},
		{FilterSpec{Field: "vehicle_count", Max: digits("")}, "max is not a number"},
		{FilterSpec{Field: "vehicle_count", Max: digits("Inf")}, "max is not a number"},
		{FilterSpec{Field: "vehicle_count", Max: digits("1e999")}, "max is not a number"},
		{FilterSpec{Field: "vehicle_count", Min: digits("5"), Max: digits("4.9")}, "min is greater than max"},
		{FilterSpec{Field: "vehicle_count", In: []string{"1", "few"}}, `"few", which is not a number, but the field's type is integer`},
		{FilterSpec{Field: "owns_home", NotIn: []string{"yes"}}, `"yes", but the field's type is boolean: use true or false`},
		{FilterSpec{Field: "age", Min: digits("18")}, "min and max are for numbers, but the field's type is string"},
	}
	for _, c := range cases {
		f, err := NewFilter(c.spec, m)
		if c.err == "" {
			if slot, _ := m.SlotByBuyerName(c.spec.Field); err != nil || f.FieldSlot() != slot {
				t.Errorf("%+v: slot %d, %v", c.spec, f.FieldSlot(), err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%+v: %v; want …%s…", c.spec, err, c.err)
		}
	}
}
