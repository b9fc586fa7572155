package report

import (
	"bytes"
	"unicode/utf8"
)

// sources number what leads say they came from. A supplier writes it, so there are no
// more than mostSources of them, none is long, and one that might tell who somebody is
// counts among the others: with an @ it could be an address, with seven digits a number.
type sources struct {
	refs  map[string]int64
	fresh []string // without a row yet, the last of the numbers
}

const (
	mostSources   = 4096
	longestSource = 64
	mostDigits    = 6

	noSource     = 0
	otherSource  = 1
	otherSources = "(other)"
)

func newSources() *sources { return &sources{refs: map[string]int64{otherSources: otherSource}} }

// of is a source's number.
func (s *sources) of(text []byte) int64 {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return noSource
	}
	if ref, known := s.refs[string(text)]; known {
		return ref
	}
	if len(s.refs) >= mostSources || !looksLikeOne(text) {
		return otherSource
	}
	ref := int64(len(s.refs) + 1)
	s.refs[string(text)] = ref
	s.fresh = append(s.fresh, string(text))
	return ref
}

func looksLikeOne(text []byte) bool {
	digits := 0
	for _, c := range text {
		switch {
		case c < ' ' || c == 0x7f || c == '@':
			return false
		case c-'0' <= 9:
			digits++
		}
	}
	return len(text) <= longestSource && digits <= mostDigits && utf8.Valid(text)
}
