package market

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"pingpost/api/errcode"
	"pingpost/engine/market/format"
)

const (
	maxText        = 4096  // bytes of a text, unless the field has a lower limit
	maxConsentText = 16384 // bytes of consent_text, which is a legal text
)

// fieldRule is the compiled form of a FieldSpec: it checks and converts the values of one field.
type fieldRule struct {
	arrivalName, buyerName string
	key                    []byte // the JSON member name with its colon
	fieldType              FieldType

	required, coerce, ping, contact bool

	transformsBefore, transformsAfter []FieldTransform // around the checks
	values                            map[string]struct{}
	valueByLowerCase                  map[string][]byte // of an enum: the configured value by its lower case; nil if several
	number                            numericBounds
	minLength, maxLength              int // characters
	maxBytes                          int
	pattern                           *regexp.Regexp

	defaultValue FieldValue // absent: none
	expected     string     // in words
}

// numericBounds holds a field's min and max, as floats and as integers, because the two field
// types are compared separately.
type numericBounds struct {
	min, max               float64
	minInteger, maxInteger int64
}

// parseMember checks a member of a request against the field's rule, and returns its value. It
// appends rewritten text to buf, the lead's buffer, and returns the grown buffer. errorCode is
// empty on success. The caller has excluded a missing member.
//
// A field that coerces accepts a number in a string, and true or false in any case, with
// surrounding spaces. A text field that coerces accepts a number and keeps its digits.
func (r *fieldRule) parseMember(m *JSONMember, buf []byte) (v FieldValue, grown []byte, errorCode string) {
	switch {
	case r.fieldType == TypeBoolean && m.Kind == JSONBoolean:
		return FieldValue{Kind: KindBoolean, Text: m.Text}, buf, ""
	case r.fieldType.isNumeric() && m.Kind == JSONNumber:
		return r.parseNumericText(m.Text, buf)
	case r.fieldType.IsText() && (m.Kind == JSONString || m.Kind == JSONNumber && r.coerce):
		return r.parseText(m.Text, buf)
	case m.Kind == JSONString && r.coerce:
		return r.parseNumberOrBooleanFromText(m.Text, buf)
	}
	return FieldValue{}, buf, errcode.FieldWrongType
}

// parseNumberOrBooleanFromText reads a number or a boolean from a string, for a field that coerces.
func (r *fieldRule) parseNumberOrBooleanFromText(text, buf []byte) (v FieldValue, grown []byte, errorCode string) {
	if len(text) > format.MaxNumberText {
		return FieldValue{}, buf, errcode.FieldTooLong
	}
	for _, t := range r.transformsBefore {
		var ok bool
		if text, buf, ok = t.ApplyToText(text, buf); !ok {
			return FieldValue{}, buf, errcode.FieldWrongType
		}
	}
	text = trimSpaceAndZeroWidth(text)
	if r.fieldType.isNumeric() {
		return r.parseNumericText(text, buf)
	}
	var lower [len("false")]byte
	if len(text) > len(lower) {
		return FieldValue{}, buf, errcode.FieldWrongType
	}
	switch string(format.AppendLowerASCII(lower[:0], text)) {
	case "true":
		return FieldValue{Kind: KindBoolean, Text: textTrue}, buf, ""
	case "false":
		return FieldValue{Kind: KindBoolean, Text: textFalse}, buf, ""
	}
	return FieldValue{}, buf, errcode.FieldWrongType
}

var textTrue, textFalse = []byte("true"), []byte("false")

// parseNumericText checks a number against the field's type and bounds. It rewrites an integer in
// another notation, such as 1e3, as plain digits.
func (r *fieldRule) parseNumericText(text, buf []byte) (v FieldValue, grown []byte, errorCode string) {
	if r.fieldType == TypeNumber {
		f, code := format.ParseNumber(text)
		if code == "" && (f < r.number.min || f > r.number.max) {
			code = errcode.FieldOutOfRange
		}
		return FieldValue{Kind: KindNumber, Text: text, Num: f}, buf, code
	}
	n, errorCode := format.ParseInteger(text)
	if errorCode == "" && (n < r.number.minInteger || n > r.number.maxInteger) {
		errorCode = errcode.FieldOutOfRange
	}
	if errorCode == "" && !format.IsPlainInteger(text) {
		text, buf = format.AppendInteger(buf, n)
	}
	return FieldValue{Kind: KindInteger, Text: text, Num: float64(n)}, buf, errorCode
}

