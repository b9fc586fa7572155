package market

import (
	"strings"
	"testing"

	"pingpost/engine/market/valuelist"
)

// text returns a string value.
func text(s string) FieldValue { return FieldValue{Kind: KindString, Text: []byte(s)} }

func number(digits string) FieldValue {
	n, ok := valuelist.ParseNumber(digits)
	if !ok {
		panic("BUG: " + digits + " is not a number")
	}
	return FieldValue{Kind: KindNumber, Text: []byte(digits), Num: n}
}

func integer(digits string) FieldValue {
	v := number(digits)
	v.Kind = KindInteger
	return v
}

func boolean(s string) FieldValue { return FieldValue{Kind: KindBoolean, Text: []byte(s)} }

func filterOn(t interface{ Fatal(...any) }, slot LeadFieldIndex, spec FilterSpec) Filter {
	f, err := spec.compileWithoutTypeCheck(slot, valuelist.Values)
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
		name  string
		spec  FilterSpec
		value FieldValue
		want  bool
	}{
		{"listed", in("CA", "NV"), text("NV"), true},
		{"not listed", in("CA", "NV"), text("TX"), false},
		{"different case", in("CA"), text("ca"), false},
		{"missing value, with a list", in("CA"), missing, false},
		{"digits in a string are text", in("2.0"), text("2"), false},
		{"ZIP code with a leading zero", in("02134"), text("02134"), true},
		{"integer equal to a listed decimal", in("2.0"), integer("2"), true},
		{"decimal equal to a listed integer", in("2"), number("2.0"), true},
		{"listed number with an exponent", in("1e2"), number("100"), true},
		{"negative zero equals zero", in("0"), number("-0"), true},
		{"unlisted number", in("2", "3"), integer("4"), false},
		{"number, with a list of words", in("many"), integer("4"), false},
		{"a hexadecimal list value is text", in("0x10"), integer("16"), false},
		{"true", in("true"), boolean("true"), true},
		{"false is not true", in("true"), boolean("false"), false},

		{"excluded", notIn("CA", "NV"), text("CA"), false},
		{"not excluded", notIn("CA", "NV"), text("TX"), true},
		{"number equal to an excluded decimal", notIn("2.0"), integer("2"), false},
		{"missing value, with an exclusion", notIn("CA"), missing, false},
		{"listed and excluded", FilterSpec{In: []string{"CA", "NV"}, NotIn: []string{"CA"}}, text("CA"), false},
		{"listed and not excluded", FilterSpec{In: []string{"CA", "NV"}, NotIn: []string{"CA"}}, text("NV"), true},

		{"at the minimum", from("1"), integer("1"), true},
		{"below the minimum", from("1"), number("0.999999"), false},
		{"far above the minimum", from("1"), number("1e300"), true},
		{"at the maximum", upTo("0.75"), number("0.75"), true},
		{"above the maximum", upTo("0.75"), number("0.750001"), false},
		{"between", between("-5", "5"), number("-4.5"), true},
		{"minimum equals maximum", between("3", "3.0"), integer("3"), true},
		{"digits in a string, with a minimum", from("1"), text("2"), false},
		{"boolean, with a minimum", from("0"), boolean("true"), false},
		{"missing value, with a minimum", from("0"), missing, false},
		{"listed, but above the maximum", FilterSpec{In: []string{"1", "9"}, Max: digits("5")}, integer("9"), false},

		{"missing value, must be absent", FilterSpec{Absent: true}, missing, true},
		{"present value, must be absent", FilterSpec{Absent: true}, text(""), false},
	}
	for _, c := range cases {
		f := filterOn(t, FirstCustomSlot, c.spec)
		l := Lead{Values: make([]FieldValue, FirstCustomSlot+1)}
		l.Values[FirstCustomSlot] = c.value
		if got := f.Accepts(&l); got != c.want {
			t.Errorf("%s: accepted %t, want %t", c.name, got, c.want)
		}
	}
}

func TestNewFilter(t *testing.T) {
	digits := func(s string) *string { return &s }
	m, mistakes := NewFieldMapping(FieldMappingSpec{Fields: []FieldSpec{
		{Name: "homeowner", NameForBuyers: "owns_home", Type: TypeBoolean},
		{Name: "vehicle_count", Type: TypeInteger},
		{Name: "age", Type: TypeString},
	}})
	if mistakes != nil {
		t.Fatal(mistakes)
	}
	cases := []struct {
		spec FilterSpec
		err  string // part of the error; empty: accepted
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
			if slot, _ := m.SlotByNameForBuyers(c.spec.Field); err != nil || f.FieldSlot() != slot {
				t.Errorf("%+v: slot %d, %v", c.spec, f.FieldSlot(), err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%+v: %v; want …%s…", c.spec, err, c.err)
		}
	}
}
