package market_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/engine/market/format"
)

// fieldModel reads one member by the contract: one rule after the other, with strings and the
// standard library. Package format tests e-mail addresses, phones and numbers with other models.
type fieldModel struct{ market.FieldSpec }

// verdict is the result for a member: an error code, a value, or neither for a missing field.
type verdict struct {
	code  string
	value market.FieldValue
}

func (m *fieldModel) readMember(kind market.JSONKind, text string) (v verdict) {
	textual := !slices.Contains([]market.FieldType{market.TypeInteger, market.TypeNumber, market.TypeBoolean}, m.Type)
	switch {
	case m.Type == market.TypeBoolean && kind == market.JSONBoolean:
		v.value = market.FieldValue{Kind: market.KindBoolean, Text: []byte(text)}
	case textual && (kind == market.JSONString || kind == market.JSONNumber && m.Coerce):
		return m.text(text)
	case kind == market.JSONNumber && m.Type != market.TypeBoolean && !textual:
		return m.number(text)
	case kind == market.JSONString && m.Coerce:
		return m.coerced(text)
	default:
		v.code = errcode.FieldWrongType
	}
	return v
}

func (m *fieldModel) coerced(text string) (v verdict) {
	if len(text) > 128 {
		return verdict{code: errcode.FieldTooLong}
	}
	for _, transform := range m.Transforms {
		var ok bool
		if text, ok = applyTransform(transform, text); !ok {
			return verdict{code: errcode.FieldWrongType}
		}
	}
	text = strings.TrimFunc(text, isInvisible)
	if m.Type != market.TypeBoolean {
		return m.number(text)
	}
	switch text = string(format.AppendLowerASCII(nil, []byte(text))); text {
	case "true", "false":
		return verdict{value: market.FieldValue{Kind: market.KindBoolean, Text: []byte(text)}}
	}
	return verdict{code: errcode.FieldWrongType}
}

var numberForm = regexp.MustCompile(`\A-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?\z`)

func (m *fieldModel) number(text string) verdict {
	var value market.FieldValue
	var code string
	if m.Type == market.TypeInteger {
		var n int64
		n, code = format.ParseInteger([]byte(text))
		if code == "" && (m.Min != nil && n < integerOf(*m.Min) || m.Max != nil && n > integerOf(*m.Max)) {
			code = errcode.FieldOutOfRange
		}
		value = market.FieldValue{Kind: market.KindInteger, Text: strconv.AppendInt(nil, n, 10), Num: float64(n)}
	} else {
		var f float64
		f, code = format.ParseNumber([]byte(text))
		if code == "" && (m.Min != nil && f < floatOf(*m.Min) || m.Max != nil && f > floatOf(*m.Max)) {
			code = errcode.FieldOutOfRange
		}
		value = market.FieldValue{Kind: market.KindNumber, Text: []byte(text), Num: f}
	}
	if code != "" {
		return verdict{code: code}
	}
	return verdict{value: value}
}

func integerOf(text string) int64 { n, _ := format.ParseInteger([]byte(text)); return n }

func floatOf(text string) float64 { f, _ := strconv.ParseFloat(text, 64); return f }

func (m *fieldModel) text(text string) verdict {
	if m.Type == market.TypeURL && len(text) > 2048 || len(text) > 4096 {
		return verdict{code: errcode.FieldTooLong}
	}
	firstLossy := slices.IndexFunc(m.Transforms, func(t market.FieldTransform) bool {
		return t == market.TransformZIP3 || t == market.TransformSHA256
	})
	before, after := m.Transforms, []market.FieldTransform(nil)
	if firstLossy >= 0 {
		before, after = m.Transforms[:firstLossy], m.Transforms[firstLossy:]
	}
	ok := true
	for i := 0; i < len(before) && ok; i++ {
		text, ok = applyTransform(before[i], text)
	}
	if ok {
		text, ok = parseType(m.Type, text)
	}
	if m.Type == market.TypeEnum {
		text = findEnumValue(m.Values, text)
	}
	switch length := utf8.RuneCountInString(text); {
	case !ok:
		return verdict{code: errcode.FieldInvalidFormat}
	case m.Type == market.TypeEnum && !slices.Contains(m.Values, text):
		return verdict{code: errcode.FieldNotAllowedValue}
	case m.MaxLength != nil && length > *m.MaxLength, m.Type == market.TypeURL && length > 2048, length > 4096:
		return verdict{code: errcode.FieldTooLong}
	case m.MinLength != nil && length < *m.MinLength:
		return verdict{code: errcode.FieldInvalidFormat}
	}
	if m.Pattern != "" && !regexp.MustCompile("^(?:"+m.Pattern+")$").MatchString(text) {
		return verdict{code: errcode.FieldInvalidFormat}
	}
	for _, transform := range after {
		if text, ok = applyTransform(transform, text); !ok {
			return verdict{code: errcode.FieldInvalidFormat}
		}
	}
	return verdict{value: market.FieldValue{Kind: market.KindString, Text: []byte(text)}}
}

