package valuelist

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/bitset"
)

func TestList(t *testing.T) {
	for _, test := range []struct {
		kind         Kind
		entries      string
		with, others string
	}{
		{Values, "CA NV 2.0", "CA NV 2.0", "C CAL 2 ca"},
		{Texts, "75201", "75201", "75201-1234 7520"},
		{ZIPs, "75201 10001-2222", "75201 75201-1234 10001-2222", "7520 10001 10001-2223 75202-1234"},
		{Prefixes, "752 1", "752 75201 75201-1234 1 10", "75 751 2"},
	} {
		list := NewOrNil(test.kind, strings.Fields(test.entries))
		for _, text := range strings.Fields(test.with) {
			if !list.HasText([]byte(text)) {
				t.Errorf("%s: %s is missing", test.entries, text)
			}
		}
		for _, text := range strings.Fields(test.others) {
			if list.HasText([]byte(text)) {
				t.Errorf("%s: has %s", test.entries, text)
			}
		}
	}
	if list := NewOrNil(Values, nil); list != nil {
		t.Error("a list without entries is not nil")
	}
}

func TestEntriesByValue(t *testing.T) {
	list := NewOrNil(Values, []string{"10", "9", "9", "1e1", "x"})
	if got := list.EntriesByValue(); !slices.Equal(got, []string{"9", "10", "1e1", "x"}) {
		t.Errorf("%v", got)
	}
}

// entryGenerator makes few different entries, so that lists overlap.
func entryGenerator(kind Kind) *rapid.Generator[string] {
	switch kind {
	case Values:
		return rapid.SampledFrom([]string{"CA", "1", "1.0", "2", "-0", "0"})
	case ZIPs:
		return rapid.StringMatching(`7520[12](-000[12])?`)
	}
	return rapid.StringMatching(`[12]{1,4}`)
}

// TestIndexMatchesLists compares the index with its lists, and intersections with the lists they come from.
func TestIndexMatchesLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]Kind{Values, Texts, ZIPs, Prefixes}).Draw(t, "kind")
		newList := rapid.Map(rapid.SliceOfN(entryGenerator(kind), 1, 5), func(entries []string) *List { return NewOrNil(kind, entries) })
		var x Index
		sets := rapid.IntRange(1, 200).Draw(t, "sets")
		few := rapid.SliceOfN(newList, 1, 5).Draw(t, "lists")
		hasList, lists := bitset.New(sets), make([]*List, sets)
		for set := range sets {
			if set%3 > 0 {
				lists[set] = few[set%len(few)]
				hasList.Add(set)
			}
			x.AddList(set, lists[set])
		}
		x.Compact(len(hasList))
		for range 5 {
			text := entryGenerator(kind).Draw(t, "text")
			number, isNumber := ParseNumber(text)
			has := func(l *List) bool {
				if kind == Values && isNumber {
					return l.HasNumber(number)
				}
				return l.HasText([]byte(text))
			}
			if both := few[0].Intersect(few[len(few)-1]); has(both) != (has(few[0]) && has(few[len(few)-1])) {
				t.Fatalf("the intersection of %v and %v has %s: %t", few[0], few[len(few)-1], text, has(both))
			}
			found := x.SetsWithText([]byte(text))
			if kind == Values && isNumber {
				found = x.SetsWithNumber(number)
			}
			accepted, excluded := bitset.New(sets), bitset.New(sets)
			accepted.ResetToAllBelow(sets)
			excluded.ResetToAllBelow(sets)
			found.ClearOthersFrom(accepted, hasList)
			found.ClearFrom(excluded)
			for set, list := range lists {
				listed := list != nil && has(list)
				if accepted.Has(set) != (list == nil || listed) || excluded.Has(set) == listed {
					t.Fatalf("set %d with %v: accepted %t, excluded %t", set, list, accepted.Has(set), !excluded.Has(set))
				}
			}
		}
	})
}

// TestIndexKeepsShortListsOfSets: many values with few sets each need no masks.
func TestIndexKeepsShortListsOfSets(t *testing.T) {
	const buyers, zips = 1000, 50
	var different, same Index
	for b := range buyers {
		var list []string
		for z := range zips {
			list = append(list, fmt.Sprintf("%05d", b*zips+z))
		}
		different.AddList(b, NewOrNil(ZIPs, list))
		same.AddList(b, NewOrNil(Texts, []string{"CA"}))
	}
	mask := len(bitset.New(buyers))
	different.Compact(mask)
	same.Compact(mask)
	for zip, p := range different.texts {
		if p.mask != nil || len(p.list) != 1 {
			t.Fatalf("%s has %d sets (mask: %t), want a list of one", zip, len(p.list), p.mask != nil)
		}
	}
	if p := same.texts["CA"]; p.list != nil || p.mask.Count() != buyers {
		t.Errorf("a value in all sets has a list of %d numbers, want a mask", len(p.list))
	}
}
