package market

// Mapping turns the members of a request into a lead of one campaign: it knows
// each field's arriving name, its checks, its slot and its name for buyers.
//
// A mapping is compiled from an operator's MappingSpec and never changes. The
// known fields come first, each in its own slot whether the campaign mentions
// it or not; the campaign's own follow in the order of the configuration. That
// is "mapping order", in which failing fields are reported.
//
// A field of the campaign may
//   - bear the name of a known one: then it makes its rule stricter (required,
//     pattern, min …) or gives it a default. The type stays; where the known
//     type is string, an enum may narrow it.
//   - be called like an optional known one towards buyers (to: zip): then it is
//     that field, arriving under this name too. Where both names arrive, the
//     campaign's counts.
type Mapping struct {
	rules   []rule
	arrive  map[string]Slot // by arriving name
	mapped  map[string]Slot // by name after mapping
	contact map[string]struct{}
	unknown Unknown
}

// Slots is how many values a lead of this mapping has.
func (m *Mapping) Slots() int { return len(m.rules) }

// SlotOf finds a field by its name after mapping.
func (m *Mapping) SlotOf(to string) (Slot, bool) {
	slot, ok := m.mapped[to]
	return slot, ok
}

// NameOf is the name under which the field arrives.
func (m *Mapping) NameOf(slot Slot) string { return m.rules[slot].name }

// Recorded is what the log calls a field: one that every campaign has by its known name,
// however it arrives here, so that who follows the log needs no configuration; a
// campaign's own as it arrives.
func (m *Mapping) Recorded(slot Slot) string {
	if slot < FirstCustom {
		return known[slot].Name
	}
	return m.rules[slot].name
}

// To is the name under which buyers and filters know the field.
func (m *Mapping) To(slot Slot) string { return m.rules[slot].to }

// TypeOf is the field's type. Those of consent_cert_url and consent_timestamp
// are beyond what ParseFieldType knows.
func (m *Mapping) TypeOf(slot Slot) FieldType { return m.rules[slot].kind }

// Ping tells whether the field goes into pings: zip as its first three digits.
func (m *Mapping) Ping(slot Slot) bool { return m.rules[slot].ping }

// Contact tells whether the field says who the person is.
func (m *Mapping) Contact(slot Slot) bool { return m.rules[slot].contact }

// Personal tells whether the field is part of who the person is: a contact field, or
// one by which a visit can be found again, such as the address it came from. What is
// personal is sealed in the log.
func (m *Mapping) Personal(slot Slot) bool {
	switch slot {
	case SlotConsentCertURL, SlotConsentText, SlotConsentTimestamp, SlotIPAddress, SlotCity:
		return true
	}
	return m.rules[slot].contact
}

// NewMapping judges and compiles a specification. It reports every mistake at
// once, in the order of the fields; with any, there is no mapping.
func NewMapping(spec MappingSpec) (*Mapping, []SpecError) {
	c := compiler{mapping: &Mapping{
		arrive:  make(map[string]Slot),
		mapped:  make(map[string]Slot),
		contact: make(map[string]struct{}),
		unknown: spec.Unknown,
	}}
	if spec.Unknown == 0 {
		c.mapping.unknown = UnknownDrop
	}
	if spec.Unknown > UnknownReject {
		c.fail(-1, "unknown", "use drop, keep or reject")
	}
	if len(spec.Fields) > maxFields {
		c.fail(-1, "fields", "a campaign may have at most 256 fields")
		return nil, c.mistakes
	}
	c.place(spec.Fields)
	for slot := range c.specs {
		c.mapping.rules = append(c.mapping.rules, c.compile(Slot(slot)))
	}
	if len(c.mistakes) > 0 {
		c.sort()
		return nil, c.mistakes
	}
	c.mapping.listContacts()
	return c.mapping, nil
}

// listContacts collects the names that no ping may carry, as plainName writes
// them. What the campaign itself calls a field, and no contact field, may come.
func (m *Mapping) listContacts() {
	taken := make(map[string]struct{}, len(m.arrive))
	for name := range m.arrive {
		taken[plainName(name)] = struct{}{}
	}
	for _, name := range contactNames {
		if _, ok := taken[plainName(name)]; !ok {
			m.contact[plainName(name)] = struct{}{}
		}
	}
	for slot := range m.rules {
		if r := &m.rules[slot]; r.contact {
			m.contact[plainName(r.name)] = struct{}{}
			m.contact[plainName(r.to)] = struct{}{}
		}
	}
}

func lower(s string) string { return string(AppendLower(nil, []byte(s))) }
