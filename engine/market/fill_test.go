package market_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pingpost/engine/market"
	"pingpost/engine/market/leadtest"
)

var (
	members   = leadtest.ParseNameEqualsValueLines
	person    = leadtest.RequiredIngestMembers
	fill      = leadtest.FillLead
	codes     = leadtest.FieldErrorLines
	mappingOf = leadtest.NewMapping
)

// fieldText returns the kind and text of a field, by the buyer's name.
func fieldText(m *market.FieldMapping, l *market.Lead, to string) string {
	slot, ok := m.SlotByNameForBuyers(to)
	if !ok {
		return "unknown field"
	}
	v := l.Values[slot]
	return fmt.Sprintf("%d %s", v.Kind, v.Text)
}

func TestFillKnownFields(t *testing.T) {
	m := mapping(t)
	l, failed := fill(m, person(`state="CA"`, `zip="94107-1234"`, `source="search"`, `tcpa_consent=true`, `consent_cert_url="https://cert.example/1"`,
		`consent_timestamp="2026-01-31T09:30:00Z"`, `ai_quality_score=0.820`, `unmapped="x"`))
	if failed != nil {
		t.Fatal(failed)
	}
	for to, want := range map[string]string{
		"first_name": "1 Ann", "last_name": "1 O'Neil", "phone": "1 +14155550123", "email": "1 Ann@example.com", "state": "1 CA",
		"zip": "1 94107-1234", "source": "1 search", "tcpa_consent": "4 true", "ai_quality_score": "3 0.820", "city": "0 ",
	} {
		if got := fieldText(m, l, to); got != want {
			t.Errorf("%s: %q, want %q", to, got, want)
		}
	}
	if l.Values[market.SlotQualityScore].Num != 0.82 || l.USState().String() != "CA" || len(l.Extras) != 0 {
		t.Errorf("%+v", l)
	}
}

func TestFillReportsAllErrorsInMappingOrder(t *testing.T) {
	m := mappingOf(t, market.UnknownReject, market.FieldSpec{Name: "b", Type: market.TypeInteger, Required: true}, market.FieldSpec{Name: "a", Type: market.TypeDate})
	_, failed := fill(m, members(`zz=1`, `a="2026-02-30"`, `zip=94107`, `state="zz"`, `email="x"`, `phone=4155550123`, `last_name=" "`, `first_name=null`, `flo_ping_id="p"`))
	want := []string{
		"first_name missing_required", "last_name missing_required", "phone wrong_type", "email invalid_format", "state invalid_format",
		"zip wrong_type", "b missing_required", "a invalid_format", "zz unknown_field",
	}
	if !slices.Equal(failed, want) {
		t.Errorf("%q\nwant %q", failed, want)
	}
}

