package market

import "fmt"

// FieldType is the type of a field's values; it selects their checks.
type FieldType uint8

const (
	TypeString  FieldType = 1
	TypeInteger FieldType = 2 // an integral JSON number within int64
	TypeNumber  FieldType = 3
	TypeBoolean FieldType = 4
	TypeDate    FieldType = 5 // YYYY-MM-DD, a day that exists
	TypeEmail   FieldType = 6
	TypePhone   FieldType = 7
	TypeState   FieldType = 8
	TypeZIP     FieldType = 9 // five digits, or ZIP+4
	TypeEnum    FieldType = 10
	TypeURL     FieldType = 11 // absolute, http or https

	// typeHTTPS and typeTimestamp are types of known fields; no configuration can name
	// them.
	typeHTTPS     FieldType = 12
	typeTimestamp FieldType = 13 // RFC 3339
	fieldTypeEnd  FieldType = 14
)

var fieldTypeNames = [fieldTypeEnd]string{
	"", "string", "integer", "number", "boolean", "date", "email", "phone", "state",
	"zip", "enum", "url", "https url", "timestamp",
}

func (t FieldType) String() string { return EnumName(fieldTypeNames[:], int(t), "") }

// ParseFieldType returns the type with the configured name, or an error that lists the names.
func ParseFieldType(name string) (FieldType, error) {
	for t := TypeString; t <= TypeURL; t++ {
		if fieldTypeNames[t] == name {
			return t, nil
		}
	}
	return 0, fmt.Errorf("%q is not a field type: use string, integer, number, boolean, date, email, phone, state, zip, enum or url", name)
}

// isNumeric reports whether values of the type are numbers, so that min and max apply.
func (t FieldType) isNumeric() bool { return t == TypeInteger || t == TypeNumber }

// IsText reports whether requests send values of the type as JSON strings.
func (t FieldType) IsText() bool { return !t.isNumeric() && t != TypeBoolean }

// UnknownMemberPolicy is the treatment of a request's members that are no field of the campaign: they
// are dropped, kept for the buyers, or rejected.
type UnknownMemberPolicy uint8

const (
	UnknownDrop   UnknownMemberPolicy = 1
	UnknownKeep   UnknownMemberPolicy = 2
	UnknownReject UnknownMemberPolicy = 3
)

// ParseUnknownMemberPolicy returns the policy with the configured name, or an error. An empty name
// means drop.
func ParseUnknownMemberPolicy(name string) (UnknownMemberPolicy, error) {
	switch name {
	case "", "drop":
		return UnknownDrop, nil
	case "keep":
		return UnknownKeep, nil
	case "reject":
		return UnknownReject, nil
	}
	return 0, fmt.Errorf("%q is not a rule for unknown members: use drop, keep or reject", name)
}

// FieldSpec is one field of a campaign as the operator has configured it. NewFieldMapping checks it.
type FieldSpec struct {
	Name          string // arriving name
	NameForBuyers string // name for buyers and filters; empty: Name

	// Type may be zero for a known field, whose type cannot change.
	Type     FieldType
	Required bool

	Values               []string // of an enum
	Min, Max             *string  // decimal digits, of an integer or a number
	MinLength, MaxLength *int     // characters; for text types
	Pattern              string   // RE2 that the whole text must match

	// Default replaces a missing field. It has the form DefaultKind; zero means the
	// form of the type.
	Default     *string
	DefaultKind JSONKind

	Transforms []FieldTransform
	Coerce     bool // accept "2" for 2
	Ping       bool // sent in pings
	Contact    bool // never sent in pings
}

// FieldMappingSpec is the configured list of a campaign's fields. NewFieldMapping compiles it.
type FieldMappingSpec struct {
	Fields  []FieldSpec
	Unknown UnknownMemberPolicy // zero: drop
}

// FieldSpecError is one mistake in a FieldMappingSpec, for the operator.
type FieldSpecError struct {
	Field   int    // index in Fields; -1: the list as a whole
	Key     string // the configuration key at fault, such as "pattern"
	Message string // the mistake and its remedy
}

