package market

import (
	"time"

	"pingpost/engine/market/format"
)

// LeadFieldIndex is the position of a field in a lead of one campaign. The slots below FirstCustomSlot are
// the same in every campaign; a campaign's own fields have the slots from there on.
type LeadFieldIndex int

const (
	SlotFirstName LeadFieldIndex = iota
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

// FieldValueKind is the type of a field's value in a lead.
type FieldValueKind uint8

const (
	KindAbsent  FieldValueKind = 0
	KindString  FieldValueKind = 1
	KindInteger FieldValueKind = 2
	KindNumber  FieldValueKind = 3
	KindBoolean FieldValueKind = 4
	KindRaw     FieldValueKind = 5 // any JSON, unchanged (unknown: keep)
)

// FieldValue is the value of one field of a lead. Text is its canonical text: a string's characters, a
// number's digits (an integer without exponent or fraction), true or false, or raw JSON. Num is the
// number for comparison with min and max. Text is read only, and valid until the lead is reset or the
// request's body is reused (see Lead).
type FieldValue struct {
	Kind FieldValueKind
	Text []byte
	Num  float64
}

// KeptUnknownMember is a member of a request that is no field of the campaign, but that the campaign
// keeps. Those of an ingest were not searched for contact details. So posts carry them, and pings
// do not.
type KeptUnknownMember struct {
	Name  []byte
	Value FieldValue
}

// Lead is a supplier's lead as a mapping has filled it, with one value for each field of the
// campaign. Its texts are in the request's body, in the lead's own buffer, or in the mapping's
// defaults. They are read only, and valid until the lead is reset or the body is reused.
type Lead struct {
	Values []FieldValue // by slot
	Extras []KeptUnknownMember

	buf      []byte  // texts that mapping rewrote: phone, email, transforms
	memberOf []int32 // during filling, by slot: 1 + the index of the source member, or 0

	fromPing bool // filled from a ping: its extras have no contact details

	decided int64          // Unix nanoseconds
	zone    *time.Location // of the campaign; nil: the time of the decision is not set
}

// Reset empties the lead for a mapping with this number of slots, and keeps its memory for the
// next values. Texts of earlier values are no longer valid.
func (l *Lead) Reset(slotCount int) {
	l.Values = resizeAndClear(l.Values, slotCount)
	l.memberOf = resizeAndClear(l.memberOf, slotCount)
	clear(l.Extras)
	l.Extras = l.Extras[:0]
	l.buf = l.buf[:0]
	l.fromPing = false
	l.zone = nil
}

// SetDecisionTime sets the time at which filters compute ages, and the campaign's time zone. Filters on ages
// need it. A lead that accepts a bid has the time of the bid's auction, so that an age is the same at
// the ping and at the post.
func (l *Lead) SetDecisionTime(unixNanos int64, zone *time.Location) {
	l.decided, l.zone = unixNanos, zone
}

// dayOfDecision returns the day of the decision in the campaign's time zone, in the form of format.ParseDate.
func (l *Lead) dayOfDecision() (date int) {
	if l.zone == nil {
		panic("BUG: a filter on an age, and the lead has no time of its decision")
	}
	year, month, day := time.Unix(0, l.decided).In(l.zone).Date()
	return 10000*year + 100*int(month) + day
}

// ageSince returns the full years from the date in a field to a day. ok is false if the value is no date, or
// a later one.
func (v *FieldValue) ageSince(day int) (years float64, ok bool) {
	date, isDate := format.ParseDate(v.Text)
	age, isPast := format.YearsBetween(date, day)
	return float64(age), isDate && isPast
}

// resizeAndClear returns a slice of n zero elements. It reuses the memory of s if it is large
// enough.
func resizeAndClear[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// USState returns the US state of the lead's state field, or NoState.
func (l *Lead) USState() USState { return ParseUSStateCode(l.Values[SlotState].Text) }

// TextValueOrAbsent returns a string value with this text. An empty text gives the absent value.
func TextValueOrAbsent(text []byte) FieldValue {
	if len(text) == 0 {
		return FieldValue{}
	}
	return FieldValue{Kind: KindString, Text: text}
}

// BoolValue returns a boolean value of a lead's field.
func BoolValue(value bool) FieldValue {
	if value {
		return FieldValue{Kind: KindBoolean, Text: textTrue}
	}
	return FieldValue{Kind: KindBoolean, Text: textFalse}
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

// JSONMember is one member of a JSON object that the parser has checked: its grammar is correct, its
// UTF-8 is valid, and its name is unique.
//
// Text is a string's unescaped characters, a number's digits, true, false or null, or the raw
// JSON of an object or an array. Its memory belongs to the parser.
type JSONMember struct {
	Name []byte
	Kind JSONKind
	Text []byte
}

// CountsAsMissing reports whether the member counts as not sent: it is not present, null, or a blank
// string.
func (m *JSONMember) CountsAsMissing() bool {
	return m.Kind == 0 || m.Kind == JSONNull || m.Kind == JSONString && isBlank(m.Text)
}