func TestFieldRules(t *testing.T) {
	spec := func(s market.FieldSpec) market.FieldSpec { s.Name = "x"; return s }
	str := func(transforms ...market.FieldTransform) market.FieldSpec {
		return market.FieldSpec{Type: market.TypeString, Transforms: transforms}
	}
	count := market.FieldSpec{Type: market.TypeInteger, Min: text("0"), Max: text("20")}
	coerced := market.FieldSpec{Type: market.TypeInteger, Coerce: true, Max: text("1e3")}
	number := market.FieldSpec{Type: market.TypeNumber, Min: text("0.1"), Max: text("0.9")}
	flag := market.FieldSpec{Type: market.TypeBoolean}
	loose := market.FieldSpec{Type: market.TypeBoolean, Coerce: true}
	band := market.FieldSpec{Type: market.TypeEnum, Values: []string{"18-24", "25-34"}}
	lower := market.FieldSpec{Type: market.TypeEnum, Values: []string{"auto"}, Transforms: []market.FieldTransform{market.TransformTrim, market.TransformLower}}
	short := market.FieldSpec{Type: market.TypeString, MinLength: length(2), MaxLength: length(4)}
	pattern := market.FieldSpec{Type: market.TypeString, Pattern: `a|bb`}
	plainState := market.FieldSpec{Type: market.TypeState}
	vehicle := market.FieldSpec{Type: market.TypeEnum, Values: []string{"Pickup Truck", "van", "Van", "Äuto"}}
	state := market.FieldSpec{Type: market.TypeState, Transforms: []market.FieldTransform{market.TransformTrim, market.TransformUpper}}
	hashed := market.FieldSpec{Type: market.TypeEmail, Transforms: []market.FieldTransform{market.TransformLower, market.TransformSHA256}}
	area := market.FieldSpec{Type: market.TypeZIP, Transforms: []market.FieldTransform{market.TransformZIP3}}
	fallback := market.FieldSpec{Type: market.TypeInteger, Required: true, Default: text("7"), Min: text("1")}
	site := market.FieldSpec{Type: market.TypeURL}
	textOfNumber := market.FieldSpec{Type: market.TypeZIP, Coerce: true}
	const missing = "0 "
	tests := []struct {
		spec  market.FieldSpec
		value string
		want  string // kind and text, or a code
	}{
		{str(), `"a b"`, "1 a b"},
		{str(), `" a "`, "1  a "},
		{str(), `"José"`, "1 José"},
		{str(), `""`, missing},
		{str(), "\"\u200b \u00a0\"", missing},
		{str(), `null`, missing},
		{str(), `1`, "wrong_type"},
		{str(), `true`, "wrong_type"},
		{str(), `{}`, "wrong_type"},
		{str(), `["a"]`, "wrong_type"},
		{str(), "\"a\x00\"", "invalid_format"},
		{str(), "\"a\u0090\"", "invalid_format"},
		{str(), `"` + strings.Repeat("a", 4096) + `"`, "1 " + strings.Repeat("a", 4096)},
		{str(), `"` + strings.Repeat("a", 4097) + `"`, "too_long"},
		{str(), `"` + strings.Repeat("é", 2048) + `a"`, "too_long"}, // in bytes
		{str(market.TransformTrim, market.TransformTitle), `" ann O'NEIL "`, "1 Ann O'Neil"},
		{str(market.TransformDigits), `"a1b2"`, "1 12"},
		{str(market.TransformDigits), `"ab"`, "invalid_format"},
		{str(market.TransformE164), `"(415) 555-0123"`, "1 +14155550123"},
		{str(market.TransformSHA256, market.TransformUpper), `"abc"`, "1 BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"},

		{count, `2`, "2 2"},
		{count, `2.0`, "2 2"},
		{count, `1e1`, "2 10"},
		{count, `-0`, "2 0"},
		{count, `20`, "2 20"},
		{count, `21`, "out_of_range"},
		{count, `-1`, "out_of_range"},
		{count, `1e400`, "out_of_range"},
		{count, `2.5`, "wrong_type"},
		{count, `"2"`, "wrong_type"},
		{count, `true`, "wrong_type"},
		{count, `" "`, missing},
		{coerced, `"2"`, "2 2"},
		{coerced, `" 2 "`, "2 2"},
		{coerced, `"1e3"`, "2 1000"},
		{coerced, `2`, "2 2"},
		{coerced, `"1001"`, "out_of_range"},
		{coerced, `"two"`, "wrong_type"},
		{coerced, `"2,5"`, "wrong_type"},
		{coerced, `"0x2"`, "wrong_type"},
		{coerced, `"+2"`, "wrong_type"},
		{coerced, `"02"`, "wrong_type"},
		{coerced, `"２"`, "wrong_type"},
		{coerced, `true`, "wrong_type"},
		{coerced, `"` + strings.Repeat("1", 200) + `"`, "too_long"},
		{number, `0.1`, "3 0.1"},
		{number, `9e-1`, "3 9e-1"},
		{number, `0.09999999`, "out_of_range"},
		{number, `0.90000001`, "out_of_range"},
		{number, `1e999`, "out_of_range"},
		{number, `"0.5"`, "wrong_type"},

		{flag, `true`, "4 true"},
		{flag, `"true"`, "wrong_type"},
		{flag, `1`, "wrong_type"},
		{loose, `" True "`, "4 true"},
		{loose, `"false"`, "4 false"},
		{loose, `"yes"`, "wrong_type"},
		{loose, `"falsehood"`, "wrong_type"},
		{loose, `1`, "wrong_type"},

		{band, `"25-34"`, "1 25-34"},
		{band, `"25-34 "`, "1 25-34"},
		{vehicle, `"Pickup Truck"`, "1 Pickup Truck"},
		{vehicle, `" pickup TRUCK"`, "1 Pickup Truck"},
		{vehicle, `"pickup  truck"`, "not_allowed_value"},
		{vehicle, `"VAN"`, "not_allowed_value"}, // two values differ only in case
		{vehicle, `"van "`, "1 van"},
		{vehicle, `"Van"`, "1 Van"},
		{vehicle, `"Äuto"`, "1 Äuto"},
		{vehicle, `"äuto"`, "not_allowed_value"}, // only ASCII letters
		{plainState, `"CA"`, "1 CA"},
		{plainState, `"ca"`, "1 CA"},
		{plainState, `"cA"`, "1 CA"},
		{plainState, `" Ca "`, "1 CA"},
		{plainState, `"C A"`, "invalid_format"},
		{plainState, `"California"`, "invalid_format"},
		{plainState, `"#!"`, "invalid_format"},
		{band, `"55+"`, "not_allowed_value"},
		{band, `25`, "wrong_type"},
		{lower, `" AUTO"`, "1 auto"},

		{short, `"é"`, "invalid_format"},
		{short, `"éé"`, "1 éé"},
		{short, `"éééé"`, "1 éééé"},
		{short, `"ééééé"`, "too_long"},
		{pattern, `"a"`, "1 a"},
		{pattern, `"bb"`, "1 bb"},
		{pattern, `"ab"`, "invalid_format"},
		{pattern, `"xbb"`, "invalid_format"},
		{pattern, `"bbx"`, "invalid_format"},
		{pattern, "\"a\n\"", "invalid_format"},
		{state, `" ca "`, "1 CA"},
		{state, `"zz"`, "invalid_format"},
		{hashed, `"A@X.Y"`, "1 c341b2d63a1796d8add810d414d4650090291c686da08ae5a230417abff3375e"},
		{hashed, `"not an address"`, "invalid_format"},
		{area, `"94107-1234"`, "1 941"},
		{area, `"941"`, "invalid_format"},
		{fallback, `null`, "2 7"},
		{fallback, `" "`, "2 7"},
		{fallback, `0`, "out_of_range"},
		{site, `"http://x.example/a"`, "1 http://x.example/a"},
		{site, `"x.example"`, "invalid_format"},
		{site, `"https://x.example/` + strings.Repeat("a", 2048) + `"`, "too_long"},
		{textOfNumber, `94107`, "1 94107"},
		{textOfNumber, `9.4107e4`, "invalid_format"},
	}
	for i, test := range tests {
		m := mapping(t, spec(test.spec))
		l, failed := fill(m, person("x="+test.value))
		got := strings.TrimPrefix(strings.Join(failed, "; "), "x ")
		if got == "" {
			got = fieldText(m, l, "x")
		} else if fieldText(m, l, "x") != missing {
			t.Errorf("row %d: %s failed, but the lead contains %s", i, test.value, fieldText(m, l, "x"))
		}
		if got != test.want {
			t.Errorf("row %d: %.80s: %q, want %q", i, test.value, got, test.want)
		}
	}
}

