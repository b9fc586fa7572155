package market

import "pingpost/api/errcode"

// maxUnknownErrors bounds how many unknown members one request is told of.
const maxUnknownErrors = 100

// filling is what differs between the requests that a lead is filled from.
type filling struct {
	ping    bool    // contact fields are refused, and none but ping fields required
	unknown Unknown // what becomes of members without a field
	earlier *Lead   // the ping that came before, or nil
}

// Fill reads an ingest into the lead, which must have been Reset to m.Slots(),
// and appends every field that fails, in mapping order, unknown members last. A
// field that fails is absent from the lead. The members that address an ingest
// (flo_campaign_id and its like) are passed over.
//
// Missing is a field that is not there, that is null, or that is a string of
// nothing but white space and invisible characters. A default takes the place
// of what is missing, even if it is required.
//
// Strings are at most 4,096 bytes (consent_text 16,384, addresses 2,048) and
// hold no control characters but tabs and ends of lines. A number's size, its
// exponent and its digits are bounded likewise.
func (m *Mapping) Fill(l *Lead, members []Member, dst []FieldError) []FieldError {
	return m.fill(l, members, filling{unknown: m.unknown}, dst)
}

// FillPing reads a ping: no member may be a contact field, at any depth and
// however its name is spelt; only ping fields can be required; and zip3
// stands for the zip where that is not told. The rule for unknown members is
// the caller's, or with zero the mapping's own. The members that frame a ping
// (auction_id, vertical, sub_vertical, expires_at) are passed over.
func (m *Mapping) FillPing(l *Lead, members []Member, unknown Unknown, dst []FieldError) []FieldError {
	if unknown == 0 {
		unknown = m.unknown
	}
	return m.fill(l, members, filling{ping: true, unknown: unknown}, dst)
}

// FillPost reads the lead of a post, its address and its tcpa laid flat. What
// the post does not repeat is taken from the lead of its ping, which was filled
// by a mapping with the same fields and must stay as long as this one. The
// errors bear the fields' own names: see PostPath.
func (m *Mapping) FillPost(l *Lead, members []Member, ping *Lead, dst []FieldError) []FieldError {
	return m.fill(l, members, filling{unknown: m.unknown, earlier: ping}, dst)
}

func (m *Mapping) fill(l *Lead, members []Member, f filling, dst []FieldError) []FieldError {
	l.searched = f.ping
	unknowns, zip3 := false, -1
	for i := range members {
		slot, ok := m.arrive[string(members[i].Name)]
		switch {
		case ok:
			if l.from[slot] == 0 || string(members[i].Name) == m.rules[slot].name {
				l.from[slot] = int32(i) + 1
			}
		case f.ping && string(members[i].Name) == "zip3":
			zip3 = i
		default:
			unknowns = true
		}
	}
	for slot := range m.rules {
		i := l.from[slot]
		told := i > 0 && !members[i-1].Missing()
		if told {
			dst = m.take(l, Slot(slot), &members[i-1], f, dst)
		}
		if Slot(slot) == SlotZip && zip3 >= 0 && !members[zip3].Missing() {
			dst = l.takeZIP3(&members[zip3], told, dst)
		} else if !told {
			dst = m.supply(l, Slot(slot), f, dst)
		}
	}
	if unknowns && (f.ping || f.unknown != UnknownDrop) {
		dst = m.fillUnknown(l, members, f, dst)
	}
	return dst
}

// take puts what arrived into its slot.
func (m *Mapping) take(l *Lead, slot Slot, member *Member, f filling, dst []FieldError) []FieldError {
	r := &m.rules[slot]
	if f.ping && r.contact {
		return append(dst, contactError(string(member.Name)))
	}
	value, buf, code := r.read(member, l.buf)
	l.buf = buf
	if code != "" {
		return append(dst, FieldError{Field: string(member.Name), Code: code, Expected: r.expected})
	}
	l.Values[slot] = value
	return dst
}

// takeZIP3 lets three digits stand in the zip's slot, unless a zip was told as well.
// They are judged all the same.
func (l *Lead) takeZIP3(member *Member, zip bool, dst []FieldError) []FieldError {
	var code string
	switch {
	case member.Kind != JSONString:
		code = errcode.FieldWrongType
	case !isZIP3(member.Text):
		code = errcode.FieldInvalidFormat
	default:
		if !zip {
			l.Values[SlotZip] = Value{Kind: KindString, Text: member.Text}
		}
		return dst
	}
	return append(dst, FieldError{Field: "zip3", Code: code, Expected: "the first three digits of a ZIP code"})
}

// supply finds a value for a field that is missing: the ping's, or the default.
func (m *Mapping) supply(l *Lead, slot Slot, f filling, dst []FieldError) []FieldError {
	r := &m.rules[slot]
	if f.earlier != nil && int(slot) < len(f.earlier.Values) {
		value := f.earlier.Values[slot]
		if value.Kind != KindAbsent && (slot != SlotZip || isZIP(value.Text)) {
			l.Values[slot] = value
			return dst
		}
	}
	if f.ping && r.contact {
		return dst
	}
	if r.fallback.Kind != KindAbsent {
		l.Values[slot] = r.fallback
		return dst
	}
	if r.required && (!f.ping || r.ping) {
		dst = append(dst, FieldError{Field: r.name, Code: errcode.FieldMissingRequired, Expected: r.expected})
	}
	return dst
}

// Require reports those of the fields that the lead does not have and that have
// not been reported yet: a request may want more than the campaign does.
func (m *Mapping) Require(l *Lead, dst []FieldError, slots ...Slot) []FieldError {
next:
	for _, slot := range slots {
		r := &m.rules[slot]
		if l.Values[slot].Kind != KindAbsent {
			continue
		}
		for i := range dst {
			if dst[i].Field == r.name {
				continue next
			}
		}
		dst = append(dst, FieldError{Field: r.name, Code: errcode.FieldMissingRequired, Expected: r.expected})
	}
	return dst
}
