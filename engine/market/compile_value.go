package market

import (
	"slices"

	"pingpost/api/errcode"
)

func (c *compiler) compileTransforms(p *placed, r *rule) {
	for _, t := range p.Transforms {
		switch {
		case t == 0 || t >= transforms:
			c.fail(p.index, "transform", "use trim, lower, upper, digits, title, e164, zip3 or sha256")
		case !p.Type.textual() && !p.Coerce:
			c.fail(p.index, "transform", "%s needs text; an %s in a string is taken only with coerce", t, p.Type)
		case !p.Type.textual() && t != TransformTrim && t != TransformDigits:
			c.fail(p.index, "transform", "%s does not leave a value of type %s; use trim or digits", t, p.Type)
		case t == TransformE164 && p.Type != TypeString && p.Type != TypePhone:
			c.fail(p.index, "transform", "e164 is for fields of type phone or string")
		case t == TransformZIP3 && p.Type != TypeString && p.Type != TypeZIP:
			c.fail(p.index, "transform", "zip3 is for fields of type zip or string")
		}
	}
	r.before, r.after = splitTransforms(slices.Clone(p.Transforms))
}

func (c *compiler) compileValues(p *placed, r *rule) {
	if p.Type != TypeEnum {
		if len(p.Values) > 0 {
			c.fail(p.index, "values", "only an enum has values; say type: enum")
		}
		return
	}
	if len(p.Values) == 0 || len(p.Values) > maxValues {
		c.fail(p.index, "values", "an enum needs 1 to %d values", maxValues)
		return
	}
	r.values = make(map[string]struct{}, len(p.Values))
	for _, value := range p.Values {
		if blank([]byte(value)) || len(value) > r.maxBytes || !isPlainText([]byte(value)) {
			c.fail(p.index, "values", "%q cannot be a value: give text that is not blank and has at most %d bytes", value, r.maxBytes)
		}
		if _, twice := r.values[value]; twice {
			c.fail(p.index, "values", "%q is listed twice", value)
		}
		r.values[value] = struct{}{}
	}
	r.expected = listValues(p.Values)
}

func (c *compiler) compileBounds(p *placed, r *rule) {
	if !p.Type.numeric() {
		if p.Min != nil {
			c.fail(p.index, "min", "only numbers have a least value; use min_length for text")
		}
		if p.Max != nil {
			c.fail(p.index, "max", "only numbers have a greatest value; use max_length for text")
		}
		return
	}
	if p.Min != nil {
		c.readBound(p, "min", *p.Min, &r.number.min, &r.number.minInteger)
	}
	if p.Max != nil {
		c.readBound(p, "max", *p.Max, &r.number.max, &r.number.maxInteger)
	}
	if r.number.min > r.number.max || r.number.minInteger > r.number.maxInteger {
		c.fail(p.index, "max", "max is less than min: no value would pass")
	}
}

func (c *compiler) readBound(p *placed, key, text string, number *float64, integer *int64) {
	f, code := readNumber([]byte(text))
	if code != "" {
		c.fail(p.index, key, "%q is not a decimal number", text)
		return
	}
	*number = f
	if p.Type != TypeInteger {
		return
	}
	n, code := ReadInteger([]byte(text))
	if code != "" {
		c.fail(p.index, key, "%q is not an integer of 64 bits, and the field is one", text)
		return
	}
	*integer = n
}

func (c *compiler) compileLengths(p *placed, r *rule) {
	if p.MinLength == nil && p.MaxLength == nil {
		return
	}
	if !p.Type.textual() {
		c.fail(p.index, lengthKey(p), "only text has a length; use min and max")
		return
	}
	if p.MaxLength != nil {
		if *p.MaxLength < 1 || *p.MaxLength > r.maxBytes {
			c.fail(p.index, "max_length", "give 1 to %d characters", r.maxBytes)
			return
		}
		r.maxLength = *p.MaxLength
	}
	if p.MinLength != nil {
		if *p.MinLength < 0 || *p.MinLength > r.maxLength {
			c.fail(p.index, "min_length", "give 0 to %d characters; max_length is not to be less", r.maxLength)
			return
		}
		r.minLength = *p.MinLength
	}
}

func lengthKey(p *placed) string {
	if p.MinLength != nil {
		return "min_length"
	}
	return "max_length"
}

// compileDefault reads the default as if a supplier had sent it.
func (c *compiler) compileDefault(p *placed, r *rule) {
	member := Member{Kind: p.DefaultKind, Text: []byte(*p.Default)}
	if member.Kind == 0 {
		member.Kind = JSONString
		switch {
		case p.Type.numeric():
			member.Kind = JSONNumber
		case p.Type == TypeBoolean:
			member.Kind = JSONBoolean
		}
	}
	if member.Missing() {
		c.fail(p.index, "default", "a blank default is none; leave it out")
		return
	}
	value, _, code := r.read(&member, nil)
	if code == "" && member.Kind == JSONBoolean && *p.Default != "true" && *p.Default != "false" {
		code = errcode.FieldWrongType
	}
	if code != "" {
		c.fail(p.index, "default", "%q does not pass the field's own rule (%s): give %s", *p.Default, code, r.expected)
		return
	}
	r.fallback = value
}
