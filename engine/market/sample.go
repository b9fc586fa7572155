package market

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"pingpost/engine/market/escape"
	"pingpost/engine/market/format"
	"pingpost/engine/market/valuelist"
)

// ConstantAsFieldValue returns a template's constant as a value that the field could have. The bool is
// false if no lead can have this value. The kinds are not compared: 2 and "2" are the same
// number.
func (m *FieldMapping) ConstantAsFieldValue(slot LeadFieldIndex, constant FieldValue) (value FieldValue, possible bool) {
	r := &m.rules[slot]
	text := string(constant.Text)
	switch r.fieldType {
	case TypeInteger:
		_, code := format.ParseInteger(constant.Text)
		return FieldValue{Kind: KindInteger, Text: constant.Text}, code == "" && format.IsPlainInteger(constant.Text)
	case TypeNumber:
		_, code := format.ParseNumber(constant.Text)
		return FieldValue{Kind: KindNumber, Text: constant.Text}, code == ""
	case TypeBoolean:
		return FieldValue{Kind: KindBoolean, Text: constant.Text}, text == "true" || text == "false"
	case TypeEnum:
		_, is := r.values[text]
		return TextValueOrAbsent(constant.Text), is
	}
	return TextValueOrAbsent(constant.Text), text != ""
}

// NewSampleLead returns a lead with sample values, with which a template is tested. With allFields
// every field has a value, even one that no ping may have. Otherwise a field has a value only if every
// lead has it. With forPing, fields that are required but not sent in pings are absent too.
func (m *FieldMapping) NewSampleLead(allFields, forPing bool) *Lead {
	var l Lead
	l.Reset(len(m.rules))
	for slot := range m.rules {
		if values := m.SampleValuesOfField(LeadFieldIndex(slot), forPing); allFields || values[0].Kind != KindAbsent {
			l.Values[slot] = values[len(values)-1]
		}
	}
	return &l
}

// SampleValuesOfField returns sample values of a field, with which a template is tested. The first is
// absent if a lead (or with forPing a ping) may lack the field.
func (m *FieldMapping) SampleValuesOfField(slot LeadFieldIndex, forPing bool) (values []FieldValue) {
	r := &m.rules[slot]
	if r.defaultValue.Kind == KindAbsent && (!r.required || forPing && !r.ping) {
		values = append(values, FieldValue{})
	}
	for _, text := range slices.Sorted(maps.Keys(r.values)) {
		values = append(values, TextValueOrAbsent([]byte(text)))
	}
	if len(r.values) > 0 {
		return values
	}
	switch r.fieldType {
	case TypeBoolean:
		return append(values, BoolValue(false), BoolValue(true))
	case TypeInteger:
		return append(values, FieldValue{Kind: KindInteger, Text: []byte("12")}, FieldValue{Kind: KindInteger, Text: []byte("-98765")})
	case TypeNumber:
		return append(values, FieldValue{Kind: KindNumber, Text: []byte("12")}, FieldValue{Kind: KindNumber, Text: []byte("-1.5e1")})
	case TypeDate:
		return append(values, TextValueOrAbsent([]byte("1980-02-29")))
	case TypePhone:
		return append(values, TextValueOrAbsent([]byte("+12025550143")))
	case TypeState:
		return append(values, TextValueOrAbsent([]byte("CA")))
	case TypeZIP:
		return append(values, TextValueOrAbsent([]byte("94107")), TextValueOrAbsent([]byte("94107-1234")))
	case TypeURL, typeHTTPS:
		return append(values, TextValueOrAbsent([]byte("https://a.example/")), TextValueOrAbsent([]byte("https://a.example/?b='c'&d=1")))
	case typeTimestamp:
		return append(values, TextValueOrAbsent([]byte("2026-01-31T09:30:00Z")))
	}
	for _, text := range plainTexts {
		values = append(values, TextValueOrAbsent([]byte(text)))
	}
	return append(values, TextValueOrAbsent(SampleText))
}

// plainTexts are sample texts for the functions of templates: a word, a number and a date.
var plainTexts = [...]string{"a", "12", "1980-02-29"}

// SampleText is a sample with the special characters of JSON, XML and forms. If a template does
// not escape it, the body is no longer well formed.
var SampleText = []byte("a\"b'c\\d<e>&amp;f{{.x}}]]>--g%26=h+i\té\U0001F600")

