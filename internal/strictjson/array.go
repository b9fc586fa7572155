package strictjson

import "pingpost/engine/market"

// Elements lists what stands in a member that is an array, as members without
// names, up to so many; ok: it is an array. Of one that has more there is one
// element over. Strings with escapes have memory of their own, all else aliases
// the member.
func Elements(m market.Member, most int) (elements []market.Member, ok bool) {
	if m.Kind != market.JSONArray {
		return nil, false
	}
	s := scanner{body: m.Text}
	if s.enter() != nil {
		return nil, false
	}
	for s.peek() != ']' && len(elements) <= most {
		at := s.at
		kind, escaped, err := s.value()
		if err != nil {
			return nil, false
		}
		element := market.Member{Kind: kind, Text: s.body[at:s.at:s.at]}
		if kind == market.JSONString {
			element.Text = s.unquoted(at, escaped)
		}
		elements = append(elements, element)
		s.space()
		if s.peek() == ',' {
			s.at++
			s.space()
		}
	}
	return elements, true
}
