package market

// Slot is a field's position in a lead of one campaign. The slots below FirstCustomSlot are
// the same in every campaign; a campaign's own fields follow.
type Slot int

const (
	SlotFirstName Slot = iota
	SlotLastName
	SlotPhone // E.164
	SlotEmail // domain lowercased
	SlotState
	SlotSource
	SlotTCPAConsent
	SlotConsentCertURL
	SlotConsentText
	SlotConsentTimestamp
	SlotIPAddress
	SlotLine1
	SlotCity
	SlotZip
	SlotQualityScore
	FirstCustomSlot
)

// ValueKind is the form of a value.
type ValueKind uint8

const (
	KindAbsent  ValueKind = 0
	KindString  ValueKind = 1
	KindInteger ValueKind = 2
	KindNumber  ValueKind = 3
	KindBoolean ValueKind = 4
	KindRaw     ValueKind = 5 // any JSON, unchanged (unknown: keep)
)

// Value is one field of a lead after mapping. Text is the canonical text: a string's
// characters, a number's digits as they arrived, true or false, or raw JSON. Num is the
// number for comparison with min and max. The text belongs to the lead that holds it.
type Value struct {
	Kind ValueKind
	Text []byte
	Num  float64
}

// KeptMember is an unknown member that the campaign keeps. Those of an ingest were not searched
// for contact details, so only posts carry them, never pings.
type KeptMember struct {
	Name  []byte
	Value Value
}

// Lead is a supplier's lead after mapping, with one value for each slot of the campaign's
// mapping. Its texts are in the request's body, in the lead's own buffer, or in the
// mapping's defaults. They are read only, and valid until the lead is reset or the body is
// reused.
type Lead struct {
	Values []Value // by slot
	Extras []KeptMember

	buf      []byte  // texts that mapping rewrote: phone, email, transforms
	memberOf []int32 // during filling, by slot: 1 + the index of the source member, or 0

	fromPing bool // filled from a ping: its extras have no contact details
}

// Reset empties the lead for a mapping with this number of slots and keeps its memory. It may
// overwrite the texts of earlier values.
func (l *Lead) Reset(slots int) {
	l.Values = resizeAndClear(l.Values, slots)
	l.memberOf = resizeAndClear(l.memberOf, slots)
	clear(l.Extras)
	l.Extras = l.Extras[:0]
	l.buf = l.buf[:0]
	l.fromPing = false
}

// resizeAndClear returns s with n zero elements, and reuses its memory if possible.
func resizeAndClear[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// USState returns the lead's state, or NoState.
func (l *Lead) USState() USState { return ParseUSState(l.Values[SlotState].Text) }

// TextValue returns text as a value. An empty text gives the absent value.
func TextValue(text []byte) Value {
	if len(text) == 0 {
		return Value{}
	}
	return Value{Kind: KindString, Text: text}
}

// BoolValue returns a boolean as a value.
func BoolValue(value bool) Value {
	if value {
		return Value{Kind: KindBoolean, Text: textTrue}
	}
	return Value{Kind: KindBoolean, Text: textFalse}
}

// JSONKind is the JSON type of a member.
type JSONKind uint8

const (
	JSONNull    JSONKind = 1
	JSONBoolean JSONKind = 2
	JSONNumber  JSONKind = 3
	JSONString  JSONKind = 4
	JSONObject  JSONKind = 5
	JSONArray   JSONKind = 6
)

// Member is one checked member of a JSON object: its grammar is correct, its UTF-8 is
// valid, and its name is unique.
//
// Text is a string's unescaped characters, a number's digits, true, false or null, or the
// raw JSON of an object or an array. It belongs to the parser.
type Member struct {
	Name []byte
	Kind JSONKind
	Text []byte
}

// IsMissing reports whether the member is not present, null, or a blank string.
func (m *Member) IsMissing() bool {
	return m.Kind == 0 || m.Kind == JSONNull || m.Kind == JSONString && isBlank(m.Text)
}
