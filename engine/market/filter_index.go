package market

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"sort"

	"pingpost/engine/bitset"
	"pingpost/engine/market/valuelist"
)

// FilterIndex tests a lead against many sets of filters at once, such as those of all buyers in a
// campaign.
//
// It is organized by field, not by set: for each filtered field it stores the sets that fail by
// absence, by value or by bound. A lead costs one lookup and a few passes over n/64 words for
// each field, for any number n of sets. It is immutable.
//
// Rejected: a mask of all sets for each value and bound. It is as fast, but needs 50 MB for
// 10,000 buyers with lists of ZIP codes.
type FilterIndex struct {
	sets   int
	fields []fieldFilterIndex
}

// fieldFilterIndex has the conditions of all filter sets on one field. Sets are named by their number.
type fieldFilterIndex struct {
	slot      LeadFieldIndex
	absent    bitset.Set // sets that require the field to be absent
	present   bitset.Set // sets with any other condition on it
	hasIn     bitset.Set // sets with accepted values, listed or near
	hasPrefix bitset.Set // sets with accepted prefixes
	bounded   bitset.Set // sets with a bound, which only a number or a date can meet
	aged      bitset.Set // sets with a bound of the age; nil: no set
	dates     bool       // the bounds are dates
	in, notIn valuelist.Index
	prefix    valuelist.Index
	notPrefix valuelist.Index
	mins      unmetLowerBoundIndex
	maxs      unmetLowerBoundIndex // of negated upper bounds, so that clearSetsWithBoundAbove serves both
	minAges   unmetLowerBoundIndex
	maxAges   unmetLowerBoundIndex // negated too
	patterns  []setsWithPattern
}

// setsWithPattern holds the filter sets that require a field to match the same pattern. A lead costs one
// match for each different pattern that a remaining candidate has.
type setsWithPattern struct {
	pattern *regexp.Regexp
	sets    bitset.Set
}

// NewFilterIndex compiles sets of filters; the number of a set is its index in sets. A lead
// passes a set if it passes all filters of the set.
func NewFilterIndex(sets [][]Filter) *FilterIndex {
	bySlot := map[LeadFieldIndex]map[int][]Filter{}
	for i, filters := range sets {
		for _, f := range filters {
			if bySlot[f.slot] == nil {
				bySlot[f.slot] = map[int][]Filter{}
			}
			bySlot[f.slot][i] = append(bySlot[f.slot][i], f)
		}
	}
	x := &FilterIndex{sets: len(sets)}
	for slot, filtersBySet := range bySlot {
		x.fields = append(x.fields, newFieldFilterIndex(slot, len(sets), filtersBySet))
	}
	slices.SortFunc(x.fields, func(a, b fieldFilterIndex) int { return cmp.Compare(a.slot, b.slot) })
	return x
}

// ClearFailingSets clears in candidateSets the bit of each set of filters that the lead does not
// pass. It sets no bit, so the caller begins with the bits of all candidates.
func (x *FilterIndex) ClearFailingSets(l *Lead, candidateSets bitset.Set) {
	if len(candidateSets)*bitset.WordBits < x.sets {
		panic("BUG: bits for fewer sets than the filter index has")
	}
	for i := range x.fields {
		x.fields[i].clearFailingSets(l, candidateSets)
	}
}

// newFieldFilterIndex returns the index of one field. setCount is the number of all filter sets, and
// filtersBySet has the filters on this field by the number of their set.
func newFieldFilterIndex(slot LeadFieldIndex, setCount int, filtersBySet map[int][]Filter) fieldFilterIndex {
	x := fieldFilterIndex{
		slot:   slot,
		absent: bitset.New(setCount), present: bitset.New(setCount), hasIn: bitset.New(setCount), hasPrefix: bitset.New(setCount), bounded: bitset.New(setCount),
	}
	for set := range setCount { // in order, as the lists require it
		if filters := filtersBySet[set]; filters != nil {
			x.addSet(set, filters)
		}
	}
	for _, index := range [...]*valuelist.Index{&x.in, &x.notIn, &x.prefix, &x.notPrefix} {
		index.Compact(len(x.hasIn))
	}
	for _, index := range [...]*unmetLowerBoundIndex{&x.mins, &x.maxs, &x.minAges, &x.maxAges} {
		index.sortBoundsAndBuildMasks(setCount)
	}
	return x
}

// addSet adds the filters of one set on this field as if they were one filter. A value must be in
// all accepted lists and in no excluded list, and the narrowest bounds count.
func (x *fieldFilterIndex) addSet(setNumber int, filters []Filter) {
	all, absent, present := combineFilters(filters)
	for i := range filters {
		f := &filters[i]
		x.notIn.AddList(setNumber, f.notIn)
		x.notPrefix.AddList(setNumber, f.notPrefix)
		if f.pattern != nil {
			x.addPattern(setNumber, f.pattern)
		}
	}
	x.in.AddList(setNumber, all.in)
	x.prefix.AddList(setNumber, all.prefix)
	x.mins.addBound(setNumber, all.min)
	x.maxs.addBound(setNumber, -all.max)
	x.minAges.addBound(setNumber, all.minAge)
	x.maxAges.addBound(setNumber, -all.maxAge)
	x.dates = x.dates || all.dates
	if all.aged && x.aged == nil {
		x.aged = make(bitset.Set, len(x.bounded))
	}
	for _, mark := range [...]struct {
		sets    bitset.Set
		applies bool
	}{
		{x.absent, absent},
		{x.present, present},
		{x.hasIn, all.in != nil},
		{x.hasPrefix, all.prefix != nil},
		{x.bounded, all.bounded},
		{x.aged, all.aged},
	} {
		if mark.applies {
			mark.sets.Add(setNumber)
		}
	}
}