// ExampleValueJSON returns an example value of the field as JSON, for the example leads that the admin
// API offers to operators. The field's rule accepts the value, and at the time now the filters pass it. The
// result is nil if no guess fits, for example because of a pattern.
func (m *FieldMapping) ExampleValueJSON(slot LeadFieldIndex, filters []Filter, now time.Time) (exampleOrNil []byte) {
	r := &m.rules[slot]
	lead := Lead{Values: make([]FieldValue, len(m.rules))}
	lead.SetDecisionTime(now.UnixNano(), now.Location())
	members := r.guessAcceptedMembers()
	for i := range filters {
		if filters[i].slot == slot {
			members = append(members, filters[i].guessPassingMembers(r.fieldType, now)...)
		}
	}
	for _, member := range members {
		value, _, code := r.parseMember(&member, nil)
		if lead.Values[slot] = value; code != "" || !lead.passesFiltersOnSlot(slot, filters) {
			continue
		}
		if member.Kind == JSONString {
			return escape.AppendJSONString(nil, member.Text)
		}
		return value.AppendJSON(nil)
	}
	return nil
}

// passesFiltersOnSlot reports whether the lead passes those filters that test the field slot.
func (l *Lead) passesFiltersOnSlot(slot LeadFieldIndex, filters []Filter) bool {
	for i := range filters {
		if f := &filters[i]; f.slot == slot && !f.Accepts(l) {
			return false
		}
	}
	return true
}

// guessPassingMembers returns guesses of values that pass the filter: the values that it lists,
// values at and next to its bounds, and texts that begin with its prefixes.
func (f *Filter) guessPassingMembers(fieldType FieldType, now time.Time) (guesses []JSONMember) {
	kind := JSONString
	switch {
	case fieldType.isNumeric():
		return f.guessPassingNumbers()
	case fieldType == TypeBoolean:
		guesses, kind = []JSONMember{{Kind: JSONBoolean, Text: textTrue}, {Kind: JSONBoolean, Text: textFalse}}, JSONBoolean
	}
	add := func(text string) { guesses = append(guesses, JSONMember{Kind: kind, Text: []byte(text)}) }
	if f.in != nil {
		for _, text := range f.in.Entries() {
			add(text)
		}
	}
	if f.prefix != nil {
		for _, prefix := range f.prefix.Entries() {
			for _, rest := range [...]string{"", "example", "00000", "11111", "99999"} {
				if fieldType == TypeZIP {
					rest = rest[:min(len(rest), max(0, 5-len(prefix)))]
				}
				add(prefix + rest)
			}
		}
	}
	for _, date := range [...]float64{f.min, f.max} {
		if f.dates && !math.IsInf(date, 0) {
			add(format.Date(int(date)))
		}
	}
	for _, age := range [...]float64{f.minAge, f.maxAge} {
		if f.aged && !math.IsInf(age, 0) {
			add(now.AddDate(-int(age), 0, 0).Format(time.DateOnly))
		}
	}
	return guesses
}

// guessPassingNumbers returns numbers at, next to and between the bounds and the listed numbers of the
// filter.
func (f *Filter) guessPassingNumbers() (guesses []JSONMember) {
	points := []float64{f.min, f.max, (f.min + f.max) / 2}
	for _, list := range []*valuelist.List{f.in, f.notIn} {
		if list != nil {
			points = append(points, list.Numbers()...)
		}
	}
	slices.Sort(points)
	for _, point := range points {
		if math.IsInf(point, 0) || math.IsNaN(point) {
			continue
		}
		for _, n := range []float64{point, math.Ceil(point), math.Floor(point), point + 1, point - 1} {
			guesses = append(guesses, JSONMember{Kind: JSONNumber, Text: strconv.AppendFloat(nil, n, 'f', -1, 64)})
		}
	}
	return guesses
}

// guessAcceptedMembers returns guesses of values that the field's rule accepts: common values of its
// type, and its bounds or listed values.
func (r *fieldRule) guessAcceptedMembers() (guesses []JSONMember) {
	add := func(kind JSONKind, texts ...string) {
		for _, text := range texts {
			guesses = append(guesses, JSONMember{Kind: kind, Text: []byte(text)})
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
	return guesses
}