func TestStricterRulesForKnownFields(t *testing.T) {
	m := mapping(
		t,
		market.FieldSpec{Name: "zip", Required: true, Type: market.TypeZIP, Pattern: `9.*`},
		market.FieldSpec{Name: "source", Type: market.TypeEnum, Values: []string{"search"}},
		market.FieldSpec{Name: "consent_timestamp", Type: market.TypeString, Required: true},
		market.FieldSpec{Name: "first_name", MaxLength: length(3)},
		market.FieldSpec{Name: "town", NameForBuyers: "city", Type: market.TypeString, Required: true},
	)
	if _, failed := fill(m, members(`first_name=null`)); !slices.Contains(failed, "first_name missing_required") {
		t.Errorf("missing first_name is accepted: %q", failed)
	}
	_, failed := fill(m, person(`zip="10001"`, `source="x"`, `consent_timestamp="yesterday"`))
	want := []string{"source not_allowed_value", "consent_timestamp invalid_format", "town missing_required", "zip invalid_format"}
	if !slices.Equal(failed, want) {
		t.Errorf("%q, want %q", failed, want)
	}
	good := []string{`zip="94107"`, `source="search"`, `consent_timestamp="2026-01-31T09:30:00Z"`}
	for _, towns := range [][]string{{`town="Reno"`}, {`city="Reno"`}, {`city="x"`, `town="Reno"`}, {`town="Reno"`, `city="x"`}} {
		l, failed := fill(m, person(append(towns, good...)...))
		if failed != nil || fieldText(m, l, "city") != "1 Reno" {
			t.Errorf("%v: %q %s", towns, failed, fieldText(m, l, "city"))
		}
	}
}