// parseText applies the field's transforms and checks to a text. See FieldTransform for their
// order.
func (r *fieldRule) parseText(text, buf []byte) (v FieldValue, grown []byte, errorCode string) {
	if len(text) > r.maxBytes {
		return FieldValue{}, buf, errcode.FieldTooLong
	}
	var ok bool
	for _, t := range r.transformsBefore {
		if text, buf, ok = t.ApplyToText(text, buf); !ok {
			return FieldValue{}, buf, errcode.FieldInvalidFormat
		}
	}
	if text, buf, ok = r.canonicalizeByType(text, buf); !ok {
		return FieldValue{}, buf, errcode.FieldInvalidFormat
	}
	if code := r.checkEnumLengthAndPattern(text); code != "" {
		return FieldValue{}, buf, code
	}
	for _, t := range r.transformsAfter {
		if text, buf, ok = t.ApplyToText(text, buf); !ok {
			return FieldValue{}, buf, errcode.FieldInvalidFormat
		}
	}
	return FieldValue{Kind: KindString, Text: text}, buf, ""
}

// canonicalizeByType checks that the text has the form of the field's type, for example an email
// address. It returns the text in canonical form, such as a phone number in E.164.
func (r *fieldRule) canonicalizeByType(text, buf []byte) (result, grown []byte, ok bool) {
	start := len(buf)
	switch r.fieldType {
	case TypePhone:
		if buf, ok = format.AppendPhoneAsE164(buf, text); !ok {
			return text, buf, false
		}
		return buf[start:len(buf):len(buf)], buf, true
	case TypeEmail:
		if buf, ok = format.AppendEmailWithLowerDomain(buf, text); !ok {
			return text, buf, false
		}
		return buf[start:len(buf):len(buf)], buf, true
	case TypeDate:
		_, ok = format.ParseDate(text)
	case TypeState:
		state := ParseUSStateCode(text)
		if state == NoState {
			state = parseUSStateCodeIgnoringCase(trimSpaceAndZeroWidth(text))
		}
		text, ok = state.codeText(), state != NoState
	case TypeEnum:
		text, buf = r.findEnumValueIgnoringCase(text, buf)
		ok = format.IsPrintableText(text)
	case TypeZIP:
		ok = format.IsZIP5OrZIPPlus4(text)
	case TypeURL, typeHTTPS:
		ok = format.IsURL(text, r.fieldType == typeHTTPS)
	case typeTimestamp:
		_, ok = format.ParseTimestampClamped(text)
	default:
		ok = format.IsPrintableText(text)
	}
	return text, buf, ok
}

// findEnumValueIgnoringCase returns the configured value that equals the text, or else the only one that
// equals it without the white space at its ends and without regard to ASCII case. Otherwise it returns the
// text. It uses buf as scratch memory and returns it, possibly grown.
func (r *fieldRule) findEnumValueIgnoringCase(text, buf []byte) (value, grown []byte) {
	if _, exact := r.values[string(text)]; exact {
		return text, buf
	}
	trimmed, start := trimSpaceAndZeroWidth(text), len(buf)
	if _, exact := r.values[string(trimmed)]; exact {
		return trimmed, buf
	}
	buf = format.AppendLowerASCII(buf, trimmed)
	if value := r.valueByLowerCase[string(buf[start:])]; value != nil {
		text = value
	}
	return text, buf[:start]
}

