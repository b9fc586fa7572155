package market

import (
	"slices"
	"testing"

	"pingpost/engine/bitset"
)

// postingOf returns a compacted posting that lists the given sets.
func postingOf(sets int, listed []int) *setsListingValue {
	var p *setsListingValue
	for _, set := range listed {
		p = p.addSet(set)
	}
	if p == nil {
		return &listedByNoSet
	}
	p.compactToMaskIfSmaller(len(bitset.New(sets)))
	return p
}

func TestPostingUsesSmallerForm(t *testing.T) {
	const sets = 640 // a mask of ten words, as large as twenty numbers
	for n, wantMask := range map[int]bool{1: false, 20: false, 21: true, sets: true} {
		var listed []int
		for i := range n {
			listed = append(listed, i, i) // a duplicate counts once
		}
		if p := postingOf(sets, listed); (p.mask != nil) != wantMask || !wantMask && len(p.list) != n {
			t.Errorf("%d of %d sets: list of %d (mask: %t), want mask: %t", n, sets, len(p.list), p.mask != nil, wantMask)
		}
	}
}

func TestValueIndexMatchesByKind(t *testing.T) {
	var x listedValueIndex
	x.addValues(0, newFilterValueSet([]string{"2.0"}))
	x.addValues(1, newFilterValueSet([]string{"2"}))
	x.addValues(2, nil)
	x.compactLongFilterSetListsToMasks(1)
	for _, c := range []struct {
		name string
		v    FieldValue
		want []uint32
	}{
		{"number in another notation", number("2e0"), []uint32{0, 1}},
		{"text", text("2.0"), []uint32{0}},
		{"unlisted text", text("2e0"), nil},
		{"unlisted number", number("3"), nil},
	} {
		if got := x.findSetsListingOrEmpty(&c.v).list; !slices.Equal(got, c.want) {
			t.Errorf("%s: sets %v, want %v", c.name, got, c.want)
		}
	}
	if v := text("x"); new(listedValueIndex).findSetsListingOrEmpty(&v) != &listedByNoSet {
		t.Error("an empty index finds a set")
	}
}
