package strictjson

import (
	"bytes"
	"slices"
	"unicode"
)

// maxComparedNames is the number of names in an object up to which each new name is compared
// with all earlier ones. For more names that would take quadratic time. The check then waits for
// the end of the object, sorts the names, which have no other use by then, and compares
// neighbours: n log n for every input. The names of an open object are together in scanner.names.
//
// Rejected: a hash set. It needs memory for each depth, and a secret seed against collisions by
// intent.
const maxComparedNames = 24

// name is the unescaped name of a member, with its place in the text.
type name struct {
	text   []byte
	offset int
}

// addUniqueName adds a name to the object whose names begin at first. It returns an error if it finds
// the name among them.
func (s *scanner) addUniqueName(first int, added name) *SyntaxError {
	earlier := s.names[first:]
	if len(earlier) < maxComparedNames {
		for i := range earlier {
			if err := s.errorIfEqual(earlier[i], added); err != nil {
				return err
			}
		}
	}
	s.names = append(s.names, added)
	return nil
}

// checkRepeatedNames searches a large object for repeated names, at the object's end.
func (s *scanner) checkRepeatedNames(first int) *SyntaxError {
	names := s.names[first:]
	if len(names) <= maxComparedNames {
		return nil
	}
	if s.ignoreCase {
		for i := range names {
			names[i].text = bytes.Map(foldCase, names[i].text)
		}
	}
	return s.sortAndFindRepeated(names)
}

// foldCase returns the same rune for all runes that differ only in case.
func foldCase(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

// sortAndFindRepeated sorts the names and compares neighbours. It reports the repeated name that is
// first in the text.
func (s *scanner) sortAndFindRepeated(names []name) (found *SyntaxError) {
	slices.SortFunc(names, func(a, b name) int {
		if c := bytes.Compare(a.text, b.text); c != 0 {
			return c
		}
		return a.offset - b.offset
	})
	for i := 1; i < len(names); i++ {
		err := s.errorIfEqual(names[i-1], names[i])
		if err != nil && (found == nil || err.Offset < found.Offset) {
			found = err
		}
	}
	return found
}

// errorIfEqual returns an error for the later of two equal names.
func (s *scanner) errorIfEqual(earlier, later name) *SyntaxError {
	switch {
	case s.ignoreCase && bytes.EqualFold(earlier.text, later.text):
		return &SyntaxError{Offset: later.offset, Message: repeatedCase}
	case bytes.Equal(earlier.text, later.text):
		return &SyntaxError{Offset: later.offset, Message: repeated}
	}
	return nil
}
