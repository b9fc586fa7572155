package selection_test

import (
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/bitset"
	"pingpost/engine/market"
	"pingpost/engine/selection"
)

// The fields that filters here look at.
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
	someFilters    = []market.Filter{
		filter(market.FilterSpec{Field: "vehicles", Min: &one}), filter(market.FilterSpec{Field: "vehicles", Max: &two}),
		filter(market.FilterSpec{Field: "vehicles", Min: &two, Max: &four}), filter(market.FilterSpec{Field: "vehicles", Absent: true}),
		filter(market.FilterSpec{Field: "band", In: []string{"a", "b"}}), filter(market.FilterSpec{Field: "band", NotIn: []string{"b"}}),
		filter(market.FilterSpec{Field: "state", In: []string{"CA", "NV"}}),
	}
	someStates = []string{"CA", "NV", "AZ", "AE", "WY"}
	someLists  = []*market.SuppressionList{{Ref: 1}, {Ref: 2}, {Ref: 3}}
)

func subset[T any](t *rapid.T, of []T, what string) (some []T) {
	for rest := rapid.Uint64Range(0, 1<<len(of)-1).Draw(t, what); rest > 0; rest &= rest - 1 {
		i := 0
		for rest>>i&1 == 0 {
			i++
		}
		some = append(some, of[i])
	}
	return some
}

// someCampaign has up to 200 seats, each like one of a few.
func someCampaign(t *rapid.T) *market.Campaign {
	var like []market.FilterSet
	for range rapid.IntRange(1, 6).Draw(t, "kinds of seats") {
		states, err := market.ParseUSStates(subset(t, someStates, "states"))
		if err != nil {
			t.Fatal(err)
		}
		like = append(like, market.FilterSet{
			Buyer:   &market.Buyer{Suppression: subset(t, someLists, "lists")},
			States:  states,
			Filters: subset(t, someFilters, "filters"),
			Weight:  rapid.IntRange(1, 9).Draw(t, "weight"),
		})
	}
	c := &market.Campaign{Method: market.Weighted, Mapping: mapping}
	for i := range rapid.IntRange(0, 200).Draw(t, "seats") {
		seat := like[rapid.IntRange(0, len(like)-1).Draw(t, "like")]
		buyer := *seat.Buyer
		buyer.ID = market.BuyerID(strconv.Itoa(i))
		seat.Buyer = &buyer
		c.FilterSets = append(c.FilterSets, seat)
	}
	return c
}

func someLead(t *rapid.T) *market.Lead {
	var l market.Lead
	l.Reset(mapping.SlotCount())
	set := func(slot market.FieldSlot, kind market.FieldValueKind, text string, num float64) {
		if text != "" {
			l.Values[slot] = market.FieldValue{Kind: kind, Text: []byte(text), Num: num}
		}
	}
	set(market.SlotState, market.KindString, rapid.SampledFrom(append([]string{"", "TX"}, someStates...)).Draw(t, "state"), 0)
	vehicles := rapid.IntRange(-1, 5).Draw(t, "vehicles")
	if vehicles >= 0 {
		set(slotVehicles, market.KindInteger, strconv.Itoa(vehicles), float64(vehicles))
	}
	set(slotBand, market.KindString, rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "band"), 0)
	return &l
}

// judge says what becomes of one seat, by looking at that seat alone. In the
// order of the stages the first that stops it counts.
func judge(seat *market.FilterSet, lead *market.Lead, listed map[*market.SuppressionList]bool, shut []market.BuyerOutcome) market.BuyerOutcome {
	state := lead.USState()
	if seat.States != market.AllStates && (state == market.NoState || !seat.States.Has(state)) {
		return market.OutcomeWrongState
	}
	for i := range seat.Filters {
		if !seat.Filters[i].Accepts(lead) {
			return market.OutcomeFiltered
		}
	}
	for _, list := range seat.Buyer.Suppression {
		if listed[list] {
			return market.OutcomeSuppressed
		}
	}
	for _, stage := range stages {
		if slices.Contains(shut, stage) {
			return stage
		}
	}
	return market.OutcomeNone
}

// stages are those of the doors, in their order.
var stages = []market.BuyerOutcome{
	market.OutcomeClosed, market.OutcomeCapped, market.OutcomeNoFunds, market.OutcomePaused, market.OutcomeBelowFloor,
}

func doorOf(d *selection.UnavailableFilterSets, stage market.BuyerOutcome) bitset.Set {
	return map[market.BuyerOutcome]bitset.Set{
		market.OutcomeClosed: d.Closed, market.OutcomeCapped: d.Capped, market.OutcomeNoFunds: d.NoFunds,
		market.OutcomePaused: d.Paused, market.OutcomeBelowFloor: d.BelowFloor,
	}[stage]
}

