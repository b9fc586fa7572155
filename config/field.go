package config

import (
	"encoding/json"
	"strconv"

	"pingpost/engine/market"
)

// Field is one of a campaign's fields: how it arrives, what it must be, and how
// buyers call it.
type Field struct {
	Name      string   `json:"name"`
	Type      string   `json:"type,omitempty"`
	To        string   `json:"to,omitempty"` // absent: as Name
	Required  bool     `json:"required,omitempty"`
	Values    []Word   `json:"values,omitempty"`
	Min       *Number  `json:"min,omitempty"`
	Max       *Number  `json:"max,omitempty"`
	MinLength *int     `json:"min_length,omitempty"`
	MaxLength *int     `json:"max_length,omitempty"`
	Pattern   string   `json:"pattern,omitempty"`
	Default   *Word    `json:"default,omitempty"`
	Transform []string `json:"transform,omitempty"`
	Coerce    bool     `json:"coerce,omitempty"`
	Ping      bool     `json:"ping,omitempty"`
	Contact   bool     `json:"contact,omitempty"`
}

// mapping compiles a campaign's fields, or reports every mistake and gives nil.
func (c *compiler) mapping(at place, campaign *Campaign) *market.Mapping {
	spec := market.MappingSpec{Fields: make([]market.FieldSpec, len(campaign.Fields))}
	good := true
	unknown, err := market.ParseUnknownPolicy(campaign.Unknown)
	if err != nil {
		c.failQuoting(at.key("unknown"), err.Error())
		good = false
	}
	spec.Unknown = unknown
	for i := range campaign.Fields {
		good = c.field(at.key("fields").at(i), &campaign.Fields[i], &spec.Fields[i]) && good
	}
	mapping, mistakes := c.mapped(&spec)
	for _, mistake := range mistakes {
		if mistake.Key == "type" && mistake.Field >= 0 && campaign.Fields[mistake.Field].Type != "" && spec.Fields[mistake.Field].Type == 0 {
			continue // its unknown name is reported already
		}
		where := at.key(mistake.Key)
		if mistake.Field >= 0 {
			where = at.key("fields").at(mistake.Field).key(mistake.Key)
		}
		c.failQuoting(where, mistake.Message)
	}
	if !good {
		return nil
	}
	return mapping
}

// mapped compiles fields once for all the campaigns that have the same ones: with
// thousands of campaigns each lead would otherwise find a mapping that no processor's
// cache has seen lately.
func (c *compiler) mapped(spec *market.MappingSpec) (*market.Mapping, []market.SpecError) {
	key, err := json.Marshal(spec)
	if err != nil {
		panic("BUG: fields of a document cannot be written as JSON: " + err.Error())
	}
	if same := c.mappings[string(key)]; same != nil {
		return same, nil
	}
	mapping, mistakes := market.NewMapping(*spec)
	if mapping != nil {
		c.mappings[string(key)] = mapping
	}
	return mapping, mistakes
}

func (c *compiler) field(at place, f *Field, spec *market.FieldSpec) (good bool) {
	good = true
	*spec = market.FieldSpec{
		Name: f.Name, To: f.To, Required: f.Required,
		Values: texts(f.Values), Min: f.Min.text(), Max: f.Max.text(),
		MinLength: f.MinLength, MaxLength: f.MaxLength, Pattern: f.Pattern,
		Coerce: f.Coerce, Ping: f.Ping, Contact: f.Contact,
	}
	if f.Default != nil {
		text := string(*f.Default)
		spec.Default = &text
	}
	if f.Type != "" {
		kind, err := market.ParseFieldType(f.Type)
		if err != nil {
			c.failQuoting(at.key("type"), err.Error())
			good = false
		}
		spec.Type = kind
	}
	for i, name := range f.Transform {
		transform, err := market.ParseTransform(name)
		if err != nil {
			c.failQuoting(at.key("transform").at(i), err.Error())
			good = false
			continue
		}
		spec.Transforms = append(spec.Transforms, transform)
	}
	return good
}

func quote(name string) string {
	if len(name) > maxID {
		name = name[:maxID]
	}
	return strconv.Quote(name)
}
