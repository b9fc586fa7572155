package market

import (
	"slices"
	"testing"

	"pingpost/engine/bitset"
)

// postingOf is a sealed posting of a campaign with so many sets.
func postingOf(sets int, named []int) *setsListingValue {
	var p *setsListingValue
	for _, set := range named {
		p = p.addSet(set)
	}
	if p == nil {
		return &emptyPosting
	}
	p.compactToMaskIfSmaller(len(bitset.New(sets)))
	return p
}

func TestPostingTakesTheSmallerForm(t *testing.T) {
	const sets = 640 // a mask of ten words, as large as twenty numbers
	for n, wantMask := range map[int]bool{1: false, 20: false, 21: true, sets: true} {
		var named []int
		for i := range n {
			named = append(named, i, i) // naming twice counts once
		}
		if p := postingOf(sets, named); (p.mask != nil) != wantMask || !wantMask && len(p.list) != n {
			t.Errorf("%d of %d sets: %d numbers, a mask: %t", n, sets, len(p.list), p.mask != nil)
		}
	}
}

func TestValueIndexFollowsTheKindOfTheValue(t *testing.T) {
	var x listedValueIndex
	x.addValues(0, newFilterValueSet([]string{"2.0"}))
	x.addValues(1, newFilterValueSet([]string{"2"}))
	x.addValues(2, nil)
	x.compactLongListsToMasks(1)
	for _, c := range []struct {
		name string
		v    FieldValue
		want []uint32
	}{
		{"a number, however it is written", number("2e0"), []uint32{0, 1}},
		{"a text, as it is written", text("2.0"), []uint32{0}},
		{"a text that nobody lists", text("2e0"), nil},
		{"a number that nobody lists", number("3"), nil},
	} {
		if got := x.findSetsListing(&c.v).list; !slices.Equal(got, c.want) {
			t.Errorf("%s: sets %v, want %v", c.name, got, c.want)
		}
	}
	if v := text("x"); new(listedValueIndex).findSetsListing(&v) != &emptyPosting {
		t.Error("an index of nothing names a set")
	}
}
