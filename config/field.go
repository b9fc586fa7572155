package config

import (
	"encoding/json"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market"
)

// compileMapping compiles the fields of a campaign into the mapping from received to posted
// leads. It reports all mistakes, and returns nil if there are any.
func (c *compiler) compileMapping(at syntax.KeyPath, campaign *schema.Campaign) *market.FieldMapping {
	spec := market.FieldMappingSpec{Fields: make([]market.FieldSpec, len(campaign.Fields))}
	good := true
	unknown, err := market.ParseUnknownMemberPolicy(campaign.Unknown)
	if err != nil {
		c.reportMistakeHidingEnvironmentValue(at.Key("unknown"), err.Error())
		good = false
	}
	spec.Unknown = unknown
	for i := range campaign.Fields {
		good = c.convertFieldToSpec(at.Key("fields").Index(i), &campaign.Fields[i], &spec.Fields[i]) && good
	}
	mapping, mistakes := c.findOrCompileMapping(&spec)
	for _, mistake := range mistakes {
		if mistake.Key == "type" && mistake.Field >= 0 && campaign.Fields[mistake.Field].Type != "" && spec.Fields[mistake.Field].Type == 0 {
			continue // convertFieldToSpec has reported the unknown name
		}
		where := at.Key(mistake.Key)
		if mistake.Field >= 0 {
			where = at.Key("fields").Index(mistake.Field).Key(mistake.Key)
		}
		c.reportMistakeHidingEnvironmentValue(where, mistake.Message)
	}
	if !good {
		return nil
	}
	return mapping
}

// findOrCompileMapping returns one mapping for all campaigns with equal fields. With
// thousands of separate mappings, each lead would miss the processor's cache.
func (c *compiler) findOrCompileMapping(spec *market.FieldMappingSpec) (*market.FieldMapping, []market.FieldSpecError) {
	key, err := json.Marshal(spec)
	if err != nil {
		panic("BUG: fields of a document cannot be written as JSON: " + err.Error())
	}
	if same := c.mappings[string(key)]; same != nil {
		return same, nil
	}
	mapping, mistakes := market.NewFieldMapping(*spec)
	if mapping != nil {
		c.mappings[string(key)] = mapping
	}
	return mapping, mistakes
}

func (c *compiler) convertFieldToSpec(at syntax.KeyPath, f *schema.Field, into *market.FieldSpec) (valid bool) {
	valid = true
	*into = market.FieldSpec{
		Name: f.Name, NameForBuyers: f.To, Required: f.Required,
		Values: schema.ScalarStrings(f.Values), Min: f.Min.TextOrNil(), Max: f.Max.TextOrNil(),
		MinLength: f.MinLength, MaxLength: f.MaxLength, Pattern: f.Pattern,
		Coerce: f.Coerce, Ping: f.Ping, Contact: f.Contact,
	}
	if f.Default != nil {
		text := string(*f.Default)
		into.Default = &text
	}
	if f.Type != "" {
		kind, err := market.ParseFieldType(f.Type)
		if err != nil {
			c.reportMistakeHidingEnvironmentValue(at.Key("type"), err.Error())
			valid = false
		}
		into.Type = kind
	}
	for i, name := range f.Transform {
		transform, err := market.ParseTransform(name)
		if err != nil {
			c.reportMistakeHidingEnvironmentValue(at.Key("transform").Index(i), err.Error())
			valid = false
			continue
		}
		into.Transforms = append(into.Transforms, transform)
	}
	return valid
}
