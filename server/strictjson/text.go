package strictjson

import (
	"unicode/utf16"
	"unicode/utf8"
)

// plain marks the bytes that a string can hold as they are and that need no
// second look: ASCII but for controls, the quote and the backslash.
var plain = func() (table [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

// text walks a string, both quotes included, and tells whether it has escapes.
func (s *scanner) text() (escaped bool, err *SyntaxError) {
	s.at++
	for s.at < len(s.body) {
		c := s.body[s.at]
		switch {
		case plain[c]:
			s.at++
		case c == '"':
			s.at++
			return escaped, nil
		case c == '\\':
			escaped = true
			if err := s.escape(); err != nil {
				return false, err
			}
		case c < ' ':
			return false, s.fail(rawControl)
		default:
			r, size := utf8.DecodeRune(s.body[s.at:])
			if r == utf8.RuneError && size == 1 {
				return false, s.fail(badUTF8)
			}
			s.at += size
		}
	}
	return false, s.fail(textEnds)
}

// escape walks one escape, or the two of a surrogate pair.
func (s *scanner) escape() *SyntaxError {
	if s.at+1 >= len(s.body) {
		return &SyntaxError{Offset: len(s.body), Message: textEnds}
	}
	switch s.body[s.at+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.at += 2
		return nil
	case 'u':
	default:
		return s.fail(badEscape)
	}
	r, ok := unit(s.body[s.at:])
	if !ok {
		return s.fail(badEscape)
	}
	if !utf16.IsSurrogate(r) {
		s.at += unitSize
		return nil
	}
	low, ok := unit(s.body[s.at+unitSize:])
	if !ok || utf16.DecodeRune(r, low) == utf8.RuneError {
		return s.fail(loneSurrogate)
	}
	s.at += 2 * unitSize
	return nil
}

const unitSize = len(`\u0000`)

// unit reads \uXXXX at the head of the text.
func unit(text []byte) (r rune, ok bool) {
	if len(text) < unitSize || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	for _, c := range text[2:unitSize] {
		switch {
		case c-'0' <= 9:
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

// unquoted is the string that began at the quote at start and has just been
// walked. Without escapes it is a piece of the body.
func (s *scanner) unquoted(start int, escaped bool) []byte {
	raw := s.body[start+1 : s.at-1 : s.at-1]
	if !escaped {
		return raw
	}
	first := len(s.buf)
	s.buf = appendUnescaped(s.buf, raw)
	return s.buf[first:len(s.buf):len(s.buf)]
}

// appendUnescaped resolves the escapes of a string that was walked before.
func appendUnescaped(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			dst = append(dst, raw[i])
			i++
			continue
		}
		if raw[i+1] != 'u' {
			dst = append(dst, unescaped(raw[i+1]))
			i += 2
			continue
		}
		r, _ := unit(raw[i:])
		i += unitSize
		if utf16.IsSurrogate(r) {
			low, _ := unit(raw[i:])
			r = utf16.DecodeRune(r, low)
			i += unitSize
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

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
