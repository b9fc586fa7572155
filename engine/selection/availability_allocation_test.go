//go:build !race

package selection_test

import (
	"fmt"
	"strconv"
	"testing"

	"pingpost/engine/market"
	"pingpost/engine/selection"
)

// crowd is a campaign of many buyers, each in a state or two, with filters and
// a list.
func crowd(n int) *market.Campaign {
	c := campaignOf(n)
	for i := range c.FilterSets {
		seat := &c.FilterSets[i]
		seat.Buyer = &market.Buyer{ID: market.BuyerID(strconv.Itoa(i)), Suppression: someLists[i%3 : i%3+1]}
		if i%4 > 0 {
			seat.States, _ = market.ParseUSStates([]string{someStates[i%len(someStates)], someStates[i%3]})
		}
		seat.Filters = someFilters[i%4 : i%4+1]
	}
	return c
}

func ordinaryLead() *market.Lead {
	var l market.Lead
	l.Reset(mapping.SlotCount())
	l.Values[market.SlotState] = market.FieldValue{Kind: market.KindString, Text: []byte("CA")}
	l.Values[slotVehicles] = market.FieldValue{Kind: market.KindInteger, Text: []byte("2"), Num: 2}
	return &l
}

func TestScreeningAllocatesNothing(t *testing.T) {
	lineup, lead := selection.CompileFilterSets(crowd(1000)), ordinaryLead()
	doors := selection.NewUnavailableFilterSets(lineup)
	doors.Capped.Add(7)
	var c selection.Candidates
	never := func(*market.SuppressionList) bool { return false }
	screen := func() {
		c.ResetToAll(lineup)
		lineup.ExcludeByStateAndFilters(lead, &c)
		lineup.ExcludeSuppressed(&c, never)
		doors.ExcludeFrom(&c)
		lineup.RotationID(c.Eligible)
	}
	screen()
	if n := testing.AllocsPerRun(100, screen); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkScreen(b *testing.B) {
	for _, n := range []int{1, 10, 1000, 10_000} {
		b.Run(fmt.Sprintf("%d seats", n), func(b *testing.B) {
			lineup, lead := selection.CompileFilterSets(crowd(n)), ordinaryLead()
			doors := selection.NewUnavailableFilterSets(lineup)
			var c selection.Candidates
			never := func(*market.SuppressionList) bool { return false }
			b.ReportAllocs()
			for b.Loop() {
				c.ResetToAll(lineup)
				lineup.ExcludeByStateAndFilters(lead, &c)
				lineup.ExcludeSuppressed(&c, never)
				doors.ExcludeFrom(&c)
				lineup.RotationID(c.Eligible)
			}
		})
	}
}
