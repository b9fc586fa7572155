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
	ping     bool                // reject contact fields, and require only ping fields
	unknown  UnknownMemberPolicy // policy for members without a field
	pingLead *Lead               // the lead of the preceding ping, or nil
}

// FillLeadFromIngest reads the members of an ingest into the lead l, which must have been Reset to
// m.SlotCount(). For every failing field it appends an error to fieldErrors, in mapping order, and
// leaves the field absent. At most 100 errors for unknown members follow. It skips the members that
// select the campaign or buyer (flo_campaign_id and similar ones).
//
// A field is missing if it is not present, null, or a string of white space and invisible
// characters alone. A default replaces a missing field, even a required one.
//
// Strings have at most 4,096 bytes (consent_text 16,384, URLs 2,048) and no control
// characters except tabs and line ends. A number's size, exponent and digits have limits too.
func (m *FieldMapping) FillLeadFromIngest(l *Lead, members []JSONMember, fieldErrors []FieldError) []FieldError {
	return m.fillLead(l, members, leadFillOptions{unknown: m.unknown}, fieldErrors)
}

// FillLeadFromPing reads the members of a ping into the lead l, with the rules of
// FillLeadFromIngest and these differences:
//   - No member may be a contact field, at any depth and in any spelling.
//   - Only fields that are sent in pings can be required.
//   - zip3, the first three digits, replaces a missing zip.
//   - Members of a ping that are not fields are skipped (auction_id, vertical, sub_vertical,
//     expires_at).
//
// unknownPolicy is the policy for unknown members; zero means the mapping's own policy.
func (m *FieldMapping) FillLeadFromPing(l *Lead, members []JSONMember, unknownPolicy UnknownMemberPolicy, fieldErrors []FieldError) []FieldError {
	if unknownPolicy == 0 {
		unknownPolicy = m.unknown
	}
	return m.fillLead(l, members, leadFillOptions{ping: true, unknown: unknownPolicy}, fieldErrors)
}

// FillLeadFromPost reads the members of a post's lead into l, with the rules of FillLeadFromIngest. The
// caller has moved the members of address and tcpa to the top level. FieldPathInSupplierPost converts a field's
// name in an error back to its path.
//
// A field that is missing from the post comes from pingLead, the lead of the preceding ping. A
// mapping with the same fields has filled pingLead, and pingLead must live as long as l.
func (m *FieldMapping) FillLeadFromPost(l *Lead, members []JSONMember, pingLead *Lead, fieldErrors []FieldError) []FieldError {
	return m.fillLead(l, members, leadFillOptions{unknown: m.unknown, pingLead: pingLead}, fieldErrors)
}

// fillLead reads the members of a request into the lead by the options of its kind.
func (m *FieldMapping) fillLead(l *Lead, members []JSONMember, options leadFillOptions, fieldErrors []FieldError) []FieldError {
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
		present := i > 0 && !members[i-1].CountsAsMissing()
		if present {
			fieldErrors = m.fillSlotFromMember(l, LeadFieldIndex(slot), &members[i-1], options, fieldErrors)
		}
		if LeadFieldIndex(slot) == SlotZip && zip3 >= 0 && !members[zip3].CountsAsMissing() {
			fieldErrors = l.fillZIPFromZIP3(&members[zip3], present, fieldErrors)
		} else if !present {
			fieldErrors = m.fillMissingFromPingOrDefault(l, LeadFieldIndex(slot), options, fieldErrors)
		}
	}
	if unknowns && (options.ping || options.unknown != UnknownDrop) {
		fieldErrors = m.keepDropOrRejectUnknownMembers(l, members, options, fieldErrors)
	}
	return fieldErrors
}

// fillSlotFromMember checks one member of the request and stores it as the value of the field
// slot, or appends an error to fieldErrors.
func (m *FieldMapping) fillSlotFromMember(l *Lead, slot LeadFieldIndex, member *JSONMember, options leadFillOptions, fieldErrors []FieldError) []FieldError {
	r := &m.rules[slot]
	if options.ping && r.contact {
		return append(fieldErrors, newContactFieldError(string(member.Name)))
	}
	value, buf, code := r.parseMember(member, l.buf)
	l.buf = buf
	if code != "" {
		return append(fieldErrors, FieldError{Field: string(member.Name), Code: code, Expected: r.expected})
	}
	l.Values[slot] = value
	return fieldErrors
}

// fillZIPFromZIP3 stores a ping's member zip3 as the value of the zip field, unless the ping also
// has a zip (hasZIP). It appends an error to fieldErrors if zip3 is not three digits, in both cases.
func (l *Lead) fillZIPFromZIP3(member *JSONMember, hasZIP bool, fieldErrors []FieldError) []FieldError {
	var code string
	switch {
	case member.Kind != JSONString:
		code = errcode.FieldWrongType
	case !format.IsZIP3(member.Text):
		code = errcode.FieldInvalidFormat
	default:
		if !hasZIP {
			l.Values[SlotZip] = FieldValue{Kind: KindString, Text: member.Text}
		}
		return fieldErrors
	}
	return append(fieldErrors, FieldError{Field: "zip3", Code: code, Expected: "the first three digits of a ZIP code"})
}

