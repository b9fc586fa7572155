package market

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"pingpost/engine/market/escape"
	"pingpost/engine/market/format"
)

// ConstantAsValue returns a constant as a value of the field; false if the field cannot have it. Values are
// compared by their text: 2 and "2" are equal.
func (m *Mapping) ConstantAsValue(slot Slot, constant Value) (Value, bool) {
	r := &m.rules[slot]
	text := string(constant.Text)
	switch r.fieldType {
	case TypeInteger:
		_, code := format.ParseInteger(constant.Text)
		return Value{Kind: KindInteger, Text: constant.Text}, code == "" && format.IsPlainInteger(constant.Text)
	case TypeNumber:
		_, code := format.ParseNumber(constant.Text)
		return Value{Kind: KindNumber, Text: constant.Text}, code == ""
	case TypeBoolean:
		return Value{Kind: KindBoolean, Text: constant.Text}, text == "true" || text == "false"
	case TypeEnum:
		_, is := r.values[text]
		return TextValue(constant.Text), is
	}
	return TextValue(constant.Text), text != ""
}

// SampleLead returns a lead with every value, or only with those that every lead has.
func (m *Mapping) SampleLead(allFields, inPing bool) *Lead {
	var l Lead
	l.Reset(len(m.rules))
	for slot := range m.rules {
		if values := m.SampleValues(Slot(slot), inPing); allFields || values[0].Kind != KindAbsent {
			l.Values[slot] = values[len(values)-1]
		}
	}
	return &l
}

// SampleValues returns possible values of a field: absent first, unless every lead has the field.
func (m *Mapping) SampleValues(slot Slot, inPing bool) (values []Value) {
	r := &m.rules[slot]
	if r.defaultValue.Kind == KindAbsent && (!r.required || inPing && !r.ping) {
		values = append(values, Value{})
	}
	for _, text := range slices.Sorted(maps.Keys(r.values)) {
		values = append(values, TextValue([]byte(text)))
	}
	if len(r.values) > 0 {
		return values
	}
	switch r.fieldType {
	case TypeBoolean:
		return append(values, BoolValue(false), BoolValue(true))
	case TypeInteger:
		return append(values, Value{Kind: KindInteger, Text: []byte("12")}, Value{Kind: KindInteger, Text: []byte("-98765")})
	case TypeNumber:
		return append(values, Value{Kind: KindNumber, Text: []byte("12")}, Value{Kind: KindNumber, Text: []byte("-1.5e1")})
	case TypeDate:
		return append(values, TextValue([]byte("1980-02-29")))
	case TypePhone:
		return append(values, TextValue([]byte("+12025550143")))
	case TypeState:
		return append(values, TextValue([]byte("CA")))
	case TypeZIP:
		return append(values, TextValue([]byte("94107")), TextValue([]byte("94107-1234")))
	case TypeURL, typeHTTPS:
		return append(values, TextValue([]byte("https://a.example/")), TextValue([]byte("https://a.example/?b='c'&d=1")))
	case typeTimestamp:
		return append(values, TextValue([]byte("2026-01-31T09:30:00Z")))
	}
	for _, text := range plainTexts {
		values = append(values, TextValue([]byte(text)))
	}
	return append(values, TextValue(SampleText))
}

// plainTexts are texts for template functions: without digits, a number, a date.
var plainTexts = [...]string{"a", "12", "1980-02-29"}

// SampleText has the special characters with which a lead could change a body's structure.
var SampleText = []byte("a\"b'c\\d<e>&amp;f{{.x}}]]>--g%26=h+i\té\U0001F600")

// ExampleJSON returns a value that the field accepts and the filters pass, as JSON, or nil if
// it finds none: it cannot guess a match of a pattern.
func (m *Mapping) ExampleJSON(slot Slot, filters []Filter) []byte {
	r := &m.rules[slot]
	members := r.membersThatPass()
	for i := range filters {
		if filters[i].slot == slot {
			members = append(members, filters[i].membersAroundFilter(r.fieldType)...)
		}
	}
	lead := Lead{Values: make([]Value, len(m.rules))}
	for _, member := range members {
		value, _, code := r.parseMember(&member, nil)
		if lead.Values[slot] = value; code != "" || !lead.passesFilters(slot, filters) {
			continue
		}
		if member.Kind == JSONString {
			return escape.AppendJSONString(nil, member.Text)
		}
		return value.AppendJSON(nil)
	}
	return nil
}

