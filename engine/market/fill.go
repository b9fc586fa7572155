package market

import (
	"strings"

	"pingpost/api/errcode"
	"pingpost/engine/market/format"
)

// maxUnknownErrors bounds the number of unknown members that one answer lists.
const maxUnknownErrors = 100

// leadFillOptions selects the rules for one kind of request: an ingest, a ping or a post.
type leadFillOptions struct {
	ping     bool          // reject contact fields, and require only ping fields
	unknown  UnknownPolicy // policy for members without a field
	pingLead *Lead         // the lead of the preceding ping, or nil
}

// FillFromIngest reads an ingest into the lead, which must have been Reset to m.Slots(). It appends
// an error for every failing field to dst, in mapping order. Errors for unknown members
// follow. A failing field is absent from the lead. FillFromIngest skips the members that select the
// campaign or buyer (flo_campaign_id and similar ones).
//
// A field is missing if it is not present, null, or a string of white space and invisible
// characters alone. A default replaces a missing field, even a required one.
//
// Strings have at most 4,096 bytes (consent_text 16,384, addresses 2,048) and no control
// characters except tabs and line ends. A number's size, exponent and digits have limits
// too.
func (m *Mapping) FillFromIngest(l *Lead, members []Member, dst []FieldError) []FieldError {
	return m.fillLead(l, members, leadFillOptions{unknown: m.unknown}, dst)
}

// FillFromPing reads a ping. No member may be a contact field, at any depth and in any
// spelling; only ping fields can be required; zip3 replaces a missing zip. unknown is the
// policy for unknown members; zero means the mapping's own. FillFromPing skips the members
// of a ping that are not fields (auction_id, vertical, sub_vertical, expires_at).
func (m *Mapping) FillFromPing(l *Lead, members []Member, unknown UnknownPolicy, dst []FieldError) []FieldError {
	if unknown == 0 {
		unknown = m.unknown
	}
	return m.fillLead(l, members, leadFillOptions{ping: true, unknown: unknown}, dst)
}

// FillFromPost reads the lead of a post, with its address and tcpa flattened. Fields missing
// from the post come from the lead of its ping, which a mapping with the same fields has
// filled and which must live as long as this lead. Errors have the fields' own names: see
// PostPath.
func (m *Mapping) FillFromPost(l *Lead, members []Member, ping *Lead, dst []FieldError) []FieldError {
	return m.fillLead(l, members, leadFillOptions{unknown: m.unknown, pingLead: ping}, dst)
}

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

// fillSlotFromMember reads an arriving member into its slot.
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

// fillZIPFromZIP3 stores the three digits in the zip's slot, unless the ping also has a zip. It
// checks them in both cases.
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

// fillMissingSlot fills a missing field from the ping or the default.
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

// RequireFields reports the given fields that are missing and not reported yet: a request may
// require more than the campaign does.
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

// handleUnknownMembers applies the policy to members without a field.
func (m *Mapping) handleUnknownMembers(l *Lead, members []Member, options leadFillOptions, dst []FieldError) []FieldError {
	limit := len(dst) + maxUnknownErrors
	for i := range members {
		member := &members[i]
		_, mapped := m.byArrivalName[string(member.Name)]
		if mapped || member.IsMissing() || isRoutingMember(member.Name) || options.ping && isPingMetadataMember(member.Name) {
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

// keepUnknownMember stores a member unchanged, unless its name has another meaning for buyers.
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

// ShortenMemberName returns a member's name in the length that an error may have.
func ShortenMemberName(name []byte) string {
	if len(name) <= maxFieldName {
		return string(name)
	}
	return strings.ToValidUTF8(string(name[:maxFieldName]), "") + "…"
}

func newContactError(path string) FieldError {
	return FieldError{Field: path, Code: errcode.FieldContactFieldNotAllowed, Expected: "no contact details: a ping never carries a person"}
}
