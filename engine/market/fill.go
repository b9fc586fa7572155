package market

import (
	"strings"

	"pingpost/api/errcode"
	"pingpost/engine/market/format"
)

// maxUnknownErrors is the maximum number of unknown members that one answer reports.
const maxUnknownErrors = 100

// leadFillOptions selects the rules for one kind of request (ingest, ping or post) when a lead is
// filled.
type leadFillOptions struct {
	ping     bool          // reject contact fields, and require only ping fields
	unknown  UnknownPolicy // policy for members without a field
	pingLead *Lead         // the lead of the preceding ping, or nil
}

// FillFromIngest reads the members of an ingest into the lead l, which must have been Reset to
// m.SlotCount(). For every failing field it appends an error to dst, in mapping order, and leaves
// the field absent. Errors for unknown members follow. It skips the members that select the
// campaign or buyer (flo_campaign_id and similar ones).
//
// A field is missing if it is not present, null, or a string of white space and invisible
// characters alone. A default replaces a missing field, even a required one.
//
// Strings have at most 4,096 bytes (consent_text 16,384, addresses 2,048) and no control
// characters except tabs and line ends. A number's size, exponent and digits have limits too.
func (m *Mapping) FillFromIngest(l *Lead, members []Member, dst []FieldError) []FieldError {
	return m.fillLead(l, members, leadFillOptions{unknown: m.unknown}, dst)
}

// FillFromPing reads the members of a ping into the lead l, with the rules of FillFromIngest and
// these differences:
//   - No member may be a contact field, at any depth and in any spelling.
//   - Only fields that are sent in pings can be required.
//   - zip3, the first three digits, replaces a missing zip.
//   - Members of a ping that are not fields are skipped (auction_id, vertical, sub_vertical,
//     expires_at).
//
// unknown is the policy for unknown members; zero means the mapping's own policy.
func (m *Mapping) FillFromPing(l *Lead, members []Member, unknown UnknownPolicy, dst []FieldError) []FieldError {
	if unknown == 0 {
		unknown = m.unknown
	}
	return m.fillLead(l, members, leadFillOptions{ping: true, unknown: unknown}, dst)
}

// FillFromPost reads the members of a post's lead into l, with the rules of FillFromIngest. The
// caller has moved the members of address and tcpa to the top level. PostPath converts a field's
// name in an error back to its path.
//
// A field that is missing from the post comes from ping, the lead of the preceding ping. A
// mapping with the same fields has filled ping, and ping must live as long as l.
func (m *Mapping) FillFromPost(l *Lead, members []Member, ping *Lead, dst []FieldError) []FieldError {
	return m.fillLead(l, members, leadFillOptions{unknown: m.unknown, pingLead: ping}, dst)
}

// fillLead reads the members of a request into the lead by the options of its kind.
func (m *Mapping) fillLead(l *Lead, members []Member, options leadFillOptions, dst []FieldError) []FieldError {
	l.fromPing = options.ping
	unknowns, zip3 := false, -1
	for i := range members {
		slot, ok := m.byArrivalName[string(members[i].Name)]
		switch {
		case ok:
			if l.memberOf[slot] == 0 || string(members[i].Name) == m.rules[slot].arrivalName {
				l.memberOf[slot] = int32(i) + 1
			}
		case options.ping && string(members[i].Name) == "zip3":
			zip3 = i
		default:
			unknowns = true
		}
	}
	for slot := range m.rules {
		i := l.memberOf[slot]
		present := i > 0 && !members[i-1].IsMissing()
		if present {
			dst = m.fillSlotFromMember(l, Slot(slot), &members[i-1], options, dst)
		}
		if Slot(slot) == SlotZip && zip3 >= 0 && !members[zip3].IsMissing() {
			dst = l.fillZIPFromZIP3(&members[zip3], present, dst)
		} else if !present {
			dst = m.fillMissingSlot(l, Slot(slot), options, dst)
		}
	}
	if unknowns && (options.ping || options.unknown != UnknownDrop) {
		dst = m.handleUnknownMembers(l, members, options, dst)
	}
	return dst
}

// fillSlotFromMember checks one member of the request and stores it as the value of the field
// slot, or appends an error to dst.
func (m *Mapping) fillSlotFromMember(l *Lead, slot Slot, member *Member, options leadFillOptions, dst []FieldError) []FieldError {
	r := &m.rules[slot]
	if options.ping && r.contact {
		return append(dst, newContactError(string(member.Name)))
	}
	value, buf, code := r.parseMember(member, l.buf)
	l.buf = buf
	if code != "" {
		return append(dst, FieldError{Field: string(member.Name), Code: code, Expected: r.expected})
	}
	l.Values[slot] = value
	return dst
}

