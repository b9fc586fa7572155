package strictjson

import (
	"bytes"
	"slices"
	"unicode"
)

// maxComparedNames is the number of names in an object up to which each new name is compared
// with all earlier ones. With more names that would take quadratic time. The check then waits
// for the end of the object, sorts the names and compares neighbours, which takes n log n time
// for every input. Sorting is safe, because the names have no other use by then. The names of
// an unfinished object are together in scanner.names.
//
// Rejected: a hash set. It needs memory for each depth, and a secret seed against intentional
// collisions.
const maxComparedNames = 24

// memberName is the unescaped name of an object's member, with its offset in the text for an error message.
type memberName struct {
	text   []byte
	offset int
}

// addNameAndCheckIfFew adds the name of the next member of an object. The object's names begin at
// s.names[firstNameIndex]. It returns an error if the object already has the name. In
// an object with more than maxComparedNames names, checkRepeatedNamesIfMany finds the repeats later.
func (s *scanner) addNameAndCheckIfFew(firstNameIndex int, added memberName) *SyntaxError {
	earlier := s.names[firstNameIndex:]
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

// checkRepeatedNamesIfMany returns an error if an object with more than maxComparedNames names has a name
// twice. addNameAndCheckIfFew checks smaller objects. The scanner calls it at the end of each object. The
// object's names begin at s.names[firstNameIndex].
func (s *scanner) checkRepeatedNamesIfMany(firstNameIndex int) *SyntaxError {
	names := s.names[firstNameIndex:]
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

// foldCase maps all letters that differ only in case to the same letter. Names are compared
// this way if upper and lower case count as equal.
func foldCase(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

// sortAndFindRepeated sorts the names and compares neighbours. If names repeat, it returns an
// error for the repetition that comes first in the text.
func (s *scanner) sortAndFindRepeated(names []memberName) (found *SyntaxError) {
	slices.SortFunc(names, func(a, b memberName) int {
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

// errorIfEqual returns an error at the offset of later if both names are equal, or nil.
func (s *scanner) errorIfEqual(earlier, later memberName) *SyntaxError {
	switch {
	case s.ignoreCase && bytes.EqualFold(earlier.text, later.text):
		return &SyntaxError{Offset: later.offset, Message: repeatedCase}
	case bytes.Equal(earlier.text, later.text):
		return &SyntaxError{Offset: later.offset, Message: repeated}
	}
	return nil
}