// One workspace takes lead after lead, of campaigns large and small; every seat
// comes to what it would come to alone.
func TestALineupDecidesAsItsSeatsWould(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c selection.Candidates
		for range rapid.IntRange(1, 3).Draw(t, "campaigns") {
			campaign := someCampaign(t)
			lineup := selection.CompileFilterSets(campaign)
			if lineup.Len() != len(campaign.FilterSets) {
				t.Fatalf("%d seats of %d", lineup.Len(), len(campaign.FilterSets))
			}
			doors := selection.NewUnavailableFilterSets(lineup)
			shut := make([][]market.BuyerOutcome, lineup.Len())
			for seat := range shut {
				if rapid.IntRange(0, 3).Draw(t, "a door is shut") == 0 {
					shut[seat] = subset(t, stages, "doors")
					for _, stage := range shut[seat] {
						doorOf(doors, stage).Add(seat)
					}
				}
			}
			for range 3 {
				lead := someLead(t)
				listed := map[*market.SuppressionList]bool{}
				for _, list := range subset(t, someLists, "listed") {
					listed[list] = true
				}
				asked := map[*market.SuppressionList]int{}
				c.ResetToAll(lineup)
				lineup.ExcludeByStateAndFilters(lead, &c)
				lineup.ExcludeSuppressed(&c, func(list *market.SuppressionList) bool { asked[list]++; return listed[list] })
				doors.ExcludeFrom(&c)
				want := make([]market.BuyerOutcome, lineup.Len())
				for seat := range campaign.FilterSets {
					want[seat] = judge(&campaign.FilterSets[seat], lead, listed, shut[seat])
				}
				compare(t, &c, want)
				for list, times := range asked {
					if times > 1 {
						t.Fatalf("list %d was asked %d times", list.Ref, times)
					}
				}
			}
		}
	})
}

func TestALineupKnowsItsSeatsTerms(t *testing.T) {
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
		lineup := selection.CompileFilterSets(campaign)
		if !slices.Equal(lineup.Weights, weights) {
			t.Errorf("%s: weights %v", method, lineup.Weights)
		}
		for seat, want := range [][]market.PermanentNumber{{1, 2, 3, 4}, {1}} {
			var got []market.PermanentNumber
			for _, limit := range lineup.Caps[seat] {
				got = append(got, limit.Ref)
			}
			if !slices.Equal(got, want) {
				t.Errorf("seat %d charges %v, want campaign, buyer, pair: %v", seat, got, want)
			}
		}
	}
}

// Turns are remembered by a set's name; so it is the same for the same seats on
// the same terms, over a new configuration, and no other set has it.
func TestSetsAreKnownByName(t *testing.T) {
	build := func(method market.BuyerSelectionMethod, ids string, weights ...int) *selection.CompiledFilterSets {
		c := &market.Campaign{Method: method}
		for i, id := range ids {
			c.FilterSets = append(c.FilterSets, market.FilterSet{Buyer: &market.Buyer{ID: market.BuyerID(id)}, Weight: weights[i], Price: market.Money(i)})
		}
		return selection.CompileFilterSets(c)
	}
	names := map[uint64]string{}
	for _, lineup := range []struct {
		what string
		*selection.CompiledFilterSets
	}{
		{"abcd by 1 2 3 4", build(market.Weighted, "abcd", 1, 2, 3, 4)},
		{"abcd by 1 2 4 3", build(market.Weighted, "abcd", 1, 2, 4, 3)},
		{"abcd in turn", build(market.RoundRobin, "abcd", 1, 2, 3, 4)},
		{"dcba in turn", build(market.RoundRobin, "dcba", 1, 2, 3, 4)},
		{"abce in turn", build(market.RoundRobin, "abce", 1, 2, 3, 4)},
	} {
		for set := range uint64(1 << lineup.Len()) {
			name := lineup.RotationID(bitset.Set{set})
			if name == 0 {
				t.Errorf("%s: the set %b has no name", lineup.what, set)
			}
			what := lineup.what + " " + strconv.FormatUint(set, 2)
			if other, ok := names[name]; ok {
				t.Errorf("%s is called as %s", what, other)
			}
			names[name] = what
		}
	}
	a, b := build(market.Weighted, "abcd", 1, 2, 3, 4), build(market.Weighted, "abcd", 1, 2, 3, 4)
	if a.RotationID(bitset.Set{5}) != b.RotationID(bitset.Set{5}) {
		t.Error("a set has another name in an equal configuration")
	}
	if build(market.RoundRobin, "abcd", 1, 1, 1, 1).RotationID(bitset.Set{5}) != build(market.RoundRobin, "abcd", 9, 9, 9, 9).RotationID(bitset.Set{5}) {
		t.Error("round robin looks at weights")
	}
}

// A thousand seats make more sets than could be tried; those of one or two seats
// and those that lack one or two are.
func TestLargeSetsAreKnownByName(t *testing.T) {
	c := &market.Campaign{Method: market.RoundRobin}
	for i := range 200 {
		c.FilterSets = append(c.FilterSets, market.FilterSet{Buyer: &market.Buyer{ID: market.BuyerID(strconv.Itoa(i))}})
	}
	lineup := selection.CompileFilterSets(c)
	names := map[uint64]bool{}
	few, most := bitset.New(200), bitset.New(200)
	most.FillBelow(200)
	sets := 0
	for i := range 200 {
		for k := range i + 1 {
			few.Add(i)
			few.Add(k)
			most.Remove(i)
			most.Remove(k)
			names[lineup.RotationID(few)], names[lineup.RotationID(most)] = true, true
			sets += 2
			few.Remove(i)
			few.Remove(k)
			most.Add(i)
			most.Add(k)
		}
	}
	if len(names) != sets {
		t.Errorf("%d names for %d sets", len(names), sets)
	}
}