// passesFilters reports whether the lead passes the filters on one field.
func (l *Lead) passesFilters(slot Slot, filters []Filter) bool {
	for i := range filters {
		if f := &filters[i]; f.slot == slot && !f.Accepts(l) {
			return false
		}
	}
	return true
}

// membersAroundFilter returns values that the filter may pass: the listed ones, and numbers at and
// next to its bounds and listed values.
func (f *Filter) membersAroundFilter(fieldType FieldType) (all []Member) {
	kind := JSONString
	switch {
	case fieldType.isNumeric():
		return f.exampleNumbers()
	case fieldType == TypeBoolean:
		all, kind = []Member{{Kind: JSONBoolean, Text: textTrue}, {Kind: JSONBoolean, Text: textFalse}}, JSONBoolean
	}
	if f.in != nil {
		for _, text := range slices.Sorted(maps.Keys(f.in.texts)) {
			all = append(all, Member{Kind: kind, Text: []byte(text)})
		}
	}
	return all
}

func (f *Filter) exampleNumbers() (all []Member) {
	points := []float64{f.min, f.max, (f.min + f.max) / 2}
	for _, set := range []*valueSet{f.in, f.notIn} {
		if set != nil {
			points = slices.AppendSeq(points, maps.Keys(set.numbers))
		}
	}
	slices.Sort(points)
	for _, point := range points {
		if math.IsInf(point, 0) || math.IsNaN(point) {
			continue
		}
		for _, n := range []float64{point, math.Ceil(point), math.Floor(point), point + 1, point - 1} {
			all = append(all, Member{Kind: JSONNumber, Text: strconv.AppendFloat(nil, n, 'f', -1, 64)})
		}
	}
	return all
}

// membersThatPass returns common values of the field's type.
func (r *fieldRule) membersThatPass() (all []Member) {
	add := func(kind JSONKind, texts ...string) {
		for _, text := range texts {
			all = append(all, Member{Kind: kind, Text: []byte(text)})
		}
	}
	switch r.fieldType {
	case TypeBoolean:
		add(JSONBoolean, "true")
	case TypeInteger:
		add(JSONNumber, "1", strconv.FormatInt(r.number.minInteger, 10), strconv.FormatInt(r.number.maxInteger, 10))
	case TypeNumber:
		add(JSONNumber, "1", strconv.FormatFloat(r.number.min, 'f', -1, 64), strconv.FormatFloat(r.number.max, 'f', -1, 64))
	case TypeDate:
		add(JSONString, "1985-06-15")
	case TypeEmail:
		add(JSONString, "ann.lee@example.com")
	case TypePhone:
		add(JSONString, "+12025550143")
	case TypeState:
		add(JSONString, "CA")
	case TypeZIP:
		add(JSONString, "94107", "94107-1234")
	case TypeURL, typeHTTPS:
		add(JSONString, "https://www.example.com/")
	case typeTimestamp:
		add(JSONString, "2026-01-31T09:30:00Z")
	case TypeEnum:
		add(JSONString, slices.Sorted(maps.Keys(r.values))...)
	default:
		add(JSONString, "example", "e", "12345", "example example example example", strings.Repeat("e", min(max(0, r.minLength), 1000)))
	}
	return all
}

// AcceptsState reports whether the campaign's filters pass leads of a state.
func (c *Campaign) AcceptsState(state string) bool {
	lead := Lead{Values: make([]Value, c.Mapping.SlotCount())}
	lead.Values[SlotState] = Value{Kind: KindString, Text: []byte(state)}
	return lead.passesFilters(SlotState, c.Filters)
}
