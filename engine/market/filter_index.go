package market

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// FilterIndex answers for many sets of filters at once, such as those of all
// the buyers in a campaign, which of them a lead passes.
//
// It is laid out by field, not by set: for each field that any set filters, the
// sets are kept that fall to its absence, to a value, to a bound. A lead costs
// one lookup and a few passes over n/64 words a field, however many sets there
// are. Nothing changes after it is built.
//
// Rejected: a mask of all sets for each value and bound. It is as fast, and
// for 10,000 buyers with lists of ZIP codes takes 50 MB.
type FilterIndex struct {
	sets   int
	fields []fieldIndex
}

// fieldIndex is what the sets ask of one field.
type fieldIndex struct {
	slot    Slot
	absent  Bits // sets that want the field absent
	present Bits // sets that want anything else of it
	listing Bits // sets that list what they take
	bounded Bits // sets with a bound, which only a number can keep
	in      valueIndex
	notIn   valueIndex
	mins    boundIndex
	maxs    boundIndex // of negated numbers, so that both fail upwards
}

// NewFilterIndex takes the filters of each set; a lead passes a set when it
// passes all of them.
func NewFilterIndex(sets [][]Filter) *FilterIndex {
	bySlot := map[Slot]map[int][]Filter{}
	for i, filters := range sets {
		for _, f := range filters {
			if bySlot[f.slot] == nil {
				bySlot[f.slot] = map[int][]Filter{}
			}
			bySlot[f.slot][i] = append(bySlot[f.slot][i], f)
		}
	}
	x := &FilterIndex{sets: len(sets)}
	for slot, asked := range bySlot {
		x.fields = append(x.fields, newFieldIndex(slot, len(sets), asked))
	}
	slices.SortFunc(x.fields, func(a, b fieldIndex) int { return cmp.Compare(a.slot, b.slot) })
	return x
}

// Pass clears from dst the bit of every set that the lead fails, and sets none.
func (x *FilterIndex) Pass(l *Lead, dst Bits) {
	if len(dst)*bitsInWord < x.sets {
		panic("BUG: bits for fewer sets than the filter index has")
	}
	for i := range x.fields {
		x.fields[i].pass(&l.Values[x.fields[i].slot], dst)
	}
}

func newFieldIndex(slot Slot, sets int, asked map[int][]Filter) fieldIndex {
	x := fieldIndex{
		slot:   slot,
		absent: NewBits(sets), present: NewBits(sets), listing: NewBits(sets), bounded: NewBits(sets),
	}
	for set := range sets { // in order, so that postings are sorted
		if filters := asked[set]; filters != nil {
			x.add(set, filters)
		}
	}
	x.in.seal(len(x.listing))
	x.notIn.seal(len(x.listing))
	x.mins.seal(sets)
	x.maxs.seal(sets)
	return x
}

// add enters what one set asks, as if by a single filter: lists that are taken
// cross, lists that are excluded add up, the narrowest bounds stand.
func (x *fieldIndex) add(set int, filters []Filter) {
	var in *valueSet
	low, high := math.Inf(-1), math.Inf(1)
	for i := range filters {
		f := &filters[i]
		if f.absent {
			x.absent.Set(set)
			continue
		}
		x.present.Set(set)
		if f.in != nil {
			in = in.cross(f.in)
		}
		x.notIn.add(set, f.notIn)
		low, high = max(low, f.min), min(high, f.max)
		if f.bounded {
			x.bounded.Set(set)
		}
	}
	if in != nil {
		x.listing.Set(set)
		x.in.add(set, in)
	}
	x.mins.add(set, low)
	x.maxs.add(set, -high)
}

func (x *fieldIndex) pass(v *Value, dst Bits) {
	if v.Kind == KindAbsent {
		dst.AndNot(x.present)
		return
	}
	dst.AndNot(x.absent)
	x.in.at(v).keepOf(x.listing, dst)
	x.notIn.at(v).clearFrom(dst)
	if !v.isNumber() {
		dst.AndNot(x.bounded)
		return
	}
	x.mins.clearOver(v.Num, dst)
	x.maxs.clearOver(-v.Num, dst)
}

// cross is what both sets match; a nil set matches everything.
func (s *valueSet) cross(other *valueSet) *valueSet {
	if s == nil {
		return other
	}
	both := &valueSet{texts: map[string]struct{}{}, numbers: map[float64]struct{}{}}
	for text := range s.texts {
		if _, ok := other.texts[text]; ok {
			both.texts[text] = struct{}{}
		}
	}
	for number := range s.numbers {
		if _, ok := other.numbers[number]; ok {
			both.numbers[number] = struct{}{}
		}
	}
	return both
}

// boundIndex finds the sets whose lower bound a number does not reach.
type boundIndex struct {
	bounds []bound // ascending
	over   []Bits  // over[k]: the sets of bounds[k*bitsInWord:]
}

type bound struct {
	at  float64
	set int
}

func (x *boundIndex) add(set int, at float64) {
	if !math.IsInf(at, -1) {
		x.bounds = append(x.bounds, bound{at, set})
	}
}

func (x *boundIndex) seal(sets int) {
	slices.SortStableFunc(x.bounds, func(a, b bound) int { return cmp.Compare(a.at, b.at) })
	blocks := (len(x.bounds) + bitsInWord - 1) / bitsInWord
	x.over = make([]Bits, blocks)
	rest := NewBits(sets)
	for k := blocks - 1; k >= 0; k-- {
		for _, b := range x.bounds[k*bitsInWord : min((k+1)*bitsInWord, len(x.bounds))] {
			rest.Set(b.set)
		}
		x.over[k] = slices.Clone(rest)
	}
}

// clearOver clears the sets whose bound is over n: those up to the end of the
// bound's block one by one, the rest by the mask.
func (x *boundIndex) clearOver(n float64, dst Bits) {
	first := sort.Search(len(x.bounds), func(i int) bool { return x.bounds[i].at > n })
	block := (first + bitsInWord - 1) / bitsInWord
	for _, b := range x.bounds[first:min(block*bitsInWord, len(x.bounds))] {
		dst.Clear(b.set)
	}
	if block < len(x.over) {
		dst.AndNot(x.over[block])
	}
}
