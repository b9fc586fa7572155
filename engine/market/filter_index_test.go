package market

import (
	"fmt"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/bitset"
)

// Few samples, so that leads often match filters.
var (
	textSamples   = []string{"", "CA", "NV", "true", "false", "2", "2.0", "x"}
	numberSamples = []string{"0", "-0", "1", "1.0", "1.5", "2", "2.0", "2e0", "-3", "100", "1e300", "-1e300"}
)

func filterGenerator(slots int) *rapid.Generator[Filter] {
	return rapid.Custom(func(t *rapid.T) Filter {
		bound := rapid.Custom(func(t *rapid.T) *string {
			digits := strconv.Itoa(rapid.IntRange(-100, 100).Draw(t, "tenths")) + "e-1"
			return &digits
		})
		var spec FilterSpec
		list := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(textSamples), rapid.SampledFrom(numberSamples)), 1, 4)
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			spec.Absent = true
		case 1:
			spec.In = list.Draw(t, "in")
		case 2:
			spec.NotIn = list.Draw(t, "not in")
		case 3:
			spec.Min = bound.Draw(t, "min")
		case 4:
			spec.Max = bound.Draw(t, "max")
		case 5:
			spec.In, spec.NotIn, spec.Min = list.Draw(t, "in"), list.Draw(t, "not in"), bound.Draw(t, "min")
		}
		return filterOn(t, LeadFieldIndex(rapid.IntRange(0, slots-1).Draw(t, "slot")), spec)
	})
}

func valueGenerator() *rapid.Generator[FieldValue] {
	return rapid.OneOf(
		rapid.Just(FieldValue{}),
		rapid.Map(rapid.SampledFrom(textSamples), text),
		rapid.Map(rapid.SampledFrom(numberSamples), number),
		rapid.Map(rapid.IntRange(-10, 10), func(n int) FieldValue { return integer(strconv.Itoa(n)) }),
		rapid.Map(rapid.SampledFrom([]string{"true", "false"}), boolean),
	)
}

func TestFilterIndexMatchesFilters(t *testing.T) {
	const slots = 3
	rapid.Check(t, func(t *rapid.T) {
		// Many sets of few kinds: enough to fill masks and blocks.
		kinds := rapid.SliceOfN(rapid.SliceOfN(filterGenerator(slots), 0, 4), 1, 8).Draw(t, "kinds")
		sets := make([][]Filter, rapid.IntRange(0, 300).Draw(t, "sets"))
		step := rapid.IntRange(1, 7).Draw(t, "step")
		for i := range sets {
			sets[i] = kinds[i*step%len(kinds)]
		}
		index := NewFilterIndex(sets)
		for range 5 {
			l := Lead{Values: rapid.SliceOfN(valueGenerator(), slots, slots).Draw(t, "lead")}
			got := bitset.New(len(sets))
			got.ResetToAllBelow(len(sets))
			excluded := -1 // a set excluded before the call
			if len(sets) > 0 {
				excluded = rapid.IntRange(0, len(sets)-1).Draw(t, "excluded")
				got.Remove(excluded)
			}
			index.ClearFailingSets(&l, got)
			for i, filters := range sets {
				want := i != excluded
				for k := range filters {
					want = want && filters[k].Accepts(&l)
				}
				if got.Has(i) != want {
					t.Fatalf("set %d: the filters accept: %t, the index accepts: %t", i, want, got.Has(i))
				}
			}
		}
	})
}

// TestFilterIndexWithSeveralListsOnOneField: a buyer and its campaign entry can each list values of
// a field.
func TestFilterIndexWithSeveralListsOnOneField(t *testing.T) {
	index := NewFilterIndex([][]Filter{{
		filterOn(t, 0, FilterSpec{In: []string{"CA", "NV", "1", "2"}}),
		filterOn(t, 0, FilterSpec{In: []string{"NV", "NY", "2", "3"}}),
	}})
	for want, values := range map[bool][]FieldValue{
		true:  {text("NV"), number("2")},
		false: {text("CA"), text("NY"), number("1"), number("3")},
	} {
		for _, v := range values {
			passing := bitset.New(1)
			passing.ResetToAllBelow(1)
			index.ClearFailingSets(&Lead{Values: []FieldValue{v}}, passing)
			if passing.Has(0) != want {
				t.Errorf("value %s is accepted: %t", v.Text, !want)
			}
		}
	}
}

