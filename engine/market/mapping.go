package market

import (
	"maps"
	"slices"

	"pingpost/engine/market/format"
)

// Mapping converts the members of a request to a lead of one campaign. For each field it has the
// name in requests (arriving name), the checks, the slot in the lead and the name for buyers.
//
// NewMapping compiles it from an operator's MappingSpec; it never changes. The known fields come
// first, each in its own slot even if the campaign does not mention it. The campaign's own fields
// follow in the order of the configuration. This is "mapping order", in which failing fields are
// reported.
//
// A field of the campaign may
//   - have the name of a known field. Then it makes that field's rule stricter (required,
//     pattern, min …) or gives it a default. The type stays; if the known type is
//     string, an enum may narrow it.
//   - have the name of an optional known field for buyers (to: zip). Then it is that field,
//     which arrives under this name too. If both names arrive, the campaign's name counts.
type Mapping struct {
	rules         []fieldRule
	byArrivalName map[string]Slot // by arriving name
	byBuyerName   map[string]Slot // by name after mapping
	contactNames  map[string]struct{}
	unknown       UnknownPolicy
}

// SlotCount returns the number of fields of the campaign, which is the length of a lead's Values.
func (m *Mapping) SlotCount() int { return len(m.rules) }

// SlotByBuyerName returns the slot of the field that buyers and filters know by this name. The
// bool is false if there is no such field.
func (m *Mapping) SlotByBuyerName(buyerName string) (Slot, bool) {
	slot, ok := m.byBuyerName[buyerName]
	return slot, ok
}

// SlotByArrivalName returns the slot of the field that suppliers send under this name. The bool
// is false if there is no such field.
func (m *Mapping) SlotByArrivalName(name string) (Slot, bool) {
	slot, ok := m.byArrivalName[name]
	return slot, ok
}

// BuyerNames returns the names of all fields as buyers know them, sorted.
func (m *Mapping) BuyerNames() []string { return slices.Sorted(maps.Keys(m.byBuyerName)) }

// ArrivalName returns the name under which suppliers send the field.
func (m *Mapping) ArrivalName(slot Slot) string { return m.rules[slot].arrivalName }

// LogName returns the name under which the log stores the field. A known field always has its
// known name there, so that a reader of the log needs no configuration. A campaign's own field
// has the name under which suppliers send it.
func (m *Mapping) LogName(slot Slot) string {
	if slot < FirstCustomSlot {
		return knownFields[slot].Name
	}
	return m.rules[slot].arrivalName
}

// BuyerName returns the name by which buyers and filters know the field.
func (m *Mapping) BuyerName(slot Slot) string { return m.rules[slot].buyerName }

// TypeOf returns the field's type. The types of consent_cert_url and consent_timestamp are
// internal: ParseFieldType never returns them.
func (m *Mapping) TypeOf(slot Slot) FieldType { return m.rules[slot].fieldType }

// IsInPing reports whether pings to buyers have the field. Of the zip they have the first three
// digits.
func (m *Mapping) IsInPing(slot Slot) bool { return m.rules[slot].ping }

// IsContact reports whether the field identifies the person, so that no ping may have it.
func (m *Mapping) IsContact(slot Slot) bool { return m.rules[slot].contact }

// IsPersonal reports whether the field is personal data: a contact field, or one that identifies
// a visit, such as the IP address. The log stores personal data encrypted.
func (m *Mapping) IsPersonal(slot Slot) bool {
	switch slot {
	case SlotConsentCertURL, SlotConsentText, SlotConsentTimestamp, SlotIPAddress, SlotCity:
		return true
	}
	return m.rules[slot].contact
}

// NewMapping checks a campaign's configured fields and compiles them. It returns either the
// mapping or all mistakes, in the order of the fields.
func NewMapping(spec MappingSpec) (*Mapping, []SpecError) {
	c := mappingCompiler{mapping: &Mapping{
		byArrivalName: make(map[string]Slot),
		byBuyerName:   make(map[string]Slot),
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
	c.placeFields(spec.Fields)
	for slot := range c.specs {
		c.mapping.rules = append(c.mapping.rules, c.compileCheckAndTransforms(Slot(slot)))
	}
	if len(c.mistakes) > 0 {
		c.sortMistakes()
		return nil, c.mistakes
	}
	c.mapping.collectContactNames()
	return c.mapping, nil
}

// collectContactNames fills contactNames, the normalized names that a ping's members must not
// have. If the campaign uses a common contact name for a field that is not a contact field, it is
// allowed.
func (m *Mapping) collectContactNames() {
	taken := make(map[string]struct{}, len(m.byArrivalName))
	for name := range m.byArrivalName {
		taken[normalizeName(name)] = struct{}{}
	}
	for _, name := range extraContactNames {
		if _, ok := taken[normalizeName(name)]; !ok {
			m.contactNames[normalizeName(name)] = struct{}{}
		}
	}
	for slot := range m.rules {
		if r := &m.rules[slot]; r.contact {
			m.contactNames[normalizeName(r.arrivalName)] = struct{}{}
			m.contactNames[normalizeName(r.buyerName)] = struct{}{}
		}
	}
}

// lowerASCII returns s with the letters A to Z in lower case.
func lowerASCII(s string) string { return string(format.AppendLower(nil, []byte(s))) }