func (e *FieldSpecError) Error() string {
	if e.Field < 0 {
		return e.Key + ": " + e.Message
	}
	return fmt.Sprintf("fields[%d].%s: %s", e.Field, e.Key, e.Message)
}

// FieldError reports one failing field of a request to its sender. It never holds the field's
// value.
type FieldError struct {
	Field    string // dotted path
	Code     string // one of errcode.Fields
	Expected string // the expected form, in words
}

// knownFields are the fields of every campaign, by slot. A campaign can make their rules stricter,
// and give them a default, transforms or coerce. Suppliers must send the first five under these
// names.
var knownFields = [FirstCustomSlot]FieldSpec{
	SlotFirstName:        {Name: "first_name", Type: TypeString, Required: true, Contact: true},
	SlotLastName:         {Name: "last_name", Type: TypeString, Required: true, Contact: true},
	SlotPhone:            {Name: "phone", Type: TypePhone, Required: true, Contact: true},
	SlotEmail:            {Name: "email", Type: TypeEmail, Required: true, Contact: true},
	SlotState:            {Name: "state", Type: TypeState, Ping: true},
	SlotSource:           {Name: "source", Type: TypeString, Ping: true},
	SlotTCPAConsent:      {Name: "tcpa_consent", Type: TypeBoolean, Ping: true},
	SlotConsentCertURL:   {Name: "consent_cert_url", Type: typeHTTPS, Ping: true},
	SlotConsentText:      {Name: "consent_text", Type: TypeString},
	SlotConsentTimestamp: {Name: "consent_timestamp", Type: typeTimestamp},
	SlotIPAddress:        {Name: "ip_address", Type: TypeString},
	SlotLine1:            {Name: "line1", Type: TypeString, Contact: true},
	SlotCity:             {Name: "city", Type: TypeString},
	SlotZip:              {Name: "zip", Type: TypeZIP, Ping: true},
	SlotQualityScore:     {Name: "ai_quality_score", Type: TypeNumber, Ping: true},
}

// lastFixedSlot is the last of the known fields that suppliers must send under the known name. A
// campaign may give the later ones another arriving name.
const lastFixedSlot = SlotState

// findKnownField returns the slot of the known field with this name. The bool is false if there
// is none.
func findKnownField(name string) (slot LeadFieldIndex, found bool) {
	for slot := range knownFields {
		if knownFields[slot].Name == name {
			return LeadFieldIndex(slot), true
		}
	}
	return 0, false
}

// selectsCampaignSupplierPingOrBuyer reports whether a request's member of this name selects the
// campaign, supplier, ping or buyer. Such a member is never a field of the lead.
func selectsCampaignSupplierPingOrBuyer(memberName []byte) bool {
	switch string(memberName) {
	case "flo_campaign_id", "flo_supplier_id", "flo_ping_id", "flo_buyer_id":
		return true
	}
	return false
}

// isNameReservedInBuyerRequests reports whether pings and posts to buyers use the name for another purpose
// than a field of a lead. No field can have the name for buyers.
func isNameReservedInBuyerRequests(nameForBuyers []byte) bool {
	switch string(nameForBuyers) {
	case "lead_uuid", "address", "tcpa":
		return true
	}
	return isPingMetadataMember(nameForBuyers)
}

// isPingMetadataMember reports whether a ping's member of this name is not a field of the lead,
// such as auction_id.
func isPingMetadataMember(name []byte) bool {
	switch string(name) {
	case "auction_id", "vertical", "sub_vertical", "zip3", "expires_at":
		return true
	}
	return selectsCampaignSupplierPingOrBuyer(name)
}

// IsKnownContactField reports whether the name is that of a known field that identifies a person.
func IsKnownContactField(fieldName string) bool {
	slot, ok := findKnownField(fieldName)
	return ok && knownFields[slot].Contact
}
