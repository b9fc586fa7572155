package strictjson

import (
	"bytes"
	"slices"
	"unicode"
)

// Repeated members. The names of an object lie together in scanner.names while
// the object is open. An ordinary object has few, and each new name is compared
// with those before it. Past fewNames that would grow with the square of their
// number, so the check then waits for the object's end, sorts the names (they
// have no other use by then) and compares neighbours: n log n, whatever a
// stranger sends.
//
// Rejected: a hash set. It needs memory of its own for each depth, and a secret
// seed lest names be made to collide; sorting needs neither.
const fewNames = 24

// name is a member's name, unescaped, and where it stands.
type name struct {
	text   []byte
	offset int
}

// addName notes a name of the object whose names begin at first.
func (s *scanner) addName(first int, added name) *SyntaxError {
	earlier := s.names[first:]
	if len(earlier) < fewNames {
		for i := range earlier {
			if err := s.compare(earlier[i], added); err != nil {
				return err
			}
		}
	}
	s.names = append(s.names, added)
	return nil
}

// checkNames does at an object's end what addName has left undone.
func (s *scanner) checkNames(first int) *SyntaxError {
	names := s.names[first:]
	if len(names) <= fewNames {
		return nil
	}
	if s.folds {
		for i := range names {
			names[i].text = bytes.Map(fold, names[i].text)
		}
	}
	return s.neighbours(names)
}

// fold is one rune for all that differ from it in case alone.
func fold(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

// neighbours sorts and compares. Of several that are repeated it reports the
// one that comes first in the text.
func (s *scanner) neighbours(names []name) (found *SyntaxError) {
	slices.SortFunc(names, func(a, b name) int {
		if c := bytes.Compare(a.text, b.text); c != 0 {
			return c
		}
		return a.offset - b.offset
	})
	for i := 1; i < len(names); i++ {
		err := s.compare(names[i-1], names[i])
		if err != nil && (found == nil || err.Offset < found.Offset) {
			found = err
		}
	}
	return found
}

// compare reports the later of two names that are one.
func (s *scanner) compare(earlier, later name) *SyntaxError {
	switch {
	case s.folds && bytes.EqualFold(earlier.text, later.text):
		return &SyntaxError{Offset: later.offset, Message: repeatedCase}
	case bytes.Equal(earlier.text, later.text):
		return &SyntaxError{Offset: later.offset, Message: repeated}
	}
	return nil
}
