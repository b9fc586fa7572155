package engine

import (
	"sync"
	"testing"

	"pingpost/engine/auction"
	"pingpost/engine/market"
	"pingpost/engine/selection"
	"pingpost/engine/state"
)

// Concurrent requests that find the cached availability out of date wait for one of them to compute it.
func TestConcurrentRequestsComputeAvailabilityOnce(t *testing.T) {
	campaign := &market.Campaign{Ref: 1, Method: market.Waterfall}
	for i := range 5000 {
		campaign.FilterSets = append(campaign.FilterSets, market.FilterSet{Buyer: &market.Buyer{Ref: market.PermanentNumber(i + 1), Funded: true}, Price: 1})
	}
	compiled := &compiledCampaign{CampaignFilterSetsWithPingLimiters: auction.CampaignFilterSetsWithPingLimiters{CompiledFilterSets: selection.CompileFilterSets(campaign)}}
	s := state.New()
	results := make([]*selection.UnavailableFilterSets, 16)
	var requests sync.WaitGroup
	for i := range results {
		requests.Go(func() { results[i] = cachedUnavailableFilterSets(compiled, s, 0) })
	}
	requests.Wait()
	for _, result := range results {
		if result != results[0] {
			t.Fatal("several requests have computed the availability")
		}
	}
	if results[0].NoFunds.Count() != len(campaign.FilterSets) {
		t.Errorf("%d of %d buyers lack funds", results[0].NoFunds.Count(), len(campaign.FilterSets))
	}
}
