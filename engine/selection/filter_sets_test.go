package selection_test

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/bitset"
	"pingpost/engine/market"
	"pingpost/engine/selection"
)

// Fields of the filters.
const (
	slotVehicles = market.FirstCustomSlot
	slotBand     = market.FirstCustomSlot + 1
)

var mapping = func() *market.FieldMapping {
	m, mistakes := market.NewFieldMapping(market.FieldMappingSpec{Fields: []market.FieldSpec{
		{Name: "vehicles", Type: market.TypeInteger}, {Name: "band", Type: market.TypeString},
	}})
	if mistakes != nil {
		panic(mistakes)
	}
	return m
}()

func filter(spec market.FilterSpec) market.Filter {
	f, err := market.NewFilter(spec, mapping)
	if err != nil {
		panic(err)
	}
	return f
}

var (
	one, two, four = "1", "2", "4"
	testFilters    = []market.Filter{
		filter(market.FilterSpec{Field: "vehicles", Min: &one}), filter(market.FilterSpec{Field: "vehicles", Max: &two}),
		filter(market.FilterSpec{Field: "vehicles", Min: &two, Max: &four}), filter(market.FilterSpec{Field: "vehicles", Absent: true}),
		filter(market.FilterSpec{Field: "band", In: []string{"a", "b"}}), filter(market.FilterSpec{Field: "band", NotIn: []string{"b"}}),
		filter(market.FilterSpec{Field: "state", In: []string{"CA", "NV"}}),
	}
	testStates    = []string{"CA", "NV", "AZ", "AE", "WY"}
	testSuppliers = []market.SupplierID{"acme", "bolt", "core", "other"} // no filter set names the last one
	testLists     = []*market.SuppressionListDefinition{{Ref: 1}, {Ref: 2}, {Ref: 3}}
)

func drawSubset[T any](t *rapid.T, of []T, what string) (some []T) {
	for rest := rapid.Uint64Range(0, 1<<len(of)-1).Draw(t, what); rest > 0; rest &= rest - 1 {
		i := 0
		for rest>>i&1 == 0 {
			i++
		}
		some = append(some, of[i])
	}
	return some
}

// drawCampaign draws a campaign with up to 200 filter sets of a few kinds.
func drawCampaign(t *rapid.T) *market.Campaign {
	var like []market.FilterSet
	for range rapid.IntRange(1, 6).Draw(t, "kinds of filter sets") {
		states, err := market.ParseUSStatesOrAll(drawSubset(t, testStates, "states"))
		if err != nil {
			t.Fatal(err)
		}
		like = append(like, market.FilterSet{
			Buyer:   &market.Buyer{Suppression: drawSubset(t, testLists, "lists")},
			States:  states,
			Filters: drawSubset(t, testFilters, "filters"),
			Weight:  rapid.IntRange(1, 9).Draw(t, "weight"),

			Suppliers: drawSuppliersOrNil(t, "suppliers"), NotSuppliers: drawSuppliersOrNil(t, "not suppliers"),
		})
	}
	c := &market.Campaign{Method: market.Weighted, Mapping: mapping}
	for i := range rapid.IntRange(0, 200).Draw(t, "filter sets") {
		filterSet := like[rapid.IntRange(0, len(like)-1).Draw(t, "like")]
		buyer := *filterSet.Buyer
		buyer.ID = market.BuyerID(strconv.Itoa(i))
		filterSet.Buyer = &buyer
		c.FilterSets = append(c.FilterSets, filterSet)
	}
	return c
}

// drawSuppliersOrNil draws a set of suppliers, in most cases nil.
func drawSuppliersOrNil(t *rapid.T, what string) map[market.SupplierID]struct{} {
	if rapid.IntRange(0, 2).Draw(t, what) > 0 {
		return nil
	}
	set := map[market.SupplierID]struct{}{}
	for _, id := range drawSubset(t, testSuppliers[:3], what) {
		set[id] = struct{}{}
	}
	return set
}

func drawLead(t *rapid.T) *market.Lead {
	var l market.Lead
	l.Reset(mapping.SlotCount())
	set := func(slot market.LeadFieldIndex, kind market.FieldValueKind, text string, num float64) {
		if text != "" {
			l.Values[slot] = market.FieldValue{Kind: kind, Text: []byte(text), Num: num}
		}
	}
	set(market.SlotState, market.KindString, rapid.SampledFrom(append([]string{"", "TX"}, testStates...)).Draw(t, "state"), 0)
	vehicles := rapid.IntRange(-1, 5).Draw(t, "vehicles")
	if vehicles >= 0 {
		set(slotVehicles, market.KindInteger, strconv.Itoa(vehicles), float64(vehicles))
	}
	set(slotBand, market.KindString, rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "band"), 0)
	return &l
}

