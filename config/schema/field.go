package schema

import (
	"pingpost/engine/market"
)

// Field is one of a campaign's fields: its name, its rules, and its name towards buyers.
type Field struct {
	Name      string    `json:"name"`
	Type      string    `json:"type,omitempty"`
	To        string    `json:"to,omitempty"` // default: Name
	Required  bool      `json:"required,omitempty"`
	Values    []Literal `json:"values,omitempty"`
	Min       *Number   `json:"min,omitempty"`
	Max       *Number   `json:"max,omitempty"`
	MinLength *int      `json:"min_length,omitempty"`
	MaxLength *int      `json:"max_length,omitempty"`
	Pattern   string    `json:"pattern,omitempty"`
	Default   *Literal  `json:"default,omitempty"`
	Transform []string  `json:"transform,omitempty"`
	Coerce    bool      `json:"coerce,omitempty"`
	Ping      bool      `json:"ping,omitempty"`
	Contact   bool      `json:"contact,omitempty"`
}

// Filter is one condition on a field of the lead. It uses the field's name towards buyers.
type Filter struct {
	Field  string    `json:"field"`
	In     []Literal `json:"in,omitempty"`
	NotIn  []Literal `json:"not_in,omitempty"`
	Min    *Number   `json:"min,omitempty"`
	Max    *Number   `json:"max,omitempty"`
	Absent bool      `json:"absent,omitempty"`
}

// FilterSpec returns the filter in the form from which package market compiles it.
func (f *Filter) FilterSpec() market.FilterSpec {
	return market.FilterSpec{
		Field: f.Field, In: LiteralTexts(f.In), NotIn: LiteralTexts(f.NotIn),
		Min: f.Min.Digits(), Max: f.Max.Digits(), Absent: f.Absent,
	}
}

// LiteralTexts returns the literals as strings.
func LiteralTexts(words []Literal) []string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = string(word)
	}
	return out
}
