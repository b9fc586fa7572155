package projection

import (
	"bytes"
	"unicode/utf8"
)

// SourceNumbers gives each lead source, a text in the leads, a number. The text comes from
// suppliers. So the number and the length of sources are limited. A text that may identify a
// person counts as OtherSource: with an @ it could be an e-mail address, with seven digits a
// phone number.
type SourceNumbers struct {
	refs      map[string]int64
	unwritten []string // sources without a row, which have the highest numbers
}

const (
	maxSources      = 4096
	maxSourceLength = 64
	maxDigits       = 6

	NoSource        = 0
	OtherSource     = 1
	OtherSourceName = "(other)"
)

func NewSourceNumbers() *SourceNumbers {
	return &SourceNumbers{refs: map[string]int64{OtherSourceName: OtherSource}}
}

// ref returns the number of a source, and assigns the next one to a new source. It returns
// OtherSource for a text that must not be stored.
func (s *SourceNumbers) ref(text []byte) int64 {
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

// RestoreNumber sets the number of a source that the database already contains. It is called when
// the database is opened.
func (s *SourceNumbers) RestoreNumber(sourceName string, number int64) { s.refs[sourceName] = number }

// TakeUnwrittenSources returns the new sources that the database does not contain yet, and the
// number of the first one. The others have the following numbers. The caller must write them.
func (s *SourceNumbers) TakeUnwrittenSources() (names []string, firstNumber int64) {
	names = s.unwritten
	s.unwritten = nil
	return names, int64(len(s.refs)-len(names)) + 1
}
