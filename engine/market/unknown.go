package market

import (
	"strings"

	"pingpost/api/errcode"
)

// fillUnknown deals with the members that no field of the mapping is for.
func (m *Mapping) fillUnknown(l *Lead, members []Member, f filling, dst []FieldError) []FieldError {
	limit := len(dst) + maxUnknownErrors
	for i := range members {
		member := &members[i]
		_, mapped := m.arrive[string(member.Name)]
		if mapped || member.Missing() || addressing(member.Name) || f.ping && framesPing(member.Name) {
			continue
		}
		if len(dst) >= limit {
			return dst
		}
		if f.ping {
			if path := m.findContact(member); path != "" {
				dst = append(dst, contactError(path))
				continue
			}
		}
		switch f.unknown {
		case UnknownReject:
			dst = append(dst, FieldError{Field: shortName(member.Name), Code: errcode.FieldUnknownField, Expected: "a field that the campaign knows"})
		case UnknownKeep:
			m.keep(l, member)
		}
	}
	return dst
}

// keep holds on to a member as it came, unless its name means something else
// towards buyers.
func (m *Mapping) keep(l *Lead, member *Member) {
	if _, taken := m.mapped[string(member.Name)]; taken || framing(member.Name) {
		return
	}
	value := Value{Text: member.Text}
	switch member.Kind {
	case JSONString:
		value.Kind = KindString
	case JSONNumber:
		value.Kind = KindNumber
	case JSONBoolean:
		value.Kind = KindBoolean
	default:
		value.Kind = KindRaw
	}
	l.Extras = append(l.Extras, Extra{Name: member.Name, Value: value})
}

// shortName is a member's name as an error may repeat it.
func shortName(name []byte) string {
	if len(name) <= maxFieldName {
		return string(name)
	}
	return strings.ToValidUTF8(string(name[:maxFieldName]), "") + "…"
}

func contactError(path string) FieldError {
	return FieldError{Field: path, Code: errcode.FieldContactFieldNotAllowed, Expected: "no contact details: a ping never carries a person"}
}