// addPattern records that the filter set requires a match of the pattern.
func (x *fieldFilterIndex) addPattern(setNumber int, pattern *regexp.Regexp) {
	i := slices.IndexFunc(x.patterns, func(p setsWithPattern) bool { return p.pattern.String() == pattern.String() })
	if i < 0 {
		i = len(x.patterns)
		x.patterns = append(x.patterns, setsWithPattern{pattern, make(bitset.Set, len(x.bounded))})
	}
	x.patterns[i].sets.Add(setNumber)
}

// clearFailingSets clears in candidateSets the sets whose conditions on this field the lead does not
// meet.
func (x *fieldFilterIndex) clearFailingSets(l *Lead, candidateSets bitset.Set) {
	v := &l.Values[x.slot]
	if v.Kind == KindAbsent {
		candidateSets.RemoveAll(x.present)
		return
	}
	candidateSets.RemoveAll(x.absent)
	if !x.in.IsEmpty() {
		v.setsListing(&x.in).ClearOthersFrom(candidateSets, x.hasIn)
	}
	if !x.notIn.IsEmpty() {
		v.setsListing(&x.notIn).ClearFrom(candidateSets)
	}
	if n, ok := v.number(x.dates); ok {
		x.mins.clearSetsWithBoundAbove(n, candidateSets)
		x.maxs.clearSetsWithBoundAbove(-n, candidateSets)
	} else {
		candidateSets.RemoveAll(x.bounded)
	}
	if !x.prefix.IsEmpty() {
		x.prefix.SetsWithText(v.Text).ClearOthersFrom(candidateSets, x.hasPrefix)
	}
	if !x.notPrefix.IsEmpty() {
		x.notPrefix.SetsWithText(v.Text).ClearFrom(candidateSets)
	}
	if x.aged != nil {
		x.clearSetsWithOtherAges(l, v, candidateSets)
	}
	for i := range x.patterns {
		if p := &x.patterns[i]; candidateSets.HasAnyOf(p.sets) && !matchesPattern(p.pattern, v.Text) {
			candidateSets.RemoveAll(p.sets)
		}
	}
}

// clearSetsWithOtherAges clears in candidateSets the sets whose bounds exclude the age since the date v.
func (x *fieldFilterIndex) clearSetsWithOtherAges(l *Lead, v *FieldValue, candidateSets bitset.Set) {
	age, ok := v.ageSince(l.dayOfDecision())
	if !ok {
		candidateSets.RemoveAll(x.aged)
		return
	}
	x.minAges.clearSetsWithBoundAbove(age, candidateSets)
	x.maxAges.clearSetsWithBoundAbove(-age, candidateSets)
}

// setsListing returns the filter sets of the index that list the value.
func (v *FieldValue) setsListing(x *valuelist.Index) *valuelist.Sets {
	if v.isNumber() {
		return x.SetsWithNumber(v.Num)
	}
	return x.SetsWithText(v.Text)
}

// unmetLowerBoundIndex finds the filter sets with a lower bound that is greater than a lead's number.
type unmetLowerBoundIndex struct {
	bounds []lowerBoundOfFilterSet // ascending
	masks  []bitset.Set            // masks[k]: the sets of bounds[k*bitset.WordBits:]
}

// lowerBoundOfFilterSet is the lower bound of one filter set.
type lowerBoundOfFilterSet struct {
	value float64
	set   int
}

// addBound adds the lower bound of a filter set. Minus infinity means no bound.
func (x *unmetLowerBoundIndex) addBound(setNumber int, lowerBound float64) {
	if !math.IsInf(lowerBound, -1) {
		x.bounds = append(x.bounds, lowerBoundOfFilterSet{lowerBound, setNumber})
	}
}

// sortBoundsAndBuildMasks sorts the bounds and computes one mask for each block of 64 of
// them: the filter sets of that block and of all later ones. setCount is the number of all filter
// sets.
func (x *unmetLowerBoundIndex) sortBoundsAndBuildMasks(setCount int) {
	slices.SortStableFunc(x.bounds, func(a, b lowerBoundOfFilterSet) int { return cmp.Compare(a.value, b.value) })
	blocks := (len(x.bounds) + bitset.WordBits - 1) / bitset.WordBits
	x.masks = make([]bitset.Set, blocks)
	rest := bitset.New(setCount)
	for k := blocks - 1; k >= 0; k-- {
		for _, b := range x.bounds[k*bitset.WordBits : min((k+1)*bitset.WordBits, len(x.bounds))] {
			rest.Add(b.set)
		}
		x.masks[k] = slices.Clone(rest)
	}
}

// clearSetsWithBoundAbove clears in candidateSets the filter sets whose bound is greater than n. Up
// to the end of a block of 64 bounds it clears them one by one, and all later ones by one mask.
func (x *unmetLowerBoundIndex) clearSetsWithBoundAbove(n float64, candidateSets bitset.Set) {
	first := sort.Search(len(x.bounds), func(i int) bool { return x.bounds[i].value > n })
	block := (first + bitset.WordBits - 1) / bitset.WordBits
	for _, b := range x.bounds[first:min(block*bitset.WordBits, len(x.bounds))] {
		candidateSets.Remove(b.set)
	}
	if block < len(x.masks) {
		candidateSets.RemoveAll(x.masks[block])
	}
}
