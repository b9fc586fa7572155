package strictjson

import "pingpost/engine/market"

// scanner walks a text once, front to back. It owns names and buf; both grow to
// what the largest text needed and are cut back by release.
type scanner struct {
	body  []byte
	at    int // the next byte
	depth int
	folds bool   // names that differ in case alone are repeated, too
	names []name // of the objects that are open, the outermost first
	buf   []byte // strings whose escapes were resolved
}

func (s *scanner) start(body []byte) { s.body, s.at, s.depth = body, 0, 0 }

func (s *scanner) release() {
	clear(s.names)
	s.names, s.buf, s.body = s.names[:0], s.buf[:0], nil
	if cap(s.names) > keptNames {
		s.names = nil
	}
	if cap(s.buf) > keptBytes {
		s.buf = nil
	}
}

// fail is the message at the byte where the scanner stands, unless the text has
// ended there.
func (s *scanner) fail(message string) *SyntaxError {
	if s.at >= len(s.body) && message != wantObject {
		message = textEnds
	}
	return &SyntaxError{Offset: s.at, Message: message}
}

// peek is the next byte, or 0 at the end; 0 is no part of JSON's grammar.
func (s *scanner) peek() byte {
	if s.at < len(s.body) {
		return s.body[s.at]
	}
	return 0
}

func (s *scanner) space() {
	for s.at < len(s.body) {
		switch s.body[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// end makes sure that nothing follows.
func (s *scanner) end() *SyntaxError {
	s.space()
	if s.at < len(s.body) {
		return s.fail(wantNoMore)
	}
	return nil
}

func (s *scanner) enter() *SyntaxError {
	if s.depth == MaxDepth {
		return s.fail(tooDeep)
	}
	s.depth++
	s.at++
	s.space()
	return nil
}

// object walks an object whose bracket is next. Its members are collected where
// somebody wants them.
func (s *scanner) object(collect *Object) *SyntaxError {
	if err := s.enter(); err != nil {
		return err
	}
	first := len(s.names)
	for empty := s.peek() == '}'; !empty; {
		member, err := s.member(first, collect != nil)
		if err != nil {
			return err
		}
		if collect != nil {
			collect.members = append(collect.members, member)
		}
		s.space()
		if s.peek() == '}' {
			break
		}
		if s.peek() != ',' {
			return s.fail(wantNext)
		}
		s.at++
		s.space()
	}
	if err := s.checkNames(first); err != nil {
		return err
	}
	s.names = s.names[:first]
	s.at++
	s.depth--
	return nil
}

// member walks one member of the object whose names begin at first. A string's
// escapes are resolved only if the member is wanted.
func (s *scanner) member(first int, wanted bool) (m market.Member, err *SyntaxError) {
	if s.peek() != '"' {
		return m, s.fail(wantName)
	}
	at := s.at
	escaped, err := s.text()
	if err != nil {
		return m, err
	}
	m.Name = s.unquoted(at, escaped)
	if err := s.addName(first, name{m.Name, at}); err != nil {
		return m, err
	}
	s.space()
	if s.peek() != ':' {
		return m, s.fail(wantColon)
	}
	s.at++
	s.space()
	at = s.at
	m.Kind, escaped, err = s.value()
	switch {
	case err != nil || !wanted:
	case m.Kind == market.JSONString:
		m.Text = s.unquoted(at, escaped)
	default:
		m.Text = s.body[at:s.at:s.at]
	}
	return m, err
}

// value walks any value. For a string it tells whether escapes are in it.
func (s *scanner) value() (kind market.JSONKind, escaped bool, err *SyntaxError) {
	switch c := s.peek(); {
	case c == '"':
		escaped, err = s.text()
		return market.JSONString, escaped, err
	case c == '{':
		return market.JSONObject, false, s.object(nil)
	case c == '[':
		return market.JSONArray, false, s.array()
	case c == '-' || c-'0' <= 9:
		return market.JSONNumber, false, s.number()
	case c == 't':
		return market.JSONBoolean, false, s.word("true")
	case c == 'f':
		return market.JSONBoolean, false, s.word("false")
	case c == 'n':
		return market.JSONNull, false, s.word("null")
	}
	return 0, false, s.fail(wantValue)
}

func (s *scanner) array() *SyntaxError {
	if err := s.enter(); err != nil {
		return err
	}
	for empty := s.peek() == ']'; !empty; {
		if _, _, err := s.value(); err != nil {
			return err
		}
		s.space()
		if s.peek() == ']' {
			break
		}
		if s.peek() != ',' {
			return s.fail(wantElement)
		}
		s.at++
		s.space()
	}
	s.at++
	s.depth--
	return nil
}

func (s *scanner) word(word string) *SyntaxError {
	rest := s.body[s.at:]
	if len(rest) < len(word) || string(rest[:len(word)]) != word {
		return &SyntaxError{Offset: s.at, Message: wantValue}
	}
	s.at += len(word)
	return nil
}

// number walks -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
func (s *scanner) number() *SyntaxError {
	start := s.at
	if s.peek() == '-' {
		s.at++
	}
	whole := s.at
	if !s.digits() {
		return s.fail(wantDigit)
	}
	if s.body[whole] == '0' && s.at-whole > 1 {
		return &SyntaxError{Offset: whole, Message: leadingZero}
	}
	if s.peek() == '.' {
		s.at++
		if !s.digits() {
			return s.fail(wantDigit)
		}
	}
	if s.peek()|0x20 == 'e' {
		s.at++
		if c := s.peek(); c == '+' || c == '-' {
			s.at++
		}
		if !s.digits() {
			return s.fail(wantDigit)
		}
	}
	if s.at-start > MaxNumber {
		return &SyntaxError{Offset: start, Message: longNumber}
	}
	return nil
}

// digits passes a run of digits and tells whether there was one.
func (s *scanner) digits() bool {
	start := s.at
	for s.at < len(s.body) && s.body[s.at]-'0' <= 9 {
		s.at++
	}
	return s.at > start
}
