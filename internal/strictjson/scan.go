package strictjson

import "pingpost/engine/market"

// scanner reads a JSON text once, from front to back, and checks it. Its buffers names and buf
// grow with the largest text, until clearForReuse frees them.
type scanner struct {
	body       []byte
	at         int // the offset of the next byte
	depth      int
	ignoreCase bool         // names that differ only in case count as equal
	names      []memberName // of the open objects, the outermost first
	buf        []byte       // unescaped strings
}

func (s *scanner) setText(body []byte) { s.body, s.at, s.depth = body, 0, 0 }

func (s *scanner) clearForReuse() {
	clear(s.names)
	s.names, s.buf, s.body = s.names[:0], s.buf[:0], nil
	if cap(s.names) > maxKeptNames {
		s.names = nil
	}
	if cap(s.buf) > maxKeptBytes {
		s.buf = nil
	}
}

// newErrorOrTextEnds returns an error with this message at the scanner's offset. At the end of the text
// it replaces every message except wantObject by textEnds.
func (s *scanner) newErrorOrTextEnds(message string) *SyntaxError {
	if s.at >= len(s.body) && message != wantObject {
		message = textEnds
	}
	return &SyntaxError{Offset: s.at, Message: message}
}

// peekByte returns the next byte without consuming it, or 0 at the end of the text. No valid
// JSON contains a byte 0 outside strings.
func (s *scanner) peekByte() byte {
	if s.at < len(s.body) {
		return s.body[s.at]
	}
	return 0
}

// skipSpace moves past the white space that JSON allows between values.
func (s *scanner) skipSpace() {
	for s.at < len(s.body) {
		switch s.body[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// requireEndOfText returns an error if anything but white space follows the value.
func (s *scanner) requireEndOfText() *SyntaxError {
	s.skipSpace()
	if s.at < len(s.body) {
		return s.newErrorOrTextEnds(wantNoMore)
	}
	return nil
}

// enterObjectOrArray moves past an opening { or [ and the white space after it. It returns an error if
// the nesting is then too deep.
func (s *scanner) enterObjectOrArray() *SyntaxError {
	if s.depth == MaxDepth {
		return s.newErrorOrTextEnds(tooDeep)
	}
	s.depth++
	s.at++
	s.skipSpace()
	return nil
}

// scanObject reads an object at the scanner's offset. It adds the members to collect, or only
// checks them if collect is nil.
func (s *scanner) scanObject(collect *Object) *SyntaxError {
	if err := s.enterObjectOrArray(); err != nil {
		return err
	}
	first := len(s.names)
	for empty := s.peekByte() == '}'; !empty; {
		member, err := s.scanMember(first, collect != nil)
		if err != nil {
			return err
		}
		if collect != nil {
			collect.members = append(collect.members, member)
		}
		s.skipSpace()
		if s.peekByte() == '}' {
			break
		}
		if s.peekByte() != ',' {
			return s.newErrorOrTextEnds(wantNext)
		}
		s.at++
		s.skipSpace()
	}
	if err := s.checkRepeatedNamesIfMany(first); err != nil {
		return err
	}
	s.names = s.names[:first]
	s.at++
	s.depth--
	return nil
}

// scanMember reads one member of an object. The object's names so far begin at s.names[firstNameIndex].
// The member's text is filled in only if fillText is set; otherwise the member is only checked.
func (s *scanner) scanMember(firstNameIndex int, fillText bool) (m market.JSONMember, err *SyntaxError) {
	if s.peekByte() != '"' {
		return m, s.newErrorOrTextEnds(wantName)
	}
	at := s.at
	escaped, err := s.scanString()
	if err != nil {
		return m, err
	}
	m.Name = s.unquote(at, escaped)
	if err := s.addNameAndCheckIfFew(firstNameIndex, memberName{m.Name, at}); err != nil {
		return m, err
	}
	s.skipSpace()
	if s.peekByte() != ':' {
		return m, s.newErrorOrTextEnds(wantColon)
	}
	s.at++
	s.skipSpace()
	at = s.at
	m.Kind, escaped, err = s.scanValue()
	switch {
	case err != nil || !fillText:
	case m.Kind == market.JSONString:
		m.Text = s.unquote(at, escaped)
	default:
		m.Text = s.body[at:s.at:s.at]
	}
	return m, err
}

// scanValue reads a value of any kind, with everything nested in it. escaped is true for a
// string with escapes, which must be unquoted before use.
func (s *scanner) scanValue() (kind market.JSONKind, escaped bool, err *SyntaxError) {
	switch c := s.peekByte(); {
	case c == '"':
		escaped, err = s.scanString()
		return market.JSONString, escaped, err
	case c == '{':
		return market.JSONObject, false, s.scanObject(nil)
	case c == '[':
		return market.JSONArray, false, s.scanArray()
	case c == '-' || c-'0' <= 9:
		return market.JSONNumber, false, s.scanNumber()
	case c == 't':
		return market.JSONBoolean, false, s.scanWord("true")
	case c == 'f':
		return market.JSONBoolean, false, s.scanWord("false")
	case c == 'n':
		return market.JSONNull, false, s.scanWord("null")
	}
	return 0, false, s.newErrorOrTextEnds(wantValue)
}

func (s *scanner) scanArray() *SyntaxError {
	if err := s.enterObjectOrArray(); err != nil {
		return err
	}
	for empty := s.peekByte() == ']'; !empty; {
		if _, _, err := s.scanValue(); err != nil {
			return err
		}
		s.skipSpace()
		if s.peekByte() == ']' {
			break
		}
		if s.peekByte() != ',' {
			return s.newErrorOrTextEnds(wantElement)
		}
		s.at++
		s.skipSpace()
	}
	s.at++
	s.depth--
	return nil
}

func (s *scanner) scanWord(word string) *SyntaxError {
	rest := s.body[s.at:]
	if len(rest) < len(word) || string(rest[:len(word)]) != word {
		return &SyntaxError{Offset: s.at, Message: wantValue}
	}
	s.at += len(word)
	return nil
}

// scanNumber reads a number of the form -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)? and at
// most MaxNumber bytes.
func (s *scanner) scanNumber() *SyntaxError {
	start := s.at
	if s.peekByte() == '-' {
		s.at++
	}
	whole := s.at
	if !s.skipDigits() {
		return s.newErrorOrTextEnds(wantDigit)
	}
	if s.body[whole] == '0' && s.at-whole > 1 {
		return &SyntaxError{Offset: whole, Message: leadingZero}
	}
	if s.peekByte() == '.' {
		s.at++
		if !s.skipDigits() {
			return s.newErrorOrTextEnds(wantDigit)
		}
	}
	if s.peekByte()|0x20 == 'e' {
		s.at++
		if c := s.peekByte(); c == '+' || c == '-' {
			s.at++
		}
		if !s.skipDigits() {
			return s.newErrorOrTextEnds(wantDigit)
		}
	}
	if s.at-start > MaxNumber {
		return &SyntaxError{Offset: start, Message: longNumber}
	}
	return nil
}

// skipDigits skips digits and reports whether there was at least one.
func (s *scanner) skipDigits() bool {
	start := s.at
	for s.at < len(s.body) && s.body[s.at]-'0' <= 9 {
		s.at++
	}
	return s.at > start
}
