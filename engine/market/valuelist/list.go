// Package valuelist has the lists of accepted or excluded values of filters, and an index that finds
// the filter sets whose lists have a value.
//
// A number of a lead is looked up among the entries that are numbers, any other value among the
// texts.
package valuelist

import (
	"cmp"
	"slices"
	"strconv"

	"pingpost/engine/market/format"
)

// Kind says which values an entry of a list covers.
type Kind uint8

const (
	Values   Kind = 1 // the entry itself, as a text or as a number
	Texts    Kind = 2 // the entry itself, as a text
	ZIPs     Kind = 3 // a ZIP code; one of five digits also covers its codes in the form ZIP+4
	Prefixes Kind = 4 // each text that begins with the entry
)

// List is a list of values. It never changes. A nil *List is no list.
//
// The entries are sorted slices. Rejected: maps, which need twice the memory. A configuration of a
// thousand buyers can list ten million ZIP codes.
type List struct {
	kind    Kind
	texts   []string
	numbers []float64

	// prefixLengths has the lengths, in descending order, at which an entry covers all longer texts
	// that begin with it.
	prefixLengths []int
}

// NewOrNil returns the list of the entries, or nil if entries is empty.
func NewOrNil(kind Kind, entries []string) *List {
	if len(entries) == 0 {
		return nil
	}
	return newSorted(kind, slices.Clone(entries))
}

// newSorted returns the list of the entries, and sorts them in place.
func newSorted(kind Kind, entries []string) *List {
	slices.Sort(entries)
	l := &List{kind: kind, texts: slices.Compact(entries)}
	switch kind {
	case Values:
		for _, entry := range l.texts {
			if n, ok := ParseNumber(entry); ok {
				l.numbers = append(l.numbers, n)
			}
		}
		slices.Sort(l.numbers)
		l.numbers = slices.Compact(l.numbers)
	case ZIPs:
		l.prefixLengths = []int{zipLength}
	case Prefixes:
		for _, entry := range l.texts {
			l.prefixLengths = append(l.prefixLengths, len(entry))
		}
		l.prefixLengths = sortDescending(l.prefixLengths)
	}
	return l
}

const zipLength = 5

// sortDescending returns the different lengths in descending order.
func sortDescending(lengths []int) []int {
	slices.SortFunc(lengths, func(a, b int) int { return cmp.Compare(b, a) })
	return slices.Compact(lengths)
}

// HasText reports whether the list has the text of a lead, or for ZIPs and Prefixes its beginning.
func (l *List) HasText(text []byte) bool {
	if l.hasEntry(text) {
		return true
	}
	for _, length := range l.prefixLengths {
		if length < len(text) && l.hasEntry(text[:length]) {
			return true
		}
	}
	return false
}

// hasEntry reports whether the text is an entry. It does not allocate.
func (l *List) hasEntry(text []byte) bool {
	low, high := 0, len(l.texts)
	for low < high {
		if middle := (low + high) / 2; l.texts[middle] < string(text) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low < len(l.texts) && l.texts[low] == string(text)
}

// HasNumber reports whether an entry is this number.
func (l *List) HasNumber(n float64) bool {
	_, ok := slices.BinarySearch(l.numbers, n)
	return ok
}

// Entries returns the entries, sorted as texts. The caller must not change them.
func (l *List) Entries() []string { return l.texts }

// Numbers returns the entries that are numbers, sorted. The caller must not change them.
func (l *List) Numbers() []float64 { return l.numbers }

// EntriesByValue returns the entries, numbers sorted by their value and before them the other texts in
// their order.
func (l *List) EntriesByValue() []string {
	return slices.SortedFunc(slices.Values(l.texts), func(a, b string) int {
		x, isNumberX := ParseNumber(a)
		y, isNumberY := ParseNumber(b)
		if isNumberX && isNumberY {
			return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
		}
		return cmp.Compare(a, b)
	})
}

// Intersect returns the list of the values that both lists have. They are of one kind. A nil receiver
// has all values. The result may have no entry.
func (l *List) Intersect(other *List) *List {
	if l == nil {
		return other
	}
	var both []string
	for _, lists := range [...][2]*List{{l, other}, {other, l}} {
		for _, entry := range lists[0].texts {
			if lists[1].HasText([]byte(entry)) {
				both = append(both, entry)
			}
		}
	}
	intersection := newSorted(l.kind, both)
	intersection.numbers = nil
	for _, n := range l.numbers {
		if other.HasNumber(n) {
			intersection.numbers = append(intersection.numbers, n)
		}
	}
	return intersection
}

// ParseNumber parses a JSON number. ok is false for forms that only strconv accepts, such as 0x10, 1_000
// or Inf, because no lead can have them.
func ParseNumber(digits string) (n float64, ok bool) {
	if _, ok = format.ParseDecimal([]byte(digits)); !ok {
		return 0, false
	}
	n, err := strconv.ParseFloat(digits, 64)
	return n, err == nil
}
