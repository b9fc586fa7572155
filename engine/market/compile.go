package market

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pingpost/api/errcode"
	"pingpost/engine/market/escape"
	"pingpost/engine/market/format"
)

const (
	maxFields    = 256
	maxFieldName = 64   // bytes
	maxPattern   = 1000 // bytes
	maxValues    = 1000 // of an enum
)

// mappingCompiler compiles the configured fields of a campaign to a FieldMapping, and collects the
// mistakes for the operator.
type mappingCompiler struct {
	mapping  *FieldMapping
	specs    []fieldSpecWithConfigIndex // by slot
	mistakes []FieldSpecError
}

// fieldSpecWithConfigIndex is a field's specification with its position in the configuration.
type fieldSpecWithConfigIndex struct {
	FieldSpec
	configIndex int // in the operator's list; -1: an unchanged known field
}

// addMistake records a mistake of the field at fieldIndex in the configuration, at configKey.
func (c *mappingCompiler) addMistake(fieldIndex int, configKey, format string, args ...any) {
	c.mistakes = append(c.mistakes, FieldSpecError{Field: fieldIndex, Key: configKey, Message: fmt.Sprintf(format, args...)})
}

// sortMistakes sorts the mistakes by the order of the fields in the configuration.
func (c *mappingCompiler) sortMistakes() {
	slices.SortStableFunc(c.mistakes, func(a, b FieldSpecError) int { return cmp.Compare(a.Field, b.Field) })
}

// assignFieldsToSlots fills c.specs: first all known fields, each possibly overridden by the campaign,
// then the campaign's own fields. It rejects invalid, reserved and repeated names.
func (c *mappingCompiler) assignFieldsToSlots(campaignFields []FieldSpec) {
	for slot := range knownFields {
		field := knownFields[slot]
		field.NameForBuyers = field.Name
		c.specs = append(c.specs, fieldSpecWithConfigIndex{FieldSpec: field, configIndex: -1})
	}
	for i, field := range campaignFields {
		if field.NameForBuyers == "" {
			field.NameForBuyers = field.Name
		}
		if !c.checkFieldName(i, "name", field.Name) || !c.checkFieldName(i, "to", field.NameForBuyers) {
			continue
		}
		byName, isKnown := findKnownField(field.Name)
		byTo, toKnown := findKnownField(field.NameForBuyers)
		switch {
		case isKnown && toKnown && byName == byTo:
			c.overrideKnownField(i, byName, field)
		case isKnown:
			c.addMistake(i, "to", "%s has the same name for buyers and cannot get another; remove to", field.Name)
		case toKnown && byTo <= lastFixedSlot:
			c.addMistake(i, "to", "%s is a fixed field that suppliers send as %s; give this field another name for buyers", field.NameForBuyers, field.NameForBuyers)
		case toKnown:
			c.overrideKnownField(i, byTo, field)
		case isNameReservedInBuyerRequests([]byte(field.NameForBuyers)):
			c.addMistake(i, "to", "pings and posts use %s for something else; give this field another name for buyers", field.NameForBuyers)
		default:
			c.specs = append(c.specs, fieldSpecWithConfigIndex{FieldSpec: field, configIndex: i})
		}
	}
	c.indexNamesAndRejectRepeats()
}

// indexNamesAndRejectRepeats fills the mapping's tables from names to slots, and reports names that two
// fields have.
func (c *mappingCompiler) indexNamesAndRejectRepeats() {
	for slot, p := range c.specs {
		if other, taken := c.mapping.byArrivalName[p.Name]; taken {
			c.addMistake(max(p.configIndex, c.specs[other].configIndex), "name", "suppliers would send two fields as %s; rename one", p.Name)
		}
		if other, taken := c.mapping.byBuyerName[p.NameForBuyers]; taken {
			c.addMistake(max(p.configIndex, c.specs[other].configIndex), "to", "two fields have the name %s for buyers; rename one", p.NameForBuyers)
		}
		c.mapping.byArrivalName[p.Name] = LeadFieldIndex(slot)
		c.mapping.byBuyerName[p.NameForBuyers] = LeadFieldIndex(slot)
	}
	for slot := range knownFields { // pings and posts of the interface have the known names
		c.mapping.byArrivalName[knownFields[slot].Name] = LeadFieldIndex(slot)
	}
}

