package market

import (
	"testing"
	"time"
)

// TestExampleValueJSON: each field type has a valid example, even under narrow limits. A field
// with a free pattern has none.
func TestExampleValueJSON(t *testing.T) {
	text := func(s string) *string { return &s }
	long := 200
	for name, spec := range map[string]FieldSpec{
		"string": {Type: TypeString}, "long": {Type: TypeString, MinLength: &long}, "short": {Type: TypeString, MaxLength: new(1)},
		"digits": {Type: TypeString, Pattern: "[0-9]{5}"}, "integer": {Type: TypeInteger, Min: text("40"), Max: text("41")},
		"below": {Type: TypeInteger, Max: text("-3")}, "number": {Type: TypeNumber, Min: text("2.5")}, "boolean": {Type: TypeBoolean},
		"date": {Type: TypeDate}, "mail": {Type: TypeEmail}, "cell": {Type: TypePhone}, "home": {Type: TypeState}, "code": {Type: TypeZIP},
		"roof": {Type: TypeEnum, Values: []string{"tile", "flat"}}, "page": {Type: TypeURL},
	} {
		spec.Name, spec.Required = "f_"+name, true
		m, mistakes := NewFieldMapping(FieldMappingSpec{Fields: []FieldSpec{spec}})
		if len(mistakes) > 0 {
			t.Fatal(name, mistakes[0].Error())
		}
		slot, _ := m.SlotByNameForBuyers(spec.Name)
		if example := m.ExampleValueJSON(slot, nil, time.Time{}); example == nil {
			t.Errorf("%s has no example", name)
		} else if name == "roof" && string(example) != `"flat"` || name == "integer" && string(example) != "40" || name == "boolean" && string(example) != "true" {
			t.Errorf("%s: %s", name, example)
		}
	}
	m, _ := NewFieldMapping(FieldMappingSpec{Fields: []FieldSpec{{Name: "plate", Type: TypeString, Pattern: "[A-Z]{3}-[0-9]{4}"}}})
	slot, _ := m.SlotByNameForBuyers("plate")
	if example := m.ExampleValueJSON(slot, nil, time.Time{}); example != nil {
		t.Errorf("got the example %s for a free pattern", example)
	}
}
