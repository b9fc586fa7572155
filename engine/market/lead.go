package market

// Slot is a field's place in a lead of one campaign. The slots below
// FirstCustom are the same in every campaign; a campaign's own fields follow.
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
	FirstCustom
)

// Kind is the form of a value.
type Kind uint8

const (
	KindAbsent  Kind = 0
	KindString  Kind = 1
	KindInteger Kind = 2
	KindNumber  Kind = 3
	KindBoolean Kind = 4
	KindRaw     Kind = 5 // any JSON, kept as it came (unknown: keep)
)

// Value is one field of a lead after mapping. Text is the canonical text: a
// string's characters, a number's digits as they came, true or false, or raw
// JSON. Num is the number for comparison with min and max. The text belongs to
// the lead that holds it.
type Value struct {
	Kind Kind
	Text []byte
	Num  float64
}

// Extra is a member that the campaign's mapping does not know and keeps. Those
// of an ingest were never searched for contact details: they go into posts, not
// into pings.
type Extra struct {
	Name  []byte
	Value Value
}

// Lead is what a supplier sent, after mapping: one value a slot of the
// campaign's mapping. Its texts lie in the request's body, in the lead's own
// buffer, or in the mapping's defaults; nobody writes to them, and they are
// good until the lead is reset or the body goes.
type Lead struct {
	Values []Value // by slot
	Extras []Extra

	buf  []byte  // what mapping had to rewrite: phone, email, transforms
	from []int32 // while filling, by slot: 1 + the member it comes from, or 0

	searched bool // filled from a ping: its extras hold no contact details
}

// Reset empties the lead for a mapping of so many slots and keeps its memory.
// What was read from it before may be overwritten from here on.
func (l *Lead) Reset(slots int) {
	l.Values = cleared(l.Values, slots)
	l.from = cleared(l.from, slots)
	clear(l.Extras)
	l.Extras = l.Extras[:0]
	l.buf = l.buf[:0]
	l.searched = false
}

func cleared[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// State is the lead's state, or NoState.
func (l *Lead) State() State { return StateOf(l.Values[SlotState].Text) }