func TestFilterIndexWithDistinctBounds(t *testing.T) {
	const sets = 500
	var filters [][]Filter
	for i := range sets {
		low, high := strconv.Itoa(i*7%sets), strconv.Itoa(i*7%sets+50)
		filters = append(filters, []Filter{filterOn(t, 0, FilterSpec{Min: &low, Max: &high})})
	}
	index := NewFilterIndex(filters)
	for n := -2; n < sets+60; n++ {
		l := Lead{Values: []FieldValue{integer(strconv.Itoa(n))}}
		got := bitset.New(sets)
		got.ResetToAllBelow(sets)
		index.ClearFailingSets(&l, got)
		for i := range filters {
			if want := filters[i][0].Accepts(&l); got.Has(i) != want {
				t.Fatalf("value %d, set %d: the filter accepts: %t, the index accepts: %t", n, i, want, got.Has(i))
			}
		}
	}
}

func TestFilterIndexWithoutFilters(t *testing.T) {
	all := bitset.New(3)
	all.ResetToAllBelow(3)
	NewFilterIndex(make([][]Filter, 3)).ClearFailingSets(&Lead{}, all)
	if all.Count() != 3 {
		t.Errorf("%d of 3 sets without filters are accepted", all.Count())
	}
}

func TestFilterIndexPanicsOnTooSmallBitset(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	NewFilterIndex(make([][]Filter, 65)).ClearFailingSets(&Lead{}, bitset.New(64))
}

// TestFilterIndexKeepsShortPostingsAsLists: many values with few sets each need no masks.
func TestFilterIndexKeepsShortPostingsAsLists(t *testing.T) {
	const buyers, zips = 1000, 50
	var sets [][]Filter
	for b := range buyers {
		var list []string
		for z := range zips {
			list = append(list, fmt.Sprintf("%05d", b*zips+z))
		}
		sets = append(sets, []Filter{filterOn(t, 0, FilterSpec{In: list})})
	}
	index := NewFilterIndex(sets)
	for zip, p := range index.fields[0].in.texts {
		if p.mask != nil || len(p.list) != 1 {
			t.Fatalf("the posting of %s has %d sets (mask: %t), want a list of one", zip, len(p.list), p.mask != nil)
		}
	}
	allSets := make([][]Filter, buyers)
	for b := range allSets {
		allSets[b] = []Filter{filterOn(t, 0, FilterSpec{In: []string{"CA"}})}
	}
	if p := NewFilterIndex(allSets).fields[0].in.texts["CA"]; p.list != nil || p.mask.Count() != buyers {
		t.Errorf("the posting of a value in all sets is a list of %d numbers, want a mask", len(p.list))
	}
}

func BenchmarkFilterIndex(b *testing.B) {
	for _, buyers := range []int{10, 1000} {
		b.Run(fmt.Sprintf("buyers=%d", buyers), func(b *testing.B) {
			index, l := newLargeIndex(b, buyers)
			dst := bitset.New(buyers)
			b.ReportAllocs()
			for b.Loop() {
				dst.ResetToAllBelow(buyers)
				index.ClearFailingSets(l, dst)
			}
		})
	}
}

// newLargeIndex returns an index of n buyers, each with two lists and a bound, and a lead.
func newLargeIndex(t interface{ Fatal(...any) }, buyers int) (*FilterIndex, *Lead) {
	var sets [][]Filter
	for i := range buyers {
		low := strconv.Itoa(i % 20)
		sets = append(sets, []Filter{
			filterOn(t, 0, FilterSpec{Min: &low}),
			filterOn(t, 1, FilterSpec{In: []string{"CA", textSamples[i%len(textSamples)]}}),
			filterOn(t, 2, FilterSpec{NotIn: []string{strconv.Itoa(i)}}),
		})
	}
	return NewFilterIndex(sets), &Lead{Values: []FieldValue{integer("10"), text("NV"), integer("7")}}
}
