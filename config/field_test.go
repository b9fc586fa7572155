package config

import (
	"testing"
)

// TestCampaignsWithSameFieldsShareMapping: shared mappings of a large catalog fit into the
// processor's cache.
func TestCampaignsWithSameFieldsShareMapping(t *testing.T) {
	const first = `
campaigns:
  - id: first
    method: waterfall
    fields:
      - {name: rooms, type: integer, min: 1, max: 9, default: 2}
      - {name: kind, type: enum, values: [house, flat]}
`
	for name, c := range map[string]struct {
		second string
		same   bool
	}{
		"same fields":                        {`{name: rooms, type: integer, min: 1, max: 9, default: 2}, {name: kind, type: enum, values: [house, flat]}`, true},
		"defaults written out":               {`{name: rooms, type: integer, min: 1, max: 9, default: 2, required: false}, {name: kind, type: enum, values: [house, flat], coerce: false}`, true},
		"another bound":                      {`{name: rooms, type: integer, min: 1, max: 8, default: 2}, {name: kind, type: enum, values: [house, flat]}`, false},
		"another default":                    {`{name: rooms, type: integer, min: 1, max: 9, default: 3}, {name: kind, type: enum, values: [house, flat]}`, false},
		"no default":                         {`{name: rooms, type: integer, min: 1, max: 9}, {name: kind, type: enum, values: [house, flat]}`, false},
		"another order":                      {`{name: kind, type: enum, values: [house, flat]}, {name: rooms, type: integer, min: 1, max: 9, default: 2}`, false},
		"values in other order":              {`{name: rooms, type: integer, min: 1, max: 9, default: 2}, {name: kind, type: enum, values: [flat, house]}`, false},
		"sent in pings":                      {`{name: rooms, type: integer, min: 1, max: 9, default: 2, ping: true}, {name: kind, type: enum, values: [house, flat]}`, false},
		"another policy for unknown members": {"{name: rooms, type: integer, min: 1, max: 9, default: 2}, {name: kind, type: enum, values: [house, flat]}]\n    unknown: keep\n    buyers: [", false},
	} {
		t.Run(name, func(t *testing.T) {
			exchange := compileText(t, first+"  - id: second\n    method: waterfall\n    fields: ["+c.second+"]\n", nil)
			campaigns := exchange.Catalog.Campaigns
			if same := campaigns["first"].Mapping == campaigns["second"].Mapping; same != c.same {
				t.Errorf("campaigns share a mapping: %t", same)
			}
		})
	}
}
