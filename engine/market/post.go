package market

import "unicode/utf8"

// Where the known fields stand in a post's lead. The rest stand beside the
// names.
var (
	postAddress = [...]Slot{SlotLine1, SlotCity, SlotState, SlotZip}
	postConsent = [...]Slot{SlotConsentText, SlotConsentTimestamp, SlotIPAddress, SlotConsentCertURL}
	postName    = [...]Slot{SlotFirstName, SlotLastName, SlotEmail, SlotPhone}
	postRest    = [...]Slot{SlotSource, SlotTCPAConsent, SlotQualityScore}
)

// AppendPostLead appends the "lead" object of a post: lead_uuid, the names,
// email and phone; address and tcpa, each with what is known of it; then every
// further field that is known, under its name for buyers, and what the campaign
// keeps of unknown members. The lead was filled by this mapping.
func (m *Mapping) AppendPostLead(dst []byte, l *Lead, id LeadID) []byte {
	dst = append(dst, `{"lead_uuid":"`...)
	dst = id.AppendTo(dst)
	dst = append(dst, '"')
	for _, slot := range postName {
		dst = m.appendField(dst, l, slot)
	}
	dst = append(dst, `,"address":`...)
	dst = m.appendGroup(dst, l, postAddress[:])
	dst = append(dst, `,"tcpa":`...)
	dst = m.appendGroup(dst, l, postConsent[:])
	for _, slot := range postRest {
		dst = m.appendField(dst, l, slot)
	}
	for slot := FirstCustom; slot < Slot(len(m.rules)); slot++ {
		dst = m.appendField(dst, l, slot)
	}
	for i := range l.Extras {
		dst = append(dst, ',')
		dst = AppendJSONString(dst, l.Extras[i].Name)
		dst = append(dst, ':')
		dst = l.Extras[i].Value.AppendJSON(dst)
	}
	return append(dst, '}')
}

// appendGroup appends an object of those of the fields that are known.
func (m *Mapping) appendGroup(dst []byte, l *Lead, slots []Slot) []byte {
	start := len(dst)
	for _, slot := range slots {
		dst = m.appendField(dst, l, slot)
	}
	if len(dst) == start {
		return append(dst, "{}"...)
	}
	dst[start] = '{' // in place of the first member's comma
	return append(dst, '}')
}

// appendField appends a comma and the member, if the field is known.
func (m *Mapping) appendField(dst []byte, l *Lead, slot Slot) []byte {
	if l.Values[slot].Kind == KindAbsent {
		return dst
	}
	dst = append(dst, ',')
	dst = append(dst, m.rules[slot].key...)
	return l.Values[slot].AppendJSON(dst)
}

// PostPath is where a field stands in a post, as field_errors name it, such as
// lead.address.zip. The field is given by its arriving name; one that is no
// known field stands in the lead itself.
func PostPath(field string) string {
	slot, ok := knownSlot(field)
	if ok {
		for _, s := range postAddress {
			if s == slot {
				return "lead.address." + field
			}
		}
		for _, s := range postConsent {
			if s == slot {
				return "lead.tcpa." + field
			}
		}
	}
	return "lead." + field
}

// AppendJSON appends the value as JSON; null where it is absent.
func (v Value) AppendJSON(dst []byte) []byte {
	switch v.Kind {
	case KindAbsent:
		return append(dst, "null"...)
	case KindString:
		return AppendJSONString(dst, v.Text)
	}
	return append(dst, v.Text...)
}

// AppendJSONString appends the text as a JSON string. Bytes that are not UTF-8
// become U+FFFD.
func AppendJSONString(dst, s []byte) []byte {
	const hexDigits = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0 // of what can be copied as it is
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