// fillMissingFromPingOrDefault fills a field that the request lacks: from the lead of the preceding
// ping, else from the default. A required field without either is an error.
func (m *FieldMapping) fillMissingFromPingOrDefault(l *Lead, slot LeadFieldIndex, options leadFillOptions, fieldErrors []FieldError) []FieldError {
	r := &m.rules[slot]
	if options.pingLead != nil && int(slot) < len(options.pingLead.Values) {
		value := options.pingLead.Values[slot]
		if value.Kind != KindAbsent && (slot != SlotZip || format.IsZIP5OrZIPPlus4(value.Text)) {
			l.Values[slot] = value
			return fieldErrors
		}
	}
	if options.ping && r.contact {
		return fieldErrors
	}
	if r.defaultValue.Kind != KindAbsent {
		l.Values[slot] = r.defaultValue
		return fieldErrors
	}
	if r.required && (!options.ping || r.ping) {
		fieldErrors = append(fieldErrors, FieldError{Field: r.arrivalName, Code: errcode.FieldMissingRequired, Expected: r.expected})
	}
	return fieldErrors
}

// AppendMissingFieldErrors appends an error to fieldErrors for each of requiredSlots that the lead
// lacks, unless fieldErrors has one already. Callers use it for fields that a request requires and
// the campaign does not.
func (m *FieldMapping) AppendMissingFieldErrors(l *Lead, fieldErrors []FieldError, requiredSlots ...LeadFieldIndex) []FieldError {
next:
	for _, slot := range requiredSlots {
		r := &m.rules[slot]
		if l.Values[slot].Kind != KindAbsent {
			continue
		}
		for i := range fieldErrors {
			if fieldErrors[i].Field == r.arrivalName {
				continue next
			}
		}
		fieldErrors = append(fieldErrors, FieldError{Field: r.arrivalName, Code: errcode.FieldMissingRequired, Expected: r.expected})
	}
	return fieldErrors
}

// keepDropOrRejectUnknownMembers keeps, drops or rejects the members that are no field of the campaign, by
// the policy in options. In a ping it rejects those that contain contact fields.
func (m *FieldMapping) keepDropOrRejectUnknownMembers(l *Lead, members []JSONMember, options leadFillOptions, fieldErrors []FieldError) []FieldError {
	limit := len(fieldErrors) + maxUnknownErrors
	for i := range members {
		member := &members[i]
		_, mapped := m.byArrivalName[string(member.Name)]
		if mapped || member.CountsAsMissing() || selectsCampaignSupplierPingOrBuyer(member.Name) || options.ping && isPingMetadataMember(member.Name) {
			continue
		}
		if len(fieldErrors) >= limit {
			return fieldErrors
		}
		if options.ping {
			if path := m.findContactFieldPath(member); path != "" {
				fieldErrors = append(fieldErrors, newContactFieldError(path))
				continue
			}
		}
		switch options.unknown {
		case UnknownReject:
			fieldErrors = append(fieldErrors, FieldError{Field: ShortenMemberName(member.Name), Code: errcode.FieldUnknownField, Expected: "a field that the campaign knows"})
		case UnknownKeep:
			m.keepUnknownMemberForBuyers(l, member)
		}
	}
	return fieldErrors
}

// keepUnknownMemberForBuyers adds the member to the lead's Extras, which posts carry unchanged. Pings
// to buyers carry them too if a ping filled the lead. It drops a member whose name has another meaning
// for buyers.
func (m *FieldMapping) keepUnknownMemberForBuyers(l *Lead, member *JSONMember) {
	if _, taken := m.byBuyerName[string(member.Name)]; taken || isNameReservedInBuyerRequests(member.Name) {
		return
	}
	value := FieldValue{Text: member.Text}
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
	l.Extras = append(l.Extras, KeptUnknownMember{Name: member.Name, Value: value})
}

// ShortenMemberName returns a member's name for an error message, cut off after maxFieldName
// bytes.
func ShortenMemberName(memberName []byte) string {
	if len(memberName) <= maxFieldName {
		return string(memberName)
	}
	return strings.ToValidUTF8(string(memberName[:maxFieldName]), "") + "…"
}

// newContactFieldError returns the error for a contact field in a ping. path is the field's path.
func newContactFieldError(path string) FieldError {
	return FieldError{Field: path, Code: errcode.FieldContactFieldNotAllowed, Expected: "no contact details: a ping never carries a person"}
}