// fillZIPFromZIP3 stores a ping's member zip3 as the value of the zip field, unless the ping also
// has a zip (hasZIP). It appends an error to dst if zip3 is not three digits, in both cases.
func (l *Lead) fillZIPFromZIP3(member *Member, hasZIP bool, dst []FieldError) []FieldError {
	var code string
	switch {
	case member.Kind != JSONString:
		code = errcode.FieldWrongType
	case !format.IsZIP3(member.Text):
		code = errcode.FieldInvalidFormat
	default:
		if !hasZIP {
			l.Values[SlotZip] = Value{Kind: KindString, Text: member.Text}
		}
		return dst
	}
	return append(dst, FieldError{Field: "zip3", Code: code, Expected: "the first three digits of a ZIP code"})
}

// fillMissingSlot fills a field that the request lacks: from the lead of the preceding ping, else
// from the default. A required field without either is an error.
func (m *Mapping) fillMissingSlot(l *Lead, slot Slot, options leadFillOptions, dst []FieldError) []FieldError {
	r := &m.rules[slot]
	if options.pingLead != nil && int(slot) < len(options.pingLead.Values) {
		value := options.pingLead.Values[slot]
		if value.Kind != KindAbsent && (slot != SlotZip || format.IsZIP(value.Text)) {
			l.Values[slot] = value
			return dst
		}
	}
	if options.ping && r.contact {
		return dst
	}
	if r.defaultValue.Kind != KindAbsent {
		l.Values[slot] = r.defaultValue
		return dst
	}
	if r.required && (!options.ping || r.ping) {
		dst = append(dst, FieldError{Field: r.arrivalName, Code: errcode.FieldMissingRequired, Expected: r.expected})
	}
	return dst
}

// RequireFields appends an error to dst for each of the fields slots that the lead lacks, unless
// dst has one already. Callers use it for fields that a request requires and the campaign does
// not.
func (m *Mapping) RequireFields(l *Lead, dst []FieldError, slots ...Slot) []FieldError {
next:
	for _, slot := range slots {
		r := &m.rules[slot]
		if l.Values[slot].Kind != KindAbsent {
			continue
		}
		for i := range dst {
			if dst[i].Field == r.arrivalName {
				continue next
			}
		}
		dst = append(dst, FieldError{Field: r.arrivalName, Code: errcode.FieldMissingRequired, Expected: r.expected})
	}
	return dst
}

// handleUnknownMembers keeps, drops or rejects the members that are no field of the campaign, by
// the policy in options. In a ping it rejects those that contain contact fields.
func (m *Mapping) handleUnknownMembers(l *Lead, members []Member, options leadFillOptions, dst []FieldError) []FieldError {
	limit := len(dst) + maxUnknownErrors
	for i := range members {
		member := &members[i]
		_, mapped := m.byArrivalName[string(member.Name)]
		if mapped || member.IsMissing() || isRoutingIDMember(member.Name) || options.ping && isPingMetadataMember(member.Name) {
			continue
		}
		if len(dst) >= limit {
			return dst
		}
		if options.ping {
			if path := m.findContactPath(member); path != "" {
				dst = append(dst, newContactError(path))
				continue
			}
		}
		switch options.unknown {
		case UnknownReject:
			dst = append(dst, FieldError{Field: ShortenMemberName(member.Name), Code: errcode.FieldUnknownField, Expected: "a field that the campaign knows"})
		case UnknownKeep:
			m.keepUnknownMember(l, member)
		}
	}
	return dst
}

// keepUnknownMember adds the member to the lead's Extras, which posts carry unchanged. It drops a
// member whose name has another meaning for buyers.
func (m *Mapping) keepUnknownMember(l *Lead, member *Member) {
	if _, taken := m.byBuyerName[string(member.Name)]; taken || isReservedMember(member.Name) {
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
	l.Extras = append(l.Extras, KeptMember{Name: member.Name, Value: value})
}

// ShortenMemberName returns a member's name for an error message, cut off after maxFieldName
// bytes.
func ShortenMemberName(name []byte) string {
	if len(name) <= maxFieldName {
		return string(name)
	}
	return strings.ToValidUTF8(string(name[:maxFieldName]), "") + "…"
}

// newContactError returns the error for a contact field in a ping. path is the field's path.
func newContactError(path string) FieldError {
	return FieldError{Field: path, Code: errcode.FieldContactFieldNotAllowed, Expected: "no contact details: a ping never carries a person"}
}
