package market

import (
	"maps"
	"slices"
	"strings"

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
	byArrivalName map[string]LeadFieldIndex // by arriving name
	byBuyerName   map[string]LeadFieldIndex // by name after mapping
	contactNames  map[string]struct{}
	unknown       UnknownMemberPolicy
}

// SlotCount returns the number of fields of the campaign, which is the length of a lead's Values.
func (m *FieldMapping) SlotCount() int { return len(m.rules) }

// SlotByNameForBuyers returns the slot of the field that buyers and filters know by this name. The
// bool is false if there is no such field.
func (m *FieldMapping) SlotByNameForBuyers(nameForBuyers string) (slot LeadFieldIndex, found bool) {
	slot, ok := m.byBuyerName[nameForBuyers]
	return slot, ok
}

// SlotByNameFromSuppliers returns the slot of the field that suppliers send under this name. The bool
// is false if there is no such field.
func (m *FieldMapping) SlotByNameFromSuppliers(nameFromSuppliers string) (slot LeadFieldIndex, found bool) {
	slot, ok := m.byArrivalName[nameFromSuppliers]
	return slot, ok
}

// FieldNamesForBuyers returns the names of all fields as buyers know them, sorted.
func (m *FieldMapping) FieldNamesForBuyers() []string { return slices.Sorted(maps.Keys(m.byBuyerName)) }

// FieldNameFromSuppliers returns the name under which suppliers send the field.
func (m *FieldMapping) FieldNameFromSuppliers(slot LeadFieldIndex) string {
	return m.rules[slot].arrivalName
}

// FieldNameInLog returns the name under which the log stores the field. A known field always has its
// known name there, so that a reader of the log needs no configuration. A campaign's own field
// has the name under which suppliers send it.
func (m *FieldMapping) FieldNameInLog(slot LeadFieldIndex) string {
	if slot < FirstCustomSlot {
		return knownFields[slot].Name
	}
	return m.rules[slot].arrivalName
}

// FieldNameForBuyers returns the name by which buyers and filters know the field.
func (m *FieldMapping) FieldNameForBuyers(slot LeadFieldIndex) string { return m.rules[slot].buyerName }

// FieldTypeOf returns the field's type. The types of consent_cert_url and consent_timestamp are
// internal: ParseFieldType never returns them.
func (m *FieldMapping) FieldTypeOf(slot LeadFieldIndex) FieldType { return m.rules[slot].fieldType }

// SupplierFieldDescription says how suppliers send a field. The posting instructions for suppliers show it.
type SupplierFieldDescription struct {
	Name     string // under which suppliers send the field
	Type     FieldType
	Required bool   // in an ingest; false if the field has a default
	InPing   bool   // a ping may have it
	Contact  bool   // a ping must not have it
	Known    bool   // every campaign has the field
	Coerce   bool   // a number or boolean field accepts a string, and a text field accepts a number
	Accepted string // accepted values in words
	Pattern  string // regular expression that the whole text must match; empty: none
	Default  FieldValue
}

// DescribeFieldForSuppliers returns the rule of a field as suppliers need it.
func (m *FieldMapping) DescribeFieldForSuppliers(slot LeadFieldIndex) SupplierFieldDescription {
	r := &m.rules[slot]
	d := SupplierFieldDescription{
		Name: r.arrivalName, Type: r.fieldType, Required: r.required && r.defaultValue.Kind == KindAbsent, InPing: r.ping && !r.contact,
		Contact: r.contact, Known: slot < FirstCustomSlot, Coerce: r.coerce, Accepted: r.expected, Default: r.defaultValue,
	}
	if len(r.values) > 0 {
		d.Accepted = "one of " + strings.Join(slices.Sorted(maps.Keys(r.values)), ", ")
	}
	if r.pattern != nil {
		d.Pattern = strings.TrimSuffix(strings.TrimPrefix(r.pattern.String(), `\A(?:`), `)\z`)
	}
	return d
}

// PolicyForUnknownMembers returns the policy for members of an ingest or a post that are no field of
// the campaign. Pings use it too if they have no policy of their own.
func (m *FieldMapping) PolicyForUnknownMembers() UnknownMemberPolicy { return m.unknown }

// IsSentInPings reports whether pings to buyers have the field. Of the zip they have the first three
// digits.
func (m *FieldMapping) IsSentInPings(slot LeadFieldIndex) bool { return m.rules[slot].ping }

// IsRequired reports whether suppliers must send the field with each lead. It is false for a field with
// a default, because that is never missing.
func (m *FieldMapping) IsRequired(slot LeadFieldIndex) bool {
	return m.rules[slot].required && m.rules[slot].defaultValue.Kind == KindAbsent
}

// DescribeAcceptedValues returns in words which values the field accepts, as error messages say it.
func (m *FieldMapping) DescribeAcceptedValues(slot LeadFieldIndex) string {
	return m.rules[slot].describeAcceptedValues()
}

// IsContactField reports whether the field identifies the person, so that no ping may have it.
func (m *FieldMapping) IsContactField(slot LeadFieldIndex) bool { return m.rules[slot].contact }

// IsPersonalData reports whether the field is personal data: a contact field, or one that identifies
// a visit, such as the IP address. The log stores personal data encrypted.
func (m *FieldMapping) IsPersonalData(slot LeadFieldIndex) bool {
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
		byArrivalName: make(map[string]LeadFieldIndex),
		byBuyerName:   make(map[string]LeadFieldIndex),
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
		c.mapping.rules = append(c.mapping.rules, c.compileFieldRule(LeadFieldIndex(slot)))
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
		taken[normalizeContactFieldName(name)] = struct{}{}
	}
	for _, name := range extraContactFieldNames {
		if _, ok := taken[normalizeContactFieldName(name)]; !ok {
			m.contactNames[normalizeContactFieldName(name)] = struct{}{}
		}
	}
	for slot := range m.rules {
		if r := &m.rules[slot]; r.contact {
			m.contactNames[normalizeContactFieldName(r.arrivalName)] = struct{}{}
			m.contactNames[normalizeContactFieldName(r.buyerName)] = struct{}{}
		}
	}
}

// lowerASCII returns s with the letters A to Z in lower case.
func lowerASCII(s string) string { return string(format.AppendLowerASCII(nil, []byte(s))) }
