package market

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendUnescaped appends what the inside of a JSON string says, without its
// quotes. The string was checked before: of one that was not, nothing panics, and
// an escape that is none says U+FFFD.
func AppendUnescaped(dst, raw []byte) []byte {
	for {
		at := bytes.IndexByte(raw, '\\')
		if at < 0 {
			return append(dst, raw...)
		}
		dst, raw = append(dst, raw[:at]...), raw[at:]
		switch {
		case len(raw) == 1:
			return utf8.AppendRune(dst, utf8.RuneError)
		case raw[1] != 'u':
			dst, raw = append(dst, unescaped(raw[1])), raw[2:]
			continue
		}
		r, ok := JSONUnit(raw)
		if !ok {
			return utf8.AppendRune(dst, utf8.RuneError)
		}
		raw = raw[JSONUnitSize:]
		if utf16.IsSurrogate(r) {
			low, ok := JSONUnit(raw)
			if r = utf16.DecodeRune(r, low); ok {
				raw = raw[JSONUnitSize:]
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
}

// JSONUnitSize is how many bytes \uXXXX has.
const JSONUnitSize = len(`\u0000`)

// JSONUnit reads \uXXXX at the head of a text: a character, or half of one.
func JSONUnit(text []byte) (r rune, ok bool) {
	if len(text) < JSONUnitSize || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	for _, c := range text[2:JSONUnitSize] {
		switch {
		case isDigit(c):
			c -= '0'
		case (c|0x20)-'a' <= 'f'-'a':
			c = (c | 0x20) - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// unescaped is the character that a letter behind a backslash stands for.
func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c // the quote and both slashes
}
