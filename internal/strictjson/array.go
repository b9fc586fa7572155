package strictjson

import "pingpost/engine/market"

// ParseElements returns the elements of an array as members without names. ok is false if m is
// not an array. It returns at most limit+1 elements, so that the caller can detect an array
// that is too long.
//
// Strings with escapes are copies. All other elements point into the memory of m.
func ParseElements(m market.JSONMember, limit int) (elementsToOneOverLimit []market.JSONMember, isValidArray bool) {
	if m.Kind != market.JSONArray {
		return nil, false
	}
	s := scanner{body: m.Text}
	if s.enterObjectOrArray() != nil {
		return nil, false
	}
	for s.peekByte() != ']' && len(elementsToOneOverLimit) <= limit {
		at := s.at
		kind, escaped, err := s.scanValue()
		if err != nil {
			return nil, false
		}
		element := market.JSONMember{Kind: kind, Text: s.body[at:s.at:s.at]}
		if kind == market.JSONString {
			element.Text = s.unquote(at, escaped)
		}
		elementsToOneOverLimit = append(elementsToOneOverLimit, element)
		s.skipSpace()
		if s.peekByte() == ',' {
			s.at++
			s.skipSpace()
		}
	}
	return elementsToOneOverLimit, true
}