// expectedOutcome returns the outcome of one filter set: that of the first stage that excludes
// it.
func expectedOutcome(filterSet *market.FilterSet, supplier market.SupplierID, lead *market.Lead, listed map[*market.SuppressionListDefinition]bool, closedFor []market.BuyerOutcome) market.BuyerOutcome {
	state := lead.USState()
	if filterSet.States != market.AllStates && (state == market.NoState || !filterSet.States.Has(state)) {
		return market.OutcomeWrongState
	}
	for i := range filterSet.Filters {
		if !filterSet.Filters[i].Accepts(lead) {
			return market.OutcomeFiltered
		}
	}
	_, only := filterSet.Suppliers[supplier]
	if _, not := filterSet.NotSuppliers[supplier]; not || filterSet.Suppliers != nil && !only {
		return market.OutcomeFiltered
	}
	for _, list := range filterSet.Buyer.Suppression {
		if listed[list] {
			return market.OutcomeSuppressed
		}
	}
	for _, stage := range availabilityStages {
		if slices.Contains(closedFor, stage) {
			return stage
		}
	}
	return market.OutcomeNone
}

// availabilityStages are the outcomes of availability, in their order.
var availabilityStages = []market.BuyerOutcome{
	market.OutcomeClosed, market.OutcomeCapped, market.OutcomeNoFunds, market.OutcomePaused, market.OutcomeBelowFloor,
}

func unavailableAt(d *selection.UnavailableFilterSets, stage market.BuyerOutcome) bitset.Set {
	return map[market.BuyerOutcome]bitset.Set{
		market.OutcomeClosed: d.Closed, market.OutcomeCapped: d.Capped, market.OutcomeNoFunds: d.NoFunds,
		market.OutcomePaused: d.Paused, market.OutcomeBelowFloor: d.BelowFloor,
	}[stage]
}

// One Candidates excludes for many leads and campaigns. Every filter set gets its expected
// outcome.
func TestCompiledFilterSetsMatchSingleOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c selection.Candidates
		for range rapid.IntRange(1, 3).Draw(t, "campaigns") {
			campaign := drawCampaign(t)
			compiled := selection.CompileFilterSets(campaign)
			if compiled.Len() != len(campaign.FilterSets) {
				t.Fatalf("%d filter sets, want %d", compiled.Len(), len(campaign.FilterSets))
			}
			unavailable := selection.NewEmptyUnavailableFilterSets(compiled)
			closedFor := make([][]market.BuyerOutcome, compiled.Len())
			for filterSet := range closedFor {
				if rapid.IntRange(0, 3).Draw(t, "unavailable") == 0 {
					closedFor[filterSet] = drawSubset(t, availabilityStages, "stages")
					for _, stage := range closedFor[filterSet] {
						unavailableAt(unavailable, stage).Add(filterSet)
					}
				}
			}
			for range 3 {
				lead := drawLead(t)
				listed := map[*market.SuppressionListDefinition]bool{}
				for _, list := range drawSubset(t, testLists, "listed") {
					listed[list] = true
				}
				lookups := map[*market.SuppressionListDefinition]int{}
				c.ResetToAll(compiled)
				supplier := rapid.SampledFrom(testSuppliers).Draw(t, "supplier")
				compiled.ExcludeByUSStateAndFilters(lead, &c)
				compiled.ExcludeBySupplier(supplier, &c)
				compiled.ExcludeSuppressed(&c, func(list *market.SuppressionListDefinition) bool { lookups[list]++; return listed[list] })
				unavailable.ExcludeFrom(&c)
				want := make([]market.BuyerOutcome, compiled.Len())
				for filterSet := range campaign.FilterSets {
					want[filterSet] = expectedOutcome(&campaign.FilterSets[filterSet], supplier, lead, listed, closedFor[filterSet])
				}
				checkOutcomes(t, &c, want)
				for list, times := range lookups {
					if times > 1 {
						t.Fatalf("list %d was looked up %d times, want at most once", list.Ref, times)
					}
				}
			}
		}
	})
}

