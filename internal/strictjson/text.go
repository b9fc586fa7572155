package strictjson

import (
	"unicode/utf16"
	"unicode/utf8"

	"pingpost/engine/market/escape"
)

// isPlain marks the bytes of a string that need no further check: ASCII except controls, the
// quote and the backslash.
var isPlain = func() (table [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

// scanString reads a string with its quotes and checks its escapes and its UTF-8. escaped
// reports whether the string has escapes.
func (s *scanner) scanString() (escaped bool, err *SyntaxError) {
	s.at++
	for s.at < len(s.body) {
		c := s.body[s.at]
		switch {
		case isPlain[c]:
			s.at++
		case c == '"':
			s.at++
			return escaped, nil
		case c == '\\':
			escaped = true
			if err := s.scanEscape(); err != nil {
				return false, err
			}
		case c < ' ':
			return false, s.newErrorOrTextEnds(rawControl)
		default:
			r, size := utf8.DecodeRune(s.body[s.at:])
			if r == utf8.RuneError && size == 1 {
				return false, s.newErrorOrTextEnds(badUTF8)
			}
			s.at += size
		}
	}
	return false, s.newErrorOrTextEnds(textEnds)
}

// scanEscape reads one escape such as \n or \u00e4. For a surrogate pair it reads both escapes.
func (s *scanner) scanEscape() *SyntaxError {
	if s.at+1 >= len(s.body) {
		return &SyntaxError{Offset: len(s.body), Message: textEnds}
	}
	switch s.body[s.at+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.at += 2
		return nil
	case 'u':
	default:
		return s.newErrorOrTextEnds(badEscape)
	}
	r, ok := escape.ParseJSONUTF16Escape(s.body[s.at:])
	if !ok {
		return s.newErrorOrTextEnds(badEscape)
	}
	if !utf16.IsSurrogate(r) {
		s.at += escape.UnicodeEscapeSize
		return nil
	}
	low, ok := escape.ParseJSONUTF16Escape(s.body[s.at+escape.UnicodeEscapeSize:])
	if !ok || utf16.DecodeRune(r, low) == utf8.RuneError {
		return s.newErrorOrTextEnds(loneSurrogate)
	}
	s.at += 2 * escape.UnicodeEscapeSize
	return nil
}

// unquote returns the text of the string that starts at the offset start and ends at the
// scanner's offset. Without escapes the result points into the body; otherwise it is an
// unescaped copy.
func (s *scanner) unquote(start int, escaped bool) []byte {
	raw := s.body[start+1 : s.at-1 : s.at-1]
	if !escaped {
		return raw
	}
	first := len(s.buf)
	s.buf = escape.AppendJSONUnescaped(s.buf, raw)
	return s.buf[first:len(s.buf):len(s.buf)]
}
