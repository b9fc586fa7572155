package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"pingpost/config"
	"pingpost/engine/market"
	"pingpost/engine/selection"
	"pingpost/internal/must"
	"pingpost/internal/strictjson"
	"pingpost/loadtest/bench/child"
	"pingpost/loadtest/load"
)

func compiled(t *testing.T, d *document) *config.CompiledDocument {
	t.Helper()
	d.DataDir = t.TempDir()
	text := must.Value(json.Marshal(d))(t)
	source := must.Value(config.Parse(filepath.Join(t.TempDir(), "exchange.json"), text, func(string) (string, bool) { return "", false }))(t)
	built := must.Value(source.Compile())(t)
	return built
}

// TestEveryLeadMatchesABuyer: every lead of the client must be sold, because the benchmark
// treats every answer except ACCEPTED as an error.
func TestEveryLeadMatchesABuyer(t *testing.T) {
	for name, d := range map[string]*document{"small": catalogWithCampaigns(10), "many": catalogWithCampaigns(200), "many buyers": catalogWithBuyers(100), "caps": catalogWithCaps(10, mostLeadsPerCap)} {
		t.Run(name, func(t *testing.T) {
			built := compiled(t, d)
			leads := load.Leads{Supplier: child.SupplierID, Campaigns: d.campaignIDs("")}
			compiledSets := map[market.CampaignID]*selection.CompiledFilterSets{}
			for id, campaign := range built.Catalog.Campaigns {
				compiledSets[id] = selection.CompileFilterSets(campaign)
			}
			fewest, most := 1000, 0
			for n := range uint64(2000) {
				in := candidatesFor(t, compiledSets[market.CampaignID(leads.Campaigns[n%uint64(len(leads.Campaigns))])], leads.AppendBody(nil, n))
				fewest, most = min(fewest, in), max(most, in)
			}
			if fewest == 0 || fewest == most {
				t.Errorf("leads have from %d to %d candidates", fewest, most)
			}
		})
	}
}

func candidatesFor(t *testing.T, filterSets *selection.CompiledFilterSets, body []byte) int {
	t.Helper()
	var read strictjson.Object
	must.Succeed(t, read.Parse(body))
	defer read.ClearForReuse()
	var lead market.Lead
	mapping := filterSets.Campaign.Mapping
	lead.Reset(mapping.SlotCount())
	if faults := mapping.FillLeadFromIngest(&lead, read.Members(), nil); len(faults) > 0 {
		t.Fatalf("%s: %+v", body, faults)
	}
	var c selection.Candidates
	c.ResetToAll(filterSets)
	filterSets.ExcludeByUSStateAndFilters(&lead, &c)
	return c.Eligible.Count()
}

func TestAuctionCatalogCompiles(t *testing.T) {
	built := compiled(t, auctionCatalog([]string{"127.0.0.1:1001", "127.0.0.1:1002", "127.0.0.1:1003"}, []int{1, 3}, 0))
	if n := len(built.Catalog.Campaigns); n != 2 {
		t.Fatalf("%d campaigns", n)
	}
	for id, campaign := range built.Catalog.Campaigns {
		want := map[string]int{"cmp_bench_1": 1, "cmp_bench_3": 3}[string(id)]
		if len(campaign.FilterSets) != want {
			t.Errorf("%s has %d filter sets, want %d", id, len(campaign.FilterSets), want)
		}
	}
}