func TestCompiledWeightsAndCaps(t *testing.T) {
	limit := func(ref market.PermanentNumber) *market.Cap { return &market.Cap{Ref: ref} }
	red := &market.Buyer{ID: "red", Caps: []*market.Cap{limit(2), limit(3)}}
	campaign := &market.Campaign{
		Caps: []*market.Cap{limit(1)},
		FilterSets: []market.FilterSet{
			{Buyer: red, Weight: 3, Caps: []*market.Cap{limit(4)}},
			{Buyer: &market.Buyer{ID: "blue"}, Weight: 5},
		},
	}
	for method, weights := range map[market.BuyerSelectionMethod][]int32{market.Weighted: {3, 5}, market.RoundRobin: {1, 1}, market.Waterfall: {1, 1}} {
		campaign.Method = method
		compiled := selection.CompileFilterSets(campaign)
		if !slices.Equal(compiled.Weights, weights) {
			t.Errorf("%s: weights %v", method, compiled.Weights)
		}
		for filterSet, want := range [][]market.PermanentNumber{{1, 2, 3, 4}, {1}} {
			var got []market.PermanentNumber
			current, until := compiled.PriceAndCapsAt(filterSet, 0)
			for _, limit := range current.Caps {
				got = append(got, limit.Ref)
			}
			if until != math.MaxInt64 {
				t.Errorf("the terms without modifiers change at %d", until)
			}
			if !slices.Equal(got, want) {
				t.Errorf("filter set %d has caps %v, want those of campaign, buyer and pair: %v", filterSet, got, want)
			}
		}
	}
}

// A rotation ID identifies eligible filter sets with their terms. It survives a new
// configuration with equal terms.
func TestRotationIDs(t *testing.T) {
	build := func(method market.BuyerSelectionMethod, ids string, weights ...int) *selection.CompiledFilterSets {
		c := &market.Campaign{Method: method}
		for i, id := range ids {
			c.FilterSets = append(c.FilterSets, market.FilterSet{Buyer: &market.Buyer{ID: market.BuyerID(id)}, Weight: weights[i], Price: market.Money(i)})
		}
		return selection.CompileFilterSets(c)
	}
	ids := map[uint64]string{}
	for _, compiled := range []struct {
		name string
		*selection.CompiledFilterSets
	}{
		{"abcd by 1 2 3 4", build(market.Weighted, "abcd", 1, 2, 3, 4)},
		{"abcd by 1 2 4 3", build(market.Weighted, "abcd", 1, 2, 4, 3)},
		{"abcd in turn", build(market.RoundRobin, "abcd", 1, 2, 3, 4)},
		{"dcba in turn", build(market.RoundRobin, "dcba", 1, 2, 3, 4)},
		{"abce in turn", build(market.RoundRobin, "abce", 1, 2, 3, 4)},
	} {
		for set := range uint64(1 << compiled.Len()) {
			id := compiled.RotationID(bitset.Set{set})
			if id == 0 {
				t.Errorf("%s: the set %b has no ID", compiled.name, set)
			}
			what := compiled.name + " " + strconv.FormatUint(set, 2)
			if other, ok := ids[id]; ok {
				t.Errorf("%s has the ID of %s", what, other)
			}
			ids[id] = what
		}
	}
	a, b := build(market.Weighted, "abcd", 1, 2, 3, 4), build(market.Weighted, "abcd", 1, 2, 3, 4)
	if a.RotationID(bitset.Set{5}) != b.RotationID(bitset.Set{5}) {
		t.Error("an equal configuration changes the ID of a set")
	}
	if build(market.RoundRobin, "abcd", 1, 1, 1, 1).RotationID(bitset.Set{5}) != build(market.RoundRobin, "abcd", 9, 9, 9, 9).RotationID(bitset.Set{5}) {
		t.Error("weights change the ID of a round-robin set")
	}
}

// The sets have one or two filter sets, or all but one or two.
func TestRotationIDsOfLargeSets(t *testing.T) {
	c := &market.Campaign{Method: market.RoundRobin}
	for i := range 200 {
		c.FilterSets = append(c.FilterSets, market.FilterSet{Buyer: &market.Buyer{ID: market.BuyerID(strconv.Itoa(i))}})
	}
	compiled := selection.CompileFilterSets(c)
	ids := map[uint64]bool{}
	few, most := bitset.New(200), bitset.New(200)
	most.ResetToAllBelow(200)
	sets := 0
	for i := range 200 {
		for k := range i + 1 {
			few.Add(i)
			few.Add(k)
			most.Remove(i)
			most.Remove(k)
			ids[compiled.RotationID(few)], ids[compiled.RotationID(most)] = true, true
			sets += 2
			few.Remove(i)
			few.Remove(k)
			most.Add(i)
			most.Add(k)
		}
	}
	if len(ids) != sets {
		t.Errorf("%d IDs for %d sets", len(ids), sets)
	}
}
