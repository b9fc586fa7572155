package valuelist

import (
	"slices"
	"testing"

	"pingpost/engine/bitset"
)

func TestSetsUseSmallerForm(t *testing.T) {
	const sets = 640 // a mask of ten words, as large as twenty numbers
	for n, wantMask := range map[int]bool{1: false, 20: false, 21: true, sets: true} {
		var p *Sets
		for i := range n {
			p = p.addSet(i).addSet(i) // a duplicate counts once
		}
		p.compactToMaskIfSmaller(len(bitset.New(sets)))
		if (p.mask != nil) != wantMask || !wantMask && len(p.list) != n {
			t.Errorf("%d of %d sets: list of %d (mask: %t), want mask: %t", n, sets, len(p.list), p.mask != nil, wantMask)
		}
	}
}

func TestIndexMatchesByKind(t *testing.T) {
	var x Index
	x.AddList(0, NewOrNil(Values, []string{"2.0"}))
	x.AddList(1, NewOrNil(Values, []string{"2"}))
	x.AddList(2, nil)
	x.Compact(1)
	for _, c := range []struct {
		name string
		sets *Sets
		want []uint32
	}{
		{"number", x.SetsWithNumber(2), []uint32{0, 1}},
		{"text", x.SetsWithText([]byte("2.0")), []uint32{0}},
		{"unlisted text", x.SetsWithText([]byte("2e0")), nil},
		{"unlisted number", x.SetsWithNumber(3), nil},
	} {
		if got := c.sets.list; !slices.Equal(got, c.want) {
			t.Errorf("%s: sets %v, want %v", c.name, got, c.want)
		}
	}
	var empty Index
	if empty.Compact(1); !empty.IsEmpty() || empty.SetsWithText([]byte("x")) != &noSets || empty.SetsWithNumber(1) != &noSets {
		t.Error("an empty index finds a set")
	}
}