func TestUnknownMembers(t *testing.T) {
	list := person(`extra="x"`, `deep={"a":[1]}`, `none=null`, `blank=" "`, `tcpa={"x":1}`, `owns_home=true`, `n=1.50`, `homeowner=true`, `vertical="v"`)
	owns := market.FieldSpec{Name: "homeowner", NameForBuyers: "owns_home", Type: market.TypeBoolean}
	l, failed := fill(mappingOf(t, market.UnknownDrop, owns), list)
	if failed != nil || len(l.Extras) != 0 {
		t.Errorf("drop: %v %v", failed, l.Extras)
	}
	_, failed = fill(mappingOf(t, market.UnknownReject, owns), list)
	if want := []string{"extra unknown_field", "deep unknown_field", "tcpa unknown_field", "owns_home unknown_field", "n unknown_field", "vertical unknown_field"}; !slices.Equal(failed, want) {
		t.Errorf("reject: %q, want %q", failed, want)
	}
	l, failed = fill(mappingOf(t, market.UnknownKeep, owns), list)
	var kept []string
	for _, extra := range l.Extras {
		kept = append(kept, fmt.Sprintf("%s %d %s", extra.Name, extra.Value.Kind, extra.Value.Text))
	}
	if want := []string{"extra 1 x", `deep 5 {"a":[1]}`, "n 3 1.50"}; failed != nil || !slices.Equal(kept, want) {
		t.Errorf("keep: %v %q, want %q", failed, kept, want)
	}
}

func TestUnknownMemberErrorsAreLimited(t *testing.T) {
	lines := []string{strings.Repeat("é", 5000) + "=1"}
	for i := range 5000 {
		lines = append(lines, fmt.Sprintf("u%d=1", i))
	}
	_, failed := fill(mappingOf(t, market.UnknownReject), person(lines...))
	if len(failed) != 100 || len(failed[0]) > 90 {
		t.Errorf("%d errors, the first of %d bytes; want 100 of at most 90", len(failed), len(failed[0]))
	}
}

func TestLeadResetClearsPreviousLead(t *testing.T) {
	m := mappingOf(t, market.UnknownKeep, market.FieldSpec{Name: "x", Type: market.TypeString})
	var l market.Lead
	l.Reset(m.SlotCount())
	if failed := m.FillLeadFromIngest(&l, person(`x="1"`, `y="2"`, `city="Reno"`), nil); failed != nil {
		t.Fatal(failed)
	}
	l.Reset(m.SlotCount())
	if failed := m.FillLeadFromIngest(&l, person(), nil); failed != nil {
		t.Fatal(failed)
	}
	if fieldText(m, &l, "x") != "0 " || fieldText(m, &l, "city") != "0 " || len(l.Extras) != 0 {
		t.Errorf("%+v", l)
	}
	small := mapping(t)
	l.Reset(small.SlotCount())
	if len(l.Values) != small.SlotCount() {
		t.Errorf("%d values", len(l.Values))
	}
}
