package market

import (
	"maps"
	"slices"

	"pingpost/engine/market/format"
)

// Mapping turns the members of a request into a lead of one campaign: it has each field's
// arriving name, its checks, its slot and its name for buyers.
//
// NewMapping compiles it from an operator's MappingSpec; it never changes. The known
// fields come first, each in its own slot even if the campaign does not mention it; the
// campaign's own fields follow in the order of the configuration. This is "mapping order",
// in which failing fields are reported.
//
// A field of the campaign may
//   - have the name of a known one: then it makes that rule stricter (required,
//     pattern, min …) or gives it a default. The type stays; if the known type is
//     string, an enum may narrow it.
//   - be named like an optional known one for buyers (to: zip): then it is that field,
//     arriving under this name too. If both names arrive, the campaign's counts.
type Mapping struct {
	rules         []fieldRule
	byArrivalName map[string]Slot // by arriving name
	byBuyerName   map[string]Slot // by name after mapping
	contactNames  map[string]struct{}
	unknown       UnknownPolicy
}

// SlotCount returns the number of values in a lead of this mapping.
func (m *Mapping) SlotCount() int { return len(m.rules) }

// SlotByBuyerName finds a field by its name after mapping.
func (m *Mapping) SlotByBuyerName(buyerName string) (Slot, bool) {
	slot, ok := m.byBuyerName[buyerName]
	return slot, ok
}

// SlotByArrivalName finds a field by its name in ingests.
func (m *Mapping) SlotByArrivalName(name string) (Slot, bool) {
	slot, ok := m.byArrivalName[name]
	return slot, ok
}

// BuyerNames returns the fields' names for buyers, sorted.
func (m *Mapping) BuyerNames() []string { return slices.Sorted(maps.Keys(m.byBuyerName)) }

// ArrivalName returns the name under which suppliers send the field.
func (m *Mapping) ArrivalName(slot Slot) string { return m.rules[slot].arrivalName }

// LogName returns a field's name in the log. A known field has its known name, even if
// it arrives under another, so that a reader of the log needs no configuration. A campaign's own
// field has its arriving name.
func (m *Mapping) LogName(slot Slot) string {
	if slot < FirstCustomSlot {
		return knownFields[slot].Name
	}
	return m.rules[slot].arrivalName
}

// BuyerName returns the field's name for buyers and filters.
func (m *Mapping) BuyerName(slot Slot) string { return m.rules[slot].buyerName }

// TypeOf returns the field's type. ParseFieldType does not return the types of
// consent_cert_url and consent_timestamp.
func (m *Mapping) TypeOf(slot Slot) FieldType { return m.rules[slot].fieldType }

// IsInPing reports whether the field is sent in pings: zip as its first three digits.
func (m *Mapping) IsInPing(slot Slot) bool { return m.rules[slot].ping }

// IsContact reports whether the field identifies the person.
func (m *Mapping) IsContact(slot Slot) bool { return m.rules[slot].contact }

// IsPersonal reports whether the field is personal data: a contact field, or one that
// identifies a visit, such as the IP address. The log seals personal data.
func (m *Mapping) IsPersonal(slot Slot) bool {
	switch slot {
	case SlotConsentCertURL, SlotConsentText, SlotConsentTimestamp, SlotIPAddress, SlotCity:
		return true
	}
	return m.rules[slot].contact
}

// NewMapping checks and compiles a specification. It reports every mistake at once, in the
// order of the fields; with any mistake it returns no mapping.
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

// collectContactNames collects the normalized names that no ping may carry. A name that
// the campaign gives to a field that is not a contact field is allowed.
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

func lowerASCII(s string) string { return string(format.AppendLower(nil, []byte(s))) }