// checkFieldName reports whether the name is allowed. If not, it records a mistake of the field
// configIndex at configKey.
func (c *mappingCompiler) checkFieldName(configIndex int, configKey, name string) (allowed bool) {
	switch {
	case name == "":
		c.addMistake(configIndex, configKey, "a field needs a name")
	case len(name) > maxFieldName:
		c.addMistake(configIndex, configKey, "a field's name has at most %d bytes; shorten it", maxFieldName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.TrimSpace(name) != name:
		c.addMistake(configIndex, configKey, "a field's name must be printable text without spaces at its ends")
	case selectsCampaignSupplierPingOrBuyer([]byte(name)):
		c.addMistake(configIndex, configKey, "%s is reserved, because it selects the campaign, supplier, ping or buyer of a lead; choose another name", name)
	default:
		return true
	}
	return false
}

// overrideKnownField applies a field of the campaign to the known field slot, whose rule it can make
// stricter. Another type is a mistake, except enum for a string field. A type without a configurable
// name stays if the campaign writes string. A second field for the same slot and the transform sha256
// are mistakes too.
func (c *mappingCompiler) overrideKnownField(configIndex int, slot LeadFieldIndex, field FieldSpec) {
	base := &c.specs[slot]
	if base.configIndex >= 0 {
		c.addMistake(configIndex, "name", "%s is configured twice", base.NameForBuyers)
		return
	}
	stays := field.Type == 0 || field.Type == base.Type || field.Type == TypeString && base.Type > TypeURL
	narrows := base.Type == TypeString && field.Type == TypeEnum
	if !stays && !narrows {
		c.addMistake(configIndex, "type", "%s has the fixed type %s; remove type", base.NameForBuyers, base.Type)
		return
	}
	if !narrows {
		field.Type = base.Type
	}
	field.Required = field.Required || base.Required
	field.Ping = field.Ping || base.Ping
	field.Contact = field.Contact || base.Contact
	*base = fieldSpecWithConfigIndex{FieldSpec: field, configIndex: configIndex}
	if slices.Contains(field.Transforms, TransformSHA256) {
		c.addMistake(configIndex, "transform", "buyers need %s in plain text, so it cannot be hashed; remove sha256", base.NameForBuyers)
	}
}

// compileFieldRule compiles the rule of the field slot from its specification, and records the
// mistakes in it.
func (c *mappingCompiler) compileFieldRule(slot LeadFieldIndex) fieldRule {
	p := &c.specs[slot]
	r := fieldRule{
		arrivalName: p.Name, buyerName: p.NameForBuyers, fieldType: p.Type,
		required: p.Required, coerce: p.Coerce, ping: p.Ping, contact: p.Contact,
		minLength: 0, maxLength: maxText, maxBytes: maxText,
		number: numericBounds{math.Inf(-1), math.Inf(1), math.MinInt64, math.MaxInt64},
	}
	r.key = append(escape.AppendJSONString(nil, []byte(p.NameForBuyers)), ':')
	switch {
	case slot == SlotConsentText:
		r.maxLength, r.maxBytes = maxConsentText, maxConsentText
	case p.Type == TypeURL || p.Type == typeHTTPS:
		r.maxLength, r.maxBytes = format.MaxURL, format.MaxURL
	}
	if p.Type == 0 || p.Type >= fieldTypeEnd {
		c.addMistake(p.configIndex, "type", "a custom field needs a type: string, integer, number, boolean, date, email, phone, state, zip, enum or url")
		return r
	}
	if p.Ping && p.Contact {
		c.addMistake(p.configIndex, "ping", "a ping must not identify a person: %s is a contact field", p.NameForBuyers)
	}
	before := len(c.mistakes)
	c.compileTransforms(p, &r)
	c.compileEnumValues(p, &r)
	c.compileNumericBounds(p, &r)
	c.compileLengthLimits(p, &r)
	c.compilePattern(p, &r)
	r.expected = r.describeAcceptedValues()
	if p.Default != nil && len(c.mistakes) == before {
		c.compileDefaultValue(p, &r)
	}
	return r
}

// compilePattern compiles the field's regular expression, which the whole text must match.
func (c *mappingCompiler) compilePattern(p *fieldSpecWithConfigIndex, r *fieldRule) {
	if p.Pattern == "" {
		return
	}
	if !p.Type.IsText() {
		c.addMistake(p.configIndex, "pattern", "pattern is for text; use min and max for numbers")
		return
	}
	pattern, err := compileWholeTextPattern(p.Pattern)
	if err != nil {
		c.addMistake(p.configIndex, "pattern", "%v", err)
		return
	}
	r.pattern = pattern
}

// compileTransforms checks that the field's transforms suit its type, and splits them into those
// before and after the checks.
func (c *mappingCompiler) compileTransforms(p *fieldSpecWithConfigIndex, r *fieldRule) {
	for _, t := range p.Transforms {
		switch {
		case t == 0 || t >= transformEnd:
			c.addMistake(p.configIndex, "transform", "use trim, lower, upper, digits, title, e164, zip3 or sha256")
		case !p.Type.IsText() && !p.Coerce:
			c.addMistake(p.configIndex, "transform", "the transform %s needs text; to accept a field of type %s in a string, set coerce", t, p.Type)
		case !p.Type.IsText() && t != TransformTrim && t != TransformDigits:
			c.addMistake(p.configIndex, "transform", "the result of the transform %s is not of the field's type %s; use trim or digits", t, p.Type)
		case t == TransformE164 && p.Type != TypeString && p.Type != TypePhone:
			c.addMistake(p.configIndex, "transform", "e164 is for fields of type phone or string")
		case t == TransformZIP3 && p.Type != TypeString && p.Type != TypeZIP:
			c.addMistake(p.configIndex, "transform", "zip3 is for fields of type zip or string")
		}
	}
	r.transformsBefore, r.transformsAfter = splitTransformsAroundChecks(slices.Clone(p.Transforms))
}

// compileEnumValues checks and stores the values of an enum.
func (c *mappingCompiler) compileEnumValues(p *fieldSpecWithConfigIndex, r *fieldRule) {
	if p.Type != TypeEnum {
		if len(p.Values) > 0 {
			c.addMistake(p.configIndex, "values", "only an enum has values; set type: enum, or remove values")
		}
		return
	}
	if len(p.Values) == 0 || len(p.Values) > maxValues {
		c.addMistake(p.configIndex, "values", "an enum needs 1 to %d values", maxValues)
		return
	}
	r.values = make(map[string]struct{}, len(p.Values))
	for _, value := range p.Values {
		if isBlank([]byte(value)) || len(value) > r.maxBytes || !format.IsPrintableText([]byte(value)) {
			c.addMistake(p.configIndex, "values", "%q cannot be a value of the enum: give printable text that is not blank and has at most %d bytes", value, r.maxBytes)
		}
		if _, twice := r.values[value]; twice {
			c.addMistake(p.configIndex, "values", "%q is listed twice", value)
		}
		r.values[value] = struct{}{}
	}
	r.expected = describeEnumValues(p.Values)
	r.valueByLowerCase = make(map[string][]byte, len(p.Values))
	for _, value := range p.Values {
		lower := lowerASCII(value)
		if _, ambiguous := r.valueByLowerCase[lower]; ambiguous {
			r.valueByLowerCase[lower] = nil
			continue
		}
		r.valueByLowerCase[lower] = []byte(value)
	}
}

// compileNumericBounds checks and stores the min and max of a numeric field.
func (c *mappingCompiler) compileNumericBounds(p *fieldSpecWithConfigIndex, r *fieldRule) {
	if !p.Type.isNumeric() {
		if p.Min != nil {
			c.addMistake(p.configIndex, "min", "min is for numbers; use min_length for text")
		}
		if p.Max != nil {
			c.addMistake(p.configIndex, "max", "max is for numbers; use max_length for text")
		}
		return
	}
	if p.Min != nil {
		c.parseNumericBound(p, "min", *p.Min, &r.number.min, &r.number.minInteger)
	}
	if p.Max != nil {
		c.parseNumericBound(p, "max", *p.Max, &r.number.max, &r.number.maxInteger)
	}
	if r.number.min > r.number.max || r.number.minInteger > r.number.maxInteger {
		c.addMistake(p.configIndex, "max", "max is less than min: no value would pass")
	}
}

// parseNumericBound parses a configured min or max into floatBound, and for an integer field also
// into integerBound. A value that is no such number is a mistake at configKey.
func (c *mappingCompiler) parseNumericBound(p *fieldSpecWithConfigIndex, configKey, text string, floatBound *float64, integerBound *int64) {
	f, code := format.ParseNumber([]byte(text))
	if code != "" {
		c.addMistake(p.configIndex, configKey, "%q is not a decimal number", text)
		return
	}
	*floatBound = f
	if p.Type != TypeInteger {
		return
	}
	n, code := format.ParseInteger([]byte(text))
	if code != "" {
		c.addMistake(p.configIndex, configKey, "%q is not a 64-bit integer, but the field's type is integer", text)
		return
	}
	*integerBound = n
}

// compileLengthLimits checks and stores the minimum and maximum length of a text field.
func (c *mappingCompiler) compileLengthLimits(p *fieldSpecWithConfigIndex, r *fieldRule) {
	if p.MinLength == nil && p.MaxLength == nil {
		return
	}
	if !p.Type.IsText() {
		c.addMistake(p.configIndex, configuredLengthKey(p), "min_length and max_length are for text; use min and max for numbers")
		return
	}
	if p.MaxLength != nil {
		if *p.MaxLength < 1 || *p.MaxLength > r.maxBytes {
			c.addMistake(p.configIndex, "max_length", "give 1 to %d characters", r.maxBytes)
			return
		}
		r.maxLength = *p.MaxLength
	}
	if p.MinLength != nil {
		if *p.MinLength < 0 || *p.MinLength > r.maxLength {
			c.addMistake(p.configIndex, "min_length", "give 0 to %d characters; min_length cannot exceed max_length", r.maxLength)
			return
		}
		r.minLength = *p.MinLength
	}
}

// configuredLengthKey returns the configuration key to name in a mistake about lengths: the one that
// is set.
func configuredLengthKey(p *fieldSpecWithConfigIndex) string {
	if p.MinLength != nil {
		return "min_length"
	}
	return "max_length"
}

// compileDefaultValue checks the field's default with the field's rule, as if a supplier had sent it,
// and stores it.
func (c *mappingCompiler) compileDefaultValue(p *fieldSpecWithConfigIndex, r *fieldRule) {
	member := JSONMember{Kind: p.DefaultKind, Text: []byte(*p.Default)}
	if member.Kind == 0 {
		member.Kind = JSONString
		switch {
		case p.Type.isNumeric():
			member.Kind = JSONNumber
		case p.Type == TypeBoolean:
			member.Kind = JSONBoolean
		}
	}
	if member.CountsAsMissing() {
		c.addMistake(p.configIndex, "default", "the default is blank, which counts as missing; remove it")
		return
	}
	value, _, code := r.parseMember(&member, nil)
	if code == "" && member.Kind == JSONBoolean && *p.Default != "true" && *p.Default != "false" {
		code = errcode.FieldWrongType
	}
	if code != "" {
		c.addMistake(p.configIndex, "default", "the default %q is not valid for the field (%s): give %s", *p.Default, code, r.expected)
		return
	}
	r.defaultValue = value
}
