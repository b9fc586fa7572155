package projection

import (
	"bytes"
	"unicode/utf8"
)

// LeadSourceNumbering gives each lead source, a text in the leads, a number under which the database
// stores it. Suppliers choose the text. So at most maxSources different texts of limited length
// get a number; all other texts count as OtherSource. So does a text that may identify a person:
// with an @ it could be an e-mail address, with seven digits a phone number.
type LeadSourceNumbering struct {
	refs      map[string]int64
	unwritten []string // sources without a row, which have the highest numbers
}

const (
	maxSources      = 4096
	maxSourceLength = 64
	maxDigits       = 6

	NoSource        = 0 // the lead has no source
	OtherSource     = 1 // all sources that have no number of their own
	OtherSourceName = "(other)"
)

func NewLeadSourceNumbering() *LeadSourceNumbering {
	return &LeadSourceNumbering{refs: map[string]int64{OtherSourceName: OtherSource}}
}

// findOrAssignNumber returns the number of a source, and assigns the next one to a new source. It returns
// OtherSource for a text that must not be stored.
func (s *LeadSourceNumbering) findOrAssignNumber(text []byte) (numberOrOtherSource int64) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return NoSource
	}
	if ref, known := s.refs[string(text)]; known {
		return ref
	}
	if len(s.refs) >= maxSources || !isStorableSource(text) {
		return OtherSource
	}
	ref := int64(len(s.refs) + 1)
	s.refs[string(text)] = ref
	s.unwritten = append(s.unwritten, string(text))
	return ref
}

func isStorableSource(text []byte) bool {
	digits := 0
	for _, c := range text {
		switch {
		case c < ' ' || c == 0x7f || c == '@':
			return false
		case c-'0' <= 9:
			digits++
		}
	}
	return len(text) <= maxSourceLength && digits <= maxDigits && utf8.Valid(text)
}

// RestoreNumber sets the number of a source that the database already contains. It is called
// when the database is opened.
func (s *LeadSourceNumbering) RestoreNumber(sourceName string, number int64) {
	s.refs[sourceName] = number
}

// TakeUnwrittenSources returns the new sources that the database does not contain yet, and the
// number of the first one. The others have the following numbers. The caller must write them.
func (s *LeadSourceNumbering) TakeUnwrittenSources() (names []string, firstNumber int64) {
	names = s.unwritten
	s.unwritten = nil
	return names, int64(len(s.refs)-len(names)) + 1
}