// checkEnumLengthAndPattern checks the text against the enum's values, the lengths and the pattern of the
// field. errorCode is empty on success.
func (r *fieldRule) checkEnumLengthAndPattern(text []byte) (errorCode string) {
	if r.values != nil {
		if _, ok := r.values[string(text)]; !ok {
			return errcode.FieldNotAllowedValue
		}
	}
	if length := utf8.RuneCount(text); length > r.maxLength {
		return errcode.FieldTooLong
	} else if length < r.minLength {
		return errcode.FieldInvalidFormat
	}
	if r.pattern != nil && !r.pattern.Match(text) {
		return errcode.FieldInvalidFormat
	}
	return ""
}

const (
	maxListed      = 12  // values of an enum that an error lists
	maxListedBytes = 200 // of those values
)

var expectedForms = [fieldTypeEnd]string{
	TypeString:    "a string",
	TypeInteger:   "an integer",
	TypeNumber:    "a number",
	TypeBoolean:   "true or false",
	TypeDate:      "a date of the form YYYY-MM-DD",
	TypeEmail:     "an email address, such as name@example.com",
	TypePhone:     "a phone number: ten US digits, or + and a country code",
	TypeState:     "a two-letter US state code in capitals, such as CA",
	TypeZIP:       "a ZIP code of five digits, or ZIP+4",
	TypeURL:       "an absolute http or https address",
	typeHTTPS:     "an https address",
	typeTimestamp: "a time as RFC 3339 has it, such as 2026-01-31T09:30:00Z",
}

// describeAcceptedValues returns in words which values the field accepts, for error messages.
func (r *fieldRule) describeAcceptedValues() string {
	if r.fieldType == TypeEnum {
		return r.expected
	}
	words := expectedForms[r.fieldType]
	words += describeLimits(" from %s", " to %s", " of at least %s", " of at most %s", r.describeConfiguredBound(r.number.minInteger, r.number.min), r.describeConfiguredBound(r.number.maxInteger, r.number.max))
	if r.fieldType.IsText() {
		words += r.describeLengthLimits()
	}
	if r.pattern != nil {
		words += " that matches the campaign's pattern"
	}
	return words
}

// describeConfiguredBound returns a min or max as text, or an empty string if it is not configured.
func (r *fieldRule) describeConfiguredBound(integerBound int64, floatBound float64) string {
	switch {
	case math.IsInf(floatBound, 0):
		return ""
	case r.fieldType == TypeInteger:
		return fmt.Sprint(integerBound)
	}
	return strconv.FormatFloat(floatBound, 'f', -1, 64)
}

// describeLengthLimits returns the limits of a text's length in words, or an empty string without
// limits.
func (r *fieldRule) describeLengthLimits() string {
	least, most := "", ""
	if r.minLength > 0 {
		least = fmt.Sprint(r.minLength)
	}
	if r.maxLength < r.maxBytes {
		most = fmt.Sprint(r.maxLength)
	}
	words := describeLimits(" of %s", " to %s", " of at least %s", " of at most %s", least, most)
	if words != "" {
		words += " characters"
	}
	return words
}

// describeLimits returns limits in words. It uses the formats fromFormat and toFormat if both
// limits exist, else atLeastFormat or atMostFormat. An empty limit does not exist.
func describeLimits(fromFormat, toFormat, atLeastFormat, atMostFormat, minimum, maximum string) string {
	switch {
	case minimum != "" && maximum != "":
		return fmt.Sprintf(fromFormat+toFormat, minimum, maximum)
	case minimum != "":
		return fmt.Sprintf(atLeastFormat, minimum)
	case maximum != "":
		return fmt.Sprintf(atMostFormat, maximum)
	}
	return ""
}

// describeEnumValues lists an enum's values for an error message, and cuts a long list.
func describeEnumValues(values []string) string {
	listed, size := 0, 0
	for listed < len(values) && listed < maxListed && size+len(values[listed]) <= maxListedBytes {
		size += len(values[listed])
		listed++
	}
	words := "one of " + strings.Join(values[:listed], ", ")
	if listed < len(values) {
		words = strings.TrimSuffix(words, " ") + " and others that the campaign lists"
	}
	return words
}
