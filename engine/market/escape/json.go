package escape

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"

	"pingpost/engine/market/format"
)

// AppendJSONString appends the text s as a JSON string with quotes. Bytes that are not UTF-8
// become U+FFFD.
func AppendJSONString(dst, s []byte) []byte {
	const hexDigits = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0 // start of the bytes that are copied unchanged
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		size := 1
		if c >= utf8.RuneSelf {
			var r rune
			if r, size = utf8.DecodeRune(s[i:]); r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			if c < ' ' {
				dst = append(dst, `\u00`...)
				dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
			} else {
				dst = append(dst, "\uFFFD"...)
			}
		}
		i += size
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// AppendJSONEscapedWithoutQuotes appends the text escaped for the inside of a JSON string, without
// quotes.
func AppendJSONEscapedWithoutQuotes(dst, text []byte) []byte {
	start := len(dst)
	dst = AppendJSONString(dst, text)
	return append(dst[:start], dst[start+1:len(dst)-1]...)
}

// AppendJSONUnescaped appends the text that a JSON string means. raw is the string without its
// quotes; the caller has checked its grammar. Unchecked text causes no panic: an incomplete
// escape ends the result with U+FFFD.
func AppendJSONUnescaped(dst, raw []byte) []byte {
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
			dst, raw = append(dst, characterOfJSONEscape(raw[1])), raw[2:]
			continue
		}
		r, ok := ParseJSONUTF16Escape(raw)
		if !ok {
			return utf8.AppendRune(dst, utf8.RuneError)
		}
		raw = raw[UnicodeEscapeSize:]
		if utf16.IsSurrogate(r) {
			low, ok := ParseJSONUTF16Escape(raw)
			if r = utf16.DecodeRune(r, low); ok {
				raw = raw[UnicodeEscapeSize:]
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
}

// UnicodeEscapeSize is the length of \uXXXX in bytes.
const UnicodeEscapeSize = len(`\u0000`)

// ParseJSONUTF16Escape reads an escape \uXXXX at the start of the text. r is a character or half of
// a surrogate pair. ok is false if the text does not begin with an escape.
func ParseJSONUTF16Escape(text []byte) (r rune, ok bool) {
	if len(text) < UnicodeEscapeSize || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	for _, c := range text[2:UnicodeEscapeSize] {
		switch {
		case format.IsDigit(c):
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

// characterOfJSONEscape returns the character that a backslash and the letter mean in a JSON
// string.
func characterOfJSONEscape(letter byte) byte {
	switch letter {
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
	return letter // the quote and both slashes
}
