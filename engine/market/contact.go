package market

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// isContact tells whether a member of this name would carry a person.
func (m *Mapping) isContact(name []byte) bool {
	var room [longestContact + utf8.UTFMax]byte
	_, ok := m.contact[string(appendPlain(room[:0], name))]
	return ok
}

// findContact looks for a contact field in a member that a ping would pass on:
// its own name, and the names at every depth of its value. It gives the first
// one's dotted path, or nothing.
func (m *Mapping) findContact(member *Member) string {
	if m.isContact(member.Name) {
		return shortName(member.Name)
	}
	if member.Kind != JSONObject && member.Kind != JSONArray {
		return ""
	}
	s := contactSearch{mapping: m, rest: member.Text}
	if s.value() {
		return shortName(member.Name) + s.path
	}
	return ""
}

// contactSearch walks JSON whose grammar and depth were checked, so it need not
// doubt what it meets. Were the check missing, it would end at the text's end.
type contactSearch struct {
	mapping *Mapping
	rest    []byte
	name    []byte // the last string, unescaped
	path    string // of what was found, written from the inside out
}

// value passes one value and tells whether a contact field was found in it.
func (s *contactSearch) value() bool {
	s.space()
	if len(s.rest) == 0 {
		return false
	}
	switch s.rest[0] {
	case '{':
		return s.object()
	case '[':
		return s.array()
	case '"':
		s.text()
		return false
	}
	end := bytes.IndexAny(s.rest, ",]}")
	if end < 0 {
		end = len(s.rest)
	}
	s.rest = s.rest[end:]
	return false
}

func (s *contactSearch) object() bool {
	for s.next('}') {
		name := s.rest
		s.text()
		if s.mapping.isContact(s.name) {
			s.path = "." + shortName(s.name)
			return true
		}
		s.skip() // the colon
		if s.value() {
			s.rest = name
			s.text()
			s.path = "." + shortName(s.name) + s.path
			return true
		}
	}
	return false
}

func (s *contactSearch) array() bool {
	for i := 0; s.next(']'); i++ {
		if s.value() {
			s.path = "." + strconv.Itoa(i) + s.path
			return true
		}
	}
	return false
}

// next passes the opening bracket or a comma; at the closing one it passes that
// and is done.
func (s *contactSearch) next(closing byte) bool {
	s.space()
	if len(s.rest) == 0 {
		return false
	}
	first := s.rest[0]
	s.rest = s.rest[1:]
	if first == closing {
		return false
	}
	s.space()
	if len(s.rest) > 0 && s.rest[0] == closing {
		s.rest = s.rest[1:]
		return false
	}
	return len(s.rest) > 0
}

func (s *contactSearch) skip() {
	s.space()
	if len(s.rest) > 0 {
		s.rest = s.rest[1:]
	}
}

func (s *contactSearch) space() { s.rest = bytes.TrimLeft(s.rest, " \t\r\n") }

// text passes a string and keeps its characters.
func (s *contactSearch) text() {
	end := 1
	for end < len(s.rest) && s.rest[end] != '"' {
		if s.rest[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end, len(s.rest))
	s.name = AppendUnescaped(s.name[:0], s.rest[min(1, end):end])
	s.rest = s.rest[min(end+1, len(s.rest)):]
}
