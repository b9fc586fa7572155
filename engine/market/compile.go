package market

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxFields    = 256
	maxFieldName = 64   // bytes
	maxPattern   = 1000 // bytes
	maxValues    = 1000 // of an enum
)

// compiler turns specifications into rules and collects what is wrong with
// them.
type compiler struct {
	mapping  *Mapping
	specs    []placed // by slot
	mistakes []SpecError
}

// placed is a specification in its slot.
type placed struct {
	FieldSpec
	index int // in the operator's list; -1: a known field as it is
}

func (c *compiler) fail(field int, key, format string, args ...any) {
	c.mistakes = append(c.mistakes, SpecError{Field: field, Key: key, Message: fmt.Sprintf(format, args...)})
}

func (c *compiler) sort() {
	slices.SortStableFunc(c.mistakes, func(a, b SpecError) int { return cmp.Compare(a.Field, b.Field) })
}

// place gives each field its slot and sees to it that names are used once.
func (c *compiler) place(fields []FieldSpec) {
	for slot := range known {
		field := known[slot]
		field.To = field.Name
		c.specs = append(c.specs, placed{FieldSpec: field, index: -1})
	}
	for i, field := range fields {
		if field.To == "" {
			field.To = field.Name
		}
		if !c.checkName(i, "name", field.Name) || !c.checkName(i, "to", field.To) {
			continue
		}
		byName, isKnown := knownSlot(field.Name)
		byTo, toKnown := knownSlot(field.To)
		switch {
		case isKnown && toKnown && byName == byTo:
			c.override(i, byName, field)
		case isKnown:
			c.fail(i, "to", "%s is called so towards buyers too; leave to out", field.Name)
		case toKnown && byTo <= lastBuiltIn:
			c.fail(i, "to", "%s always arrives as %s; give this field another name for buyers", field.To, field.To)
		case toKnown:
			c.override(i, byTo, field)
		case framing([]byte(field.To)):
			c.fail(i, "to", "pings and posts use %s for something else; give this field another name for buyers", field.To)
		default:
			c.specs = append(c.specs, placed{FieldSpec: field, index: i})
		}
	}
	c.index()
}

// index fills the two tables of names.
func (c *compiler) index() {
	for slot, p := range c.specs {
		if other, taken := c.mapping.arrive[p.Name]; taken {
			c.fail(max(p.index, c.specs[other].index), "name", "two fields arrive as %s", p.Name)
		}
		if other, taken := c.mapping.mapped[p.To]; taken {
			c.fail(max(p.index, c.specs[other].index), "to", "two fields are called %s towards buyers", p.To)
		}
		c.mapping.arrive[p.Name] = Slot(slot)
		c.mapping.mapped[p.To] = Slot(slot)
	}
	for slot := range known { // pings and posts of the interface have the known names
		c.mapping.arrive[known[slot].Name] = Slot(slot)
	}
}

func (c *compiler) checkName(i int, key, name string) bool {
	switch {
	case name == "":
		c.fail(i, key, "a field needs a name")
	case len(name) > maxFieldName:
		c.fail(i, key, "a name has at most %d bytes", maxFieldName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.TrimSpace(name) != name:
		c.fail(i, key, "a name is printable text without spaces at its ends")
	case addressing([]byte(name)):
		c.fail(i, key, "%s says where a lead goes and cannot be a field", name)
	default:
		return true
	}
	return false
}

// override lays a campaign's field over a known one.
func (c *compiler) override(i int, slot Slot, field FieldSpec) {
	base := &c.specs[slot]
	if base.index >= 0 {
		c.fail(i, "name", "%s is configured twice", base.To)
		return
	}
	stays := field.Type == 0 || field.Type == base.Type || field.Type == TypeString && base.Type > TypeURL
	narrows := base.Type == TypeString && field.Type == TypeEnum
	if !stays && !narrows {
		c.fail(i, "type", "%s is of type %s, which stays; leave type out", base.To, base.Type)
		return
	}
	if !narrows {
		field.Type = base.Type
	}
	field.Required = field.Required || base.Required
	field.Ping = field.Ping || base.Ping
	field.Contact = field.Contact || base.Contact
	*base = placed{FieldSpec: field, index: i}
	if slices.Contains(field.Transforms, TransformSHA256) {
		c.fail(i, "transform", "%s is needed as it is and cannot be hashed", base.To)
	}
}

// compile makes the rule of one slot.
func (c *compiler) compile(slot Slot) rule {
	p := &c.specs[slot]
	r := rule{
		name: p.Name, to: p.To, kind: p.Type,
		required: p.Required, coerce: p.Coerce, ping: p.Ping, contact: p.Contact,
		minLength: 0, maxLength: maxText, maxBytes: maxText,
		number: bounds{math.Inf(-1), math.Inf(1), math.MinInt64, math.MaxInt64},
	}
	r.key = append(AppendJSONString(nil, []byte(p.To)), ':')
	switch {
	case slot == SlotConsentText:
		r.maxLength, r.maxBytes = maxConsentText, maxConsentText
	case p.Type == TypeURL || p.Type == typeHTTPS:
		r.maxLength, r.maxBytes = maxURL, maxURL
	}
	if p.Type == 0 || p.Type >= fieldTypes {
		c.fail(p.index, "type", "a field of the campaign's own needs a type: string, integer, number, boolean, date, email, phone, state, zip, enum or url")
		return r
	}
	if p.Ping && p.Contact {
		c.fail(p.index, "ping", "a ping never carries a person: %s is a contact field", p.To)
	}
	before := len(c.mistakes)
	c.compileTransforms(p, &r)
	c.compileValues(p, &r)
	c.compileBounds(p, &r)
	c.compileLengths(p, &r)
	c.compilePattern(p, &r)
	r.expected = r.describe()
	if p.Default != nil && len(c.mistakes) == before {
		c.compileDefault(p, &r)
	}
	return r
}

func (c *compiler) compilePattern(p *placed, r *rule) {
	if p.Pattern == "" {
		return
	}
	if !p.Type.textual() {
		c.fail(p.index, "pattern", "only text has a pattern; use min and max")
		return
	}
	if len(p.Pattern) > maxPattern {
		c.fail(p.index, "pattern", "a pattern has at most %d bytes", maxPattern)
		return
	}
	// Compiled alone first, so that no bracket of the pattern closes ours.
	if _, err := regexp.Compile(p.Pattern); err != nil {
		c.fail(p.index, "pattern", "not a regular expression of the RE2 kind: %v", err)
		return
	}
	r.pattern = regexp.MustCompile(`\A(?:` + p.Pattern + `)\z`)
}
