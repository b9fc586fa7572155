//go:build !race

package selection_test

import (
	"fmt"
	"strconv"
	"testing"

	"pingpost/engine/market"
	"pingpost/engine/selection"
)

// largeCampaign returns a campaign of n buyers with a state or two, a filter and a suppression
// list each.
func largeCampaign(n int) *market.Campaign {
	c := campaignOf(n)
	for i := range c.FilterSets {
		set := &c.FilterSets[i]
		set.Buyer = &market.Buyer{ID: market.BuyerID(strconv.Itoa(i)), Suppression: testLists[i%3 : i%3+1]}
		if i%4 > 0 {
			set.States, _ = market.ParseUSStatesOrAll([]string{testStates[i%len(testStates)], testStates[i%3]})
		}
		set.Filters = testFilters[i%4 : i%4+1]
		if i%5 == 0 {
			set.NotSuppliers = map[market.SupplierID]struct{}{"bolt": {}}
		}
	}
	return c
}

func newLead() *market.Lead {
	var l market.Lead
	l.Reset(mapping.SlotCount())
	l.Values[market.SlotState] = market.FieldValue{Kind: market.KindString, Text: []byte("CA")}
	l.Values[slotVehicles] = market.FieldValue{Kind: market.KindInteger, Text: []byte("2"), Num: 2}
	return &l
}

func TestExclusionAllocations(t *testing.T) {
	sets, lead := selection.CompileFilterSets(largeCampaign(1000)), newLead()
	unavailable := selection.NewEmptyUnavailableFilterSets(sets)
	unavailable.Capped.Add(7)
	var c selection.Candidates
	never := func(*market.SuppressionListDefinition) bool { return false }
	screen := func() {
		c.ResetToAll(sets)
		sets.ExcludeByUSStateAndFilters(lead, &c)
		sets.ExcludeBySupplier("acme", &c)
		sets.ExcludeSuppressed(&c, never)
		unavailable.ExcludeFrom(&c)
		sets.RotationID(c.Eligible)
	}
	screen()
	if n := testing.AllocsPerRun(100, screen); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkScreen(b *testing.B) {
	for _, n := range []int{1, 10, 1000, 10_000} {
		b.Run(fmt.Sprintf("%d filter sets", n), func(b *testing.B) {
			sets, lead := selection.CompileFilterSets(largeCampaign(n)), newLead()
			unavailable := selection.NewEmptyUnavailableFilterSets(sets)
			var c selection.Candidates
			never := func(*market.SuppressionListDefinition) bool { return false }
			b.ReportAllocs()
			for b.Loop() {
				c.ResetToAll(sets)
				sets.ExcludeByUSStateAndFilters(lead, &c)
				sets.ExcludeSuppressed(&c, never)
				unavailable.ExcludeFrom(&c)
				sets.RotationID(c.Eligible)
			}
		})
	}
}
