package market

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Example is a value that the field takes, as JSON, or nil where none comes to mind:
// what a pattern wants cannot be guessed.
func (m *Mapping) Example(slot Slot) []byte {
	r := &m.rules[slot]
	for _, member := range r.examples() {
		if value, _, code := r.read(&member, nil); code == "" {
			if member.Kind == JSONString {
				return AppendJSONString(nil, member.Text)
			}
			return value.AppendJSON(nil)
		}
	}
	return nil
}

// examples are values that fields of this type often take.
func (r *rule) examples() (all []Member) {
	add := func(kind JSONKind, texts ...string) {
		for _, text := range texts {
			all = append(all, Member{Kind: kind, Text: []byte(text)})
		}
	}
	switch r.kind {
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