var (
	zipForm   = regexp.MustCompile(`\A([0-9]{3})[0-9]{2}(-[0-9]{4})?\z`)
	zip3Form  = regexp.MustCompile(`\A[0-9]{3}\z`)
	hostForm  = regexp.MustCompile(`\A[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*\z`)
	urlForm   = regexp.MustCompile(`\A(?i:https?)://([^/?#\[:]+|\[[^\]]*\])(:[0-9]{1,5})?([/?#]([!#$&'()*+,./0-9:;=?@A-Z\[\]_a-z~-]|%[0-9A-Fa-f]{2})*)?\z`)
	stateList = strings.Fields(`AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY
		DC AS GU MP PR VI FM MH PW AA AE AP`)
)

// parseType returns the normalized text, and whether the type accepts it.
func parseType(kind market.FieldType, text string) (string, bool) {
	switch kind {
	case market.TypePhone:
		number, ok := format.AppendPhoneAsE164(nil, []byte(text))
		return string(number), ok
	case market.TypeEmail:
		address, ok := format.AppendEmailWithLowerDomain(nil, []byte(text))
		return string(address), ok
	case market.TypeDate:
		at, err := time.Parse(time.DateOnly, text)
		return text, err == nil && at.Year() > 0
	case market.TypeState:
		if code := upperASCII(strings.TrimFunc(text, isInvisible)); slices.Contains(stateList, code) {
			return code, true
		}
		return text, false
	case market.TypeZIP:
		return text, zipForm.MatchString(text)
	case market.TypeURL:
		return text, isValidURL(text)
	}
	return text, utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r'
	})
}

// findEnumValue returns the configured value that is meant by the text, or the text itself.
func findEnumValue(values []string, text string) string {
	trimmed := strings.TrimFunc(text, isInvisible)
	var folded []string
	for _, value := range values {
		if upperASCII(value) == upperASCII(trimmed) {
			folded = append(folded, value)
		}
	}
	switch {
	case slices.Contains(values, text):
		return text
	case slices.Contains(values, trimmed):
		return trimmed
	case len(folded) == 1:
		return folded[0]
	}
	return text
}

func upperASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}, text)
}

func isValidURL(text string) bool {
	parts := urlForm.FindStringSubmatch(text)
	if parts == nil {
		return false
	}
	if port, err := strconv.Atoi(strings.TrimPrefix(parts[2], ":")); parts[2] != "" && (err != nil || port < 1 || port > 65535) {
		return false
	}
	if parts[1][0] != '[' {
		return len(parts[1]) <= 253 && hostForm.MatchString(parts[1])
	}
	inner := strings.Trim(parts[1], "[]")
	_, err := netip.ParseAddr(inner)
	return err == nil && !strings.ContainsAny(inner, ".%")
}

func isInvisible(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("\u180E\u200B\u200C\u200D\u2060\uFEFF", r)
}

func applyTransform(transform market.FieldTransform, text string) (string, bool) {
	switch transform {
	case market.TransformTrim:
		return strings.TrimFunc(text, isInvisible), true
	case market.TransformLower:
		return strings.ToLower(text), true
	case market.TransformUpper:
		return strings.Map(unicode.ToUpper, text), true
	case market.TransformDigits:
		text = regexp.MustCompile(`[^0-9]`).ReplaceAllString(text, "")
		return text, text != ""
	case market.TransformTitle:
		return wordForm.ReplaceAllStringFunc(text, func(word string) string { return titleCase([]rune(word)) }), true
	case market.TransformE164:
		return parseType(market.TypePhone, text)
	case market.TransformZIP3:
		if zip := zipForm.FindStringSubmatch(text); zip != nil {
			return zip[1], true
		}
		return text, zip3Form.MatchString(text)
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:]), true
}

var wordForm = regexp.MustCompile(`[\pL\p{Nd}\pM'\x{2019}]+`)

// titleCase capitalizes the first letter of a word, and the letter after an apostrophe in
// second position.
func titleCase(word []rune) string {
	if len(word) == 0 {
		return ""
	}
	first := unicode.ToLower(word[0])
	if unicode.IsLetter(word[0]) {
		first = unicode.ToTitle(word[0])
	}
	if len(word) > 1 && (word[1] == '\'' || word[1] == '\u2019') {
		return string(first) + string(word[1]) + titleCase(word[2:])
	}
	return string(first) + strings.Map(unicode.ToLower, string(word[1:]))
}
