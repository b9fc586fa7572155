package schema

import (
	"pingpost/engine/market"
)

// Field is one of a campaign's fields: its name, its rules, and its name towards buyers.
type Field struct {
	Name      string         `json:"name"`
	Type      string         `json:"type,omitempty"`
	To        string         `json:"to,omitempty"` // default: Name
	Required  bool           `json:"required,omitempty"`
	Values    []ScalarAsText `json:"values,omitempty"`
	Min       *DecimalNumber `json:"min,omitempty"`
	Max       *DecimalNumber `json:"max,omitempty"`
	MinLength *int           `json:"min_length,omitempty"`
	MaxLength *int           `json:"max_length,omitempty"`
	Pattern   string         `json:"pattern,omitempty"`
	Default   *ScalarAsText  `json:"default,omitempty"`
	Transform []string       `json:"transform,omitempty"`
	Coerce    bool           `json:"coerce,omitempty"`
	Ping      bool           `json:"ping,omitempty"`
	Contact   bool           `json:"contact,omitempty"`
}

// Filter is one condition on a field of the lead. It uses the field's name towards buyers.
type Filter struct {
	Field     string         `json:"field"`
	In        []ScalarAsText `json:"in,omitempty"`
	NotIn     []ScalarAsText `json:"not_in,omitempty"`
	Prefix    []ScalarAsText `json:"prefix,omitempty"`
	NotPrefix []ScalarAsText `json:"not_prefix,omitempty"`
	Near      *Near          `json:"near,omitempty"`
	Matches   string         `json:"matches,omitempty"`
	Min       *DecimalNumber `json:"min,omitempty"`
	Max       *DecimalNumber `json:"max,omitempty"`
	From      ScalarAsText   `json:"from,omitempty"`
	Until     ScalarAsText   `json:"until,omitempty"`
	MinAge    *int           `json:"min_age,omitempty"`
	MaxAge    *int           `json:"max_age,omitempty"`
	Absent    bool           `json:"absent,omitempty"`
}

// Near is a distance from a ZIP code, in one of the units.
type Near struct {
	ZIP   ScalarAsText   `json:"zip"`
	Miles *DecimalNumber `json:"miles,omitempty"`
	Km    *DecimalNumber `json:"km,omitempty"`
}

// FilterSpec returns the filter in the form from which package market compiles it.
func (f *Filter) FilterSpec() market.FilterSpec {
	spec := market.FilterSpec{
		Field: f.Field, In: ScalarStrings(f.In), NotIn: ScalarStrings(f.NotIn),
		Prefix: ScalarStrings(f.Prefix), NotPrefix: ScalarStrings(f.NotPrefix), Matches: f.Matches,
		Min: f.Min.TextOrNil(), Max: f.Max.TextOrNil(), From: string(f.From), Until: string(f.Until),
		MinAge: f.MinAge, MaxAge: f.MaxAge, Absent: f.Absent,
	}
	if f.Near != nil {
		spec.Near = &market.NearSpec{ZIP: string(f.Near.ZIP), Miles: f.Near.Miles.TextOrNil(), Km: f.Near.Km.TextOrNil()}
	}
	return spec
}

// ScalarStrings returns the values as strings.
func ScalarStrings(words []ScalarAsText) []string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = string(word)
	}
	return out
}
