package strictjson

import (
	"unicode/utf16"
	"unicode/utf8"

	"pingpost/engine/market/escape"
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
	r, ok := escape.ParseUnicodeEscape(s.body[s.at:])
	if !ok {
		return s.fail(badEscape)
	}
	if !utf16.IsSurrogate(r) {
		s.at += escape.UnicodeEscapeSize
		return nil
	}
	low, ok := escape.ParseUnicodeEscape(s.body[s.at+escape.UnicodeEscapeSize:])
	if !ok || utf16.DecodeRune(r, low) == utf8.RuneError {
		return s.fail(loneSurrogate)
	}
	s.at += 2 * escape.UnicodeEscapeSize
	return nil
}

// unquoted is the string that began at the quote at start and has just been
// walked. Without escapes it is a piece of the body.
func (s *scanner) unquoted(start int, escaped bool) []byte {
	raw := s.body[start+1 : s.at-1 : s.at-1]
	if !escaped {
		return raw
	}
	first := len(s.buf)
	s.buf = escape.AppendUnescaped(s.buf, raw)
	return s.buf[first:len(s.buf):len(s.buf)]
}
