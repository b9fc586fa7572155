package market

import (
	"regexp"
	"unicode/utf8"

	"pingpost/api/errcode"
)

const (
	maxText        = 4096  // bytes of a text, unless the field says less
	maxConsentText = 16384 // bytes of consent_text, which lawyers write
)

// rule is what a mapping knows of one field: a FieldSpec that was judged and
// compiled.
type rule struct {
	name, to string
	key      []byte // "to": as JSON has it
	kind     FieldType

	required, coerce, ping, contact bool

	before, after        []Transform // around the checks
	values               map[string]struct{}
	number               bounds
	minLength, maxLength int // characters
	maxBytes             int
	pattern              *regexp.Regexp

	fallback Value  // absent: none
	expected string // in words
}

// bounds are min and max, in both forms in which numbers are compared.
type bounds struct {
	min, max               float64
	minInteger, maxInteger int64
}

// read checks a member that is not missing and makes a value of it. Text that
// had to be rewritten is appended to buf, which is returned as it has grown. An
// empty code is success.
//
// A number in a string is taken by a field that coerces, and so is true or
// false in any case of letters; spaces around them do not count. The other way
// round, a field of text that coerces takes a number's digits as they came.
func (r *rule) read(m *Member, buf []byte) (v Value, grown []byte, code string) {
	switch {
	case r.kind == TypeBoolean && m.Kind == JSONBoolean:
		return Value{Kind: KindBoolean, Text: m.Text}, buf, ""
	case r.kind.numeric() && m.Kind == JSONNumber:
		return r.readNumeric(m.Text, buf)
	case r.kind.textual() && (m.Kind == JSONString || m.Kind == JSONNumber && r.coerce):
		return r.readText(m.Text, buf)
	case m.Kind == JSONString && r.coerce:
		return r.readCoerced(m.Text, buf)
	}
	return Value{}, buf, errcode.FieldWrongType
}

func (r *rule) readCoerced(text, buf []byte) (v Value, grown []byte, code string) {
	if len(text) > maxNumberText {
		return Value{}, buf, errcode.FieldTooLong
	}
	for _, t := range r.before {
		var ok bool
		if text, buf, ok = t.apply(text, buf); !ok {
			return Value{}, buf, errcode.FieldWrongType
		}
	}
	text = trim(text)
	if r.kind.numeric() {
		return r.readNumeric(text, buf)
	}
	var lower [len("false")]byte
	if len(text) > len(lower) {
		return Value{}, buf, errcode.FieldWrongType
	}
	switch string(AppendLower(lower[:0], text)) {
	case "true":
		return Value{Kind: KindBoolean, Text: textTrue}, buf, ""
	case "false":
		return Value{Kind: KindBoolean, Text: textFalse}, buf, ""
	}
	return Value{}, buf, errcode.FieldWrongType
}

var textTrue, textFalse = []byte("true"), []byte("false")

func (r *rule) readNumeric(text, buf []byte) (v Value, grown []byte, code string) {
	if r.kind == TypeNumber {
		f, code := readNumber(text)
		if code == "" && (f < r.number.min || f > r.number.max) {
			code = errcode.FieldOutOfRange
		}
		return Value{Kind: KindNumber, Text: text, Num: f}, buf, code
	}
	n, code := ReadInteger(text)
	if code == "" && (n < r.number.minInteger || n > r.number.maxInteger) {
		code = errcode.FieldOutOfRange
	}
	if code == "" && !plainInteger(text) {
		text, buf = appendInteger(buf, n)
	}
	return Value{Kind: KindInteger, Text: text, Num: float64(n)}, buf, code
}

func (r *rule) readText(text, buf []byte) (v Value, grown []byte, code string) {
	if len(text) > r.maxBytes {
		return Value{}, buf, errcode.FieldTooLong
	}
	var ok bool
	for _, t := range r.before {
		if text, buf, ok = t.apply(text, buf); !ok {
			return Value{}, buf, errcode.FieldInvalidFormat
		}
	}
	if text, buf, ok = r.canonical(text, buf); !ok {
		return Value{}, buf, errcode.FieldInvalidFormat
	}
	if code := r.judgeText(text); code != "" {
		return Value{}, buf, code
	}
	for _, t := range r.after {
		if text, buf, ok = t.apply(text, buf); !ok {
			return Value{}, buf, errcode.FieldInvalidFormat
		}
	}
	return Value{Kind: KindString, Text: text}, buf, ""
}

// canonical holds the text against the form of the field's type.
func (r *rule) canonical(text, buf []byte) (result, grown []byte, ok bool) {
	start := len(buf)
	switch r.kind {
	case TypePhone:
		if buf, ok = ParsePhone(buf, text); !ok {
			return text, buf, false
		}
		return buf[start:len(buf):len(buf)], buf, true
	case TypeEmail:
		if buf, ok = ParseEmail(buf, text); !ok {
			return text, buf, false
		}
		return buf[start:len(buf):len(buf)], buf, true
	case TypeDate:
		ok = isDate(text)
	case TypeState:
		ok = StateOf(text) != NoState
	case TypeZIP:
		ok = isZIP(text)
	case TypeURL, typeHTTPS:
		ok = isURL(text, r.kind == typeHTTPS)
	case typeTimestamp:
		ok = isTimestamp(text)
	default:
		ok = isPlainText(text)
	}
	return text, buf, ok
}

func (r *rule) judgeText(text []byte) (code string) {
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
