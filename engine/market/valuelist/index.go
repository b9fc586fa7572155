package valuelist

import (
	"slices"

	"pingpost/engine/bitset"
)

// Index finds the filter sets whose lists have a value. The zero Index is empty. Callers add all lists,
// then call Compact, and only then look values up.
type Index struct {
	texts         map[string]*Sets
	numbers       map[float64]*Sets
	prefixLengths []int // as in List, of all lists
}

// Sets holds the filter sets that have one value in their list: their numbers, ascending. If that list
// would be longer than a mask of all sets, it is a mask.
type Sets struct {
	list []uint32
	mask bitset.Set
}

// noSets is the result for a value that no filter set lists.
var noSets Sets

// AddList records that the filter set has this list; nil means no list. Callers add sets in ascending
// order.
func (x *Index) AddList(set int, l *List) {
	if l == nil {
		return
	}
	if x.texts == nil {
		x.texts, x.numbers = map[string]*Sets{}, map[float64]*Sets{}
	}
	for _, text := range l.texts {
		x.texts[text] = x.texts[text].addSet(set)
	}
	for _, number := range l.numbers {
		x.numbers[number] = x.numbers[number].addSet(set)
	}
	x.prefixLengths = sortDescending(append(x.prefixLengths, l.prefixLengths...))
}

// IsEmpty reports whether no filter set has a list.
func (x *Index) IsEmpty() bool { return x.texts == nil }

// addSet adds the filter set's number to p, unless it is the last one already, and returns p. For a nil
// p it returns a new one.
func (p *Sets) addSet(set int) *Sets {
	if p == nil {
		p = new(Sets)
	}
	if n := len(p.list); n == 0 || p.list[n-1] != uint32(set) {
		p.list = append(p.list, uint32(set))
	}
	return p
}

// Compact ends the additions. It adds to each entry the sets of its listed beginnings, so that a lookup
// needs only the longest one. It replaces long lists of sets by masks of maskWords words.
func (x *Index) Compact(maskWords int) {
	for text, p := range x.texts {
		for _, length := range x.prefixLengths {
			if length < len(text) && x.texts[text[:length]] != nil {
				p.list = append(p.list, x.texts[text[:length]].list...)
			}
		}
		slices.Sort(p.list)
		p.list = slices.Compact(p.list)
	}
	for _, p := range x.texts {
		p.compactToMaskIfSmaller(maskWords)
	}
	for _, p := range x.numbers {
		p.compactToMaskIfSmaller(maskWords)
	}
}

// compactToMaskIfSmaller replaces the list by a mask of this number of words if the mask is smaller.
func (p *Sets) compactToMaskIfSmaller(maskWords int) {
	if len(p.list) <= 2*maskWords { // as many bytes
		return
	}
	p.mask = make(bitset.Set, maskWords)
	for _, set := range p.list {
		p.mask.Add(int(set))
	}
	p.list = nil
}

// SetsWithNumber returns the filter sets that list the number.
func (x *Index) SetsWithNumber(n float64) *Sets {
	if p := x.numbers[n]; p != nil {
		return p
	}
	return &noSets
}

// SetsWithText returns the filter sets whose lists have the text. See List.HasText.
func (x *Index) SetsWithText(text []byte) *Sets {
	if p := x.texts[string(text)]; p != nil {
		return p
	}
	for _, length := range x.prefixLengths {
		if length >= len(text) {
			continue
		}
		if p := x.texts[string(text[:length])]; p != nil {
			return p
		}
	}
	return &noSets
}

// ClearFrom clears in candidateSets the filter sets that list the value.
func (p *Sets) ClearFrom(candidateSets bitset.Set) {
	if p.mask != nil {
		candidateSets.RemoveAll(p.mask)
		return
	}
	for _, set := range p.list {
		candidateSets.Remove(int(set))
	}
}

// ClearOthersFrom clears in candidateSets those filter sets of setsWithList that do not list the value.
func (p *Sets) ClearOthersFrom(candidateSets, setsWithList bitset.Set) {
	few := p.list
	for i, word := range setsWithList {
		var kept uint64
		if p.mask != nil {
			kept = p.mask[i]
		}
		for len(few) > 0 && int(few[0]/bitset.WordBits) == i {
			kept |= 1 << (few[0] % bitset.WordBits)
			few = few[1:]
		}
		candidateSets[i] &^= word &^ kept
	}
}
