package selection

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/market"
)

// TestFirstFilterSetOfEachBuyerMatchesModel compares the candidates that remain with a loop over all filter sets.
func TestFirstFilterSetOfEachBuyerMatchesModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		campaign := &market.Campaign{}
		for i, buyer := range rapid.SliceOfN(rapid.IntRange(0, 6), 1, 150).Draw(t, "buyers") {
			b := &market.Buyer{ID: market.BuyerID(fmt.Sprint("b", buyer))}
			campaign.FilterSets = append(campaign.FilterSets, market.FilterSet{Buyer: b, ID: fmt.Sprint(i), States: market.AllStates})
		}
		compiled := CompileFilterSets(campaign)
		var candidates Candidates
		candidates.ResetToAll(compiled)
		for i := range campaign.FilterSets {
			if rapid.Bool().Draw(t, "filtered") {
				candidates.Exclude(i, market.OutcomeFiltered)
			}
		}
		want, seen := map[int]market.BuyerOutcome{}, map[market.BuyerID]bool{}
		for i := range campaign.FilterSets {
			want[i] = candidates.OutcomeOf(i)
			buyer := campaign.FilterSets[i].Buyer.ID
			if candidates.Eligible.Has(i) && seen[buyer] {
				want[i] = market.OutcomeOtherSet
			}
			seen[buyer] = seen[buyer] || candidates.Eligible.Has(i)
		}
		compiled.ExcludeAllButFirstOfEachBuyer(&candidates)
		for i := range campaign.FilterSets {
			if got := candidates.OutcomeOf(i); got != want[i] {
				t.Fatalf("filter set %d of %s: %s, want %s", i, campaign.FilterSets[i].Buyer.ID, got, want[i])
			}
		}
	})
}
