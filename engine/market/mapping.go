package market

import (
	"maps"
	"slices"

	"pingpost/engine/market/format"
)

// FieldMapping converts the members of a request to a lead of one campaign. For each field it has the
// name in requests (arriving name), the checks, the slot in the lead and the name for buyers.
//
// NewFieldMapping compiles it from an operator's FieldMappingSpec; it never changes. The known
// fields come first, each in its own slot even if the campaign does not mention it. The campaign's
// own fields follow in the order of the configuration. This is "mapping order", in which failing
// fields are reported.
//
// A field of the campaign may
//   - have the name of a known field. Then it makes that field's rule stricter (required,
//     pattern, min …) or gives it a default. The type stays; if the known type is
//     string, an enum may narrow it.
//   - have the name of an optional known field for buyers (to: zip). Then it is that field,
//     which arrives under this name too. If both names arrive, the campaign's name counts.
type FieldMapping struct {
	rules         []fieldRule
	byArrivalName map[string]FieldSlot // by arriving name
	byBuyerName   map[string]FieldSlot // by name after mapping
	contactNames  map[string]struct{}
	unknown       UnknownMemberPolicy
}

// SlotCount returns the number of fields of the campaign, which is the length of a lead's Values.
func (m *FieldMapping) SlotCount() int { return len(m.rules) }

// SlotByNameForBuyers returns the slot of the field that buyers and filters know by this name. The
// bool is false if there is no such field.
func (m *FieldMapping) SlotByNameForBuyers(nameForBuyers string) (slot FieldSlot, found bool) {
	slot, ok := m.byBuyerName[nameForBuyers]
	return slot, ok
}

// SlotByArrivalName returns the slot of the field that suppliers send under this name. The bool
// is false if there is no such field.
func (m *FieldMapping) SlotByArrivalName(arrivalName string) (slot FieldSlot, found bool) {
	slot, ok := m.byArrivalName[arrivalName]
	return slot, ok
}

// FieldNamesForBuyers returns the names of all fields as buyers know them, sorted.
func (m *FieldMapping) FieldNamesForBuyers() []string { return slices.Sorted(maps.Keys(m.byBuyerName)) }

// ArrivalName returns the name under which suppliers send the field.
func (m *FieldMapping) ArrivalName(slot FieldSlot) string { return m.rules[slot].arrivalName }

// FieldNameInLog returns the name under which the log stores the field. A known field always has its
// known name there, so that a reader of the log needs no configuration. A campaign's own field
// has the name under which suppliers send it.
func (m *FieldMapping) FieldNameInLog(slot FieldSlot) string {
	if slot < FirstCustomSlot {
		return knownFields[slot].Name
	}
	return m.rules[slot].arrivalName
}

// FieldNameForBuyers returns the name by which buyers and filters know the field.
func (m *FieldMapping) FieldNameForBuyers(slot FieldSlot) string { return m.rules[slot].buyerName }

// FieldTypeOf returns the field's type. The types of consent_cert_url and consent_timestamp are
// internal: ParseFieldType never returns them.
func (m *FieldMapping) FieldTypeOf(slot FieldSlot) FieldType { return m.rules[slot].fieldType }

// IsSentInPings reports whether pings to buyers have the field. Of the zip they have the first three
// digits.
func (m *FieldMapping) IsSentInPings(slot FieldSlot) bool { return m.rules[slot].ping }

// IsContactField reports whether the field identifies the person, so that no ping may have it.
func (m *FieldMapping) IsContactField(slot FieldSlot) bool { return m.rules[slot].contact }

// IsPersonalData reports whether the field is personal data: a contact field, or one that identifies
// a visit, such as the IP address. The log stores personal data encrypted.
func (m *FieldMapping) IsPersonalData(slot FieldSlot) bool {
	switch slot {
	case SlotConsentCertURL, SlotConsentText, SlotConsentTimestamp, SlotIPAddress, SlotCity:
		return true
	}
	return m.rules[slot].contact
}

// NewFieldMapping checks a campaign's configured fields and compiles them. It returns either the
// mapping or all mistakes, in the order of the fields.
func NewFieldMapping(spec FieldMappingSpec) (mapping *FieldMapping, mistakes []FieldSpecError) {
	c := mappingCompiler{mapping: &FieldMapping{
		byArrivalName: make(map[string]FieldSlot),
		byBuyerName:   make(map[string]FieldSlot),
		contactNames:  make(map[string]struct{}),
		unknown:       spec.Unknown,
	}}
	if spec.Unknown == 0 {
		c.mapping.unknown = UnknownDrop
	}
	if spec.Unknown > UnknownReject {
		c.addMistake(-1, "unknown", "use drop, keep or reject")
	}
	if len(spec.Fields) > maxFields {
		c.addMistake(-1, "fields", "a campaign may have at most 256 fields")
		return nil, c.mistakes
	}
	c.assignFieldsToSlots(spec.Fields)
	for slot := range c.specs {
		c.mapping.rules = append(c.mapping.rules, c.compileFieldRule(FieldSlot(slot)))
	}
	if len(c.mistakes) > 0 {
		c.sortMistakes()
		return nil, c.mistakes
	}
	c.mapping.collectNamesForbiddenInPings()
	return c.mapping, nil
}

// collectNamesForbiddenInPings fills contactNames, the normalized names that a ping's members must not
// have. If the campaign uses a common contact name for a field that is not a contact field, it is
// allowed.
func (m *FieldMapping) collectNamesForbiddenInPings() {
	taken := make(map[string]struct{}, len(m.byArrivalName))
	for name := range m.byArrivalName {
		taken[normalizeContactName(name)] = struct{}{}
	}
	for _, name := range extraContactNames {
		if _, ok := taken[normalizeContactName(name)]; !ok {
			m.contactNames[normalizeContactName(name)] = struct{}{}
		}
	}
	for slot := range m.rules {
		if r := &m.rules[slot]; r.contact {
			m.contactNames[normalizeContactName(r.arrivalName)] = struct{}{}
			m.contactNames[normalizeContactName(r.buyerName)] = struct{}{}
		}
	}
}

// lowerASCII returns s with the letters A to Z in lower case.
func lowerASCII(s string) string { return string(format.AppendLower(nil, []byte(s))) }
