package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"pingpost/config"
	"pingpost/engine/market"
	"pingpost/engine/market/format"
	"pingpost/engine/selection"
	"pingpost/internal/strictjson"
	"pingpost/loadtest/load"
)

func compiled(t *testing.T, d *document) *config.Compiled {
	t.Helper()
	d.DataDir = t.TempDir()
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	source, err := config.Parse(filepath.Join(t.TempDir(), "exchange.json"), text, func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	built, err := source.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// Whatever lead the client sends, some buyer takes it: an answer that is not
// ACCEPTED means that something is broken.
func TestEveryLeadFindsABuyerInEveryCatalog(t *testing.T) {
	for name, d := range map[string]*document{"small": catalogOf(10), "many": catalogOf(200), "crowded": crowded(100)} {
		t.Run(name, func(t *testing.T) {
			built := compiled(t, d)
			leads := load.Leads{Supplier: supplierID, Campaigns: d.names("")}
			lineups := map[market.CampaignID]*selection.FilterSets{}
			for id, campaign := range built.Catalog.Campaigns {
				lineups[id] = selection.Compile(campaign)
			}
			fewest, most := 1000, 0
			for n := range uint64(2000) {
				in := candidatesFor(t, lineups[market.CampaignID(leads.Campaigns[n%uint64(len(leads.Campaigns))])], leads.AppendBody(nil, n))
				fewest, most = min(fewest, in), max(most, in)
			}
			if fewest == 0 || fewest == most {
				t.Errorf("leads have from %d to %d candidates", fewest, most)
			}
		})
	}
}

func candidatesFor(t *testing.T, lineup *selection.FilterSets, body []byte) int {
	t.Helper()
	var read strictjson.Object
	if err := read.Parse(body); err != nil {
		t.Fatal(err)
	}
	defer read.Release()
	var lead market.Lead
	mapping := lineup.Campaign.Mapping
	lead.Reset(mapping.Slots())
	if faults := mapping.Fill(&lead, read.Members(), nil); len(faults) > 0 {
		t.Fatalf("%s: %+v", body, faults)
	}
	var c selection.Candidates
	c.Begin(lineup)
	lineup.FilterLead(&lead, &c)
	return c.In.Count()
}

func TestCatalogsHaveTheSizesTheySay(t *testing.T) {
	many := catalogOf(11)
	if len(many.names(waterfall)) != 6 || len(many.names(roundRobin)) != 5 || len(many.names("")) != 11 {
		t.Errorf("%v", many.names(""))
	}
	for _, c := range crowded(50).Campaigns {
		if len(c.Buyers) != 50 {
			t.Errorf("%s has %d buyers", c.ID, len(c.Buyers))
		}
	}
}

func TestTheListHasSoManyNumbersAndNoLeadIsOnIt(t *testing.T) {
	const entries = 25_000
	path := filepath.Join(t.TempDir(), "dnc.txt")
	if err := writeList(path, entries); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	listed := map[string]bool{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		number, ok := format.ParsePhone(nil, lines.Bytes())
		if !ok || string(number) != lines.Text() {
			t.Fatalf("%q is no number", lines.Text())
		}
		listed[lines.Text()] = true
	}
	if len(listed) != entries {
		t.Errorf("%d different numbers", len(listed))
	}
	leads := load.Leads{Supplier: supplierID, Campaigns: []string{"c"}}
	for n := range uint64(1000) {
		var p struct{ Phone string }
		if err := json.Unmarshal(leads.AppendBody(nil, n*load.MaxLeads/1000), &p); err != nil {
			t.Fatal(err)
		}
		if number, _ := format.ParsePhone(nil, []byte(p.Phone)); listed[string(number)] {
			t.Errorf("%s is on the list", number)
		}
	}
	d := catalogOf(3)
	d.suppress(path)
	for id, campaign := range compiled(t, d).Catalog.Campaigns {
		if len(campaign.Suppression) != 1 {
			t.Errorf("%s looks at %d lists", id, len(campaign.Suppression))
		}
	}
}

func TestTheCatalogOfAuctionsIsTaken(t *testing.T) {
	built := compiled(t, auctionsOf([]string{"127.0.0.1:1001", "127.0.0.1:1002", "127.0.0.1:1003"}, []int{1, 3}, 0))
	if n := len(built.Catalog.Campaigns); n != 2 {
		t.Fatalf("%d campaigns", n)
	}
	for id, campaign := range built.Catalog.Campaigns {
		want := map[string]int{"cmp_bench_1": 1, "cmp_bench_3": 3}[string(id)]
		if len(campaign.FilterSets) != want {
			t.Errorf("%s has %d seats, want %d", id, len(campaign.FilterSets), want)
		}
	}
}
