package market

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"unicode"
	"unicode/utf8"

	"pingpost/engine/market/format"
)

// FieldTransform is a configured operation that rewrites the text of a field.
//
// The transforms of a field run in the configured order. Cleaning transforms (trim, lower, upper,
// digits, title, e164) run before the field is checked, so that "ca" with upper is a state.
// Transforms that remove information (zip3, sha256), and all transforms after one of them, run
// after the checks, which therefore see the supplier's value. Filters, pings and posts use the
// final result.
type FieldTransform uint8

const (
	TransformTrim   FieldTransform = 1 // white space and invisible characters at both ends
	TransformLower  FieldTransform = 2
	TransformUpper  FieldTransform = 3
	TransformDigits FieldTransform = 4 // only the digits 0 to 9 are left
	TransformTitle  FieldTransform = 5 // a capital at the start of each word, the rest lower case
	TransformE164   FieldTransform = 6 // a phone number in E.164 form
	TransformZIP3   FieldTransform = 7 // the first three digits of a ZIP code
	TransformSHA256 FieldTransform = 8 // lower-case hex of the hash
	transformEnd    FieldTransform = 9
)

var transformNames = [transformEnd]string{
	"", "trim", "lower", "upper", "digits", "title", "e164", "zip3", "sha256",
}

func (t FieldTransform) String() string { return EnumName(transformNames[:], int(t), "") }

// ParseTransform returns the transform with the configured name, or an error that lists the
// names.
func ParseTransform(name string) (FieldTransform, error) {
	for t := TransformTrim; t < transformEnd; t++ {
		if transformNames[t] == name {
			return t, nil
		}
	}
	return 0, fmt.Errorf("%q is not a transform: use trim, lower, upper, digits, title, e164, zip3 or sha256", name)
}

// splitTransformsAroundChecks splits a field's transforms into those that run before the field's
// checks, and those that run after them. See FieldTransform.
func splitTransformsAroundChecks(all []FieldTransform) (beforeChecks, afterChecks []FieldTransform) {
	for i, t := range all {
		if t == TransformZIP3 || t == TransformSHA256 {
			return all[:i], all[i:]
		}
	}
	return all, nil
}

// ApplyToText returns the transformed text. It writes new text behind the content of buf, the
// lead's buffer, and returns the grown buffer. Texts that were written there before stay valid.
// ok is false if the transform cannot be applied to the text, for example if e164 finds no phone
// number.
func (t FieldTransform) ApplyToText(text, buf []byte) (result, grown []byte, ok bool) {
	start := len(buf)
	switch t {
	case TransformTrim:
		return trimSpaceAndZeroWidth(text), buf, true
	case TransformLower:
		buf = appendMappedRunes(buf, text, unicode.ToLower)
	case TransformUpper:
		buf = appendMappedRunes(buf, text, unicode.ToUpper)
	case TransformDigits:
		for _, c := range text {
			if format.IsDigit(c) {
				buf = append(buf, c)
			}
		}
		ok = len(buf) > start
		return buf[start:len(buf):len(buf)], buf, ok
	case TransformTitle:
		buf = appendTitleCase(buf, text)
	case TransformE164:
		if buf, ok = format.AppendPhoneAsE164(buf, text); !ok {
			return text, buf, false
		}
	case TransformZIP3:
		zip3 := format.ZIPPrefix3(text)
		return zip3, buf, zip3 != nil
	case TransformSHA256:
		sum := sha256.Sum256(text)
		buf = hex.AppendEncode(buf, sum[:])
	default:
		panic(fmt.Sprintf("BUG: transform %d", t))
	}
	return buf[start:len(buf):len(buf)], buf, true
}

// appendMappedRunes appends the text with each character replaced by the result of change.
func appendMappedRunes(dst, text []byte, change func(rune) rune) []byte {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		dst = utf8.AppendRune(dst, change(r))
		text = text[size:]
	}
	return dst
}

// appendTitleCase appends the text with a capital at the start of each word and lower case after it.
// Letters, digits and apostrophes are parts of a word. An apostrophe after the first letter
// begins a new word: O'Neil, but Matt's.
func appendTitleCase(dst, text []byte) []byte {
	letters := 0 // of the word so far
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		apostrophe := r == '\'' || r == '\u2019'
		switch {
		case unicode.IsLetter(r) && letters == 0:
			r = unicode.ToTitle(r)
		default:
			r = unicode.ToLower(r)
		}
		dst = utf8.AppendRune(dst, r)
		switch {
		case apostrophe && letters == 1:
			letters = 0
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), apostrophe:
			letters++
		default:
			letters = 0
		}
	}
	return dst
}

// trimSpaceAndZeroWidth removes white space and invisible characters from both ends.
func trimSpaceAndZeroWidth(text []byte) []byte { return bytes.TrimFunc(text, isSpaceOrZeroWidth) }

// isBlank reports whether the text has no visible character.
func isBlank(text []byte) bool {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if !isSpaceOrZeroWidth(r) {
			return false
		}
		text = text[size:]
	}
	return true
}

// isSpaceOrZeroWidth reports whether the rune is white space or has no width.
func isSpaceOrZeroWidth(r rune) bool {
	switch r {
	case '\u180E', '\u200B', '\u200C', '\u200D', '\u2060', '\uFEFF':
		return true
	}
	return unicode.IsSpace(r)
}
