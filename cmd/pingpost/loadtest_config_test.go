package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pingpost/cmd/pingpost/child"
	"pingpost/config"
	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/loadtest/refbuyer"
	"pingpost/loadtest/scenario"
)

var testLoadSecrets = &loadTestSecrets{apiKey: "key", client: "client-secret", password: "password", webhook: "whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"}

// fakeAddresses returns an address for each buyer with an endpoint.
func fakeAddresses(buyers []loadTestBuyerSpec) *buyerAndReceiverAddresses {
	at := &buyerAndReceiverAddresses{Buyers: map[string]string{}, Receiver: "http://127.0.0.1:9"}
	for _, b := range buyers {
		if !b.Recorded {
			at.Buyers[b.ID] = "http://127.0.0.1:9"
		}
	}
	return at
}

func compileScenario(t *testing.T, s *scenario.Scenario) (*market.Catalog, config.Settings, []string) {
	t.Helper()
	buyers := expandBuyerGroups(s)
	text, ingests, err := encodeExchangeConfig(s, buyers, fakeAddresses(buyers), testLoadSecrets)
	must.Succeed(t, err)
	source, err := config.Parse("exchange.json", text, nil)
	if err != nil {
		t.Fatalf("%s: %v", s.Name, err)
	}
	built, err := source.Compile()
	if err != nil {
		t.Fatalf("%s: %v", s.Name, err)
	}
	return built.Catalog, built.Settings, ingests
}

// TestScenariosCompileToConfigurations: each built-in scenario gives a valid configuration
// with its numbers of campaigns and buyers.
func TestScenariosCompileToConfigurations(t *testing.T) {
	for _, name := range scenario.Names() {
		if testing.Short() && name == "catalog-large" {
			continue // takes ten seconds to compile
		}
		s := must.Value(scenario.Load(name))(t)
		catalog, settings, ingests := compileScenario(t, s)
		campaigns, buyers := 0, 0
		for _, g := range s.Campaigns {
			campaigns += g.Count
		}
		for _, g := range s.Buyers {
			buyers += g.Count
		}
		if len(catalog.Campaigns) != campaigns || len(catalog.Buyers) != buyers {
			t.Errorf("%s: %d campaigns and %d buyers", name, len(catalog.Campaigns), len(catalog.Buyers))
		}
		supplier := catalog.Suppliers[loadSupplier]
		if supplier.IngestRate != s.Supplier.IngestRate || supplier.PingRate != s.Supplier.PingRate {
			t.Errorf("%s: the supplier's rates are %d and %d a second", name, supplier.IngestRate, supplier.PingRate)
		}
		if settings.TokenLifetime <= s.Duration() {
			t.Errorf("%s: the token expires before the scenario ends", name)
		}
		if settings.Limits.Connections <= s.InFlight || settings.Limits.MaxConnsPerIP <= s.InFlight {
			t.Errorf("%s: %d requests at once, and %d connections", name, s.InFlight, settings.Limits.Connections)
		}
		for _, id := range ingests {
			if catalog.Campaigns[market.CampaignID(id)] == nil {
				t.Errorf("%s: ingests for %s, which is no campaign", name, id)
			}
		}
		if s.Kinds[scenario.Ingest] > 0 && len(ingests) == 0 {
			t.Errorf("%s: no campaign gets the ingests", name)
		}
	}
}

func parseScenario(t *testing.T, more string) *scenario.Scenario {
	t.Helper()
	return must.Value(scenario.Parse("x.yaml", []byte("name: x\nkinds: {ingest: 1, ping: 1}\nphases: [{name: a, for: 1s, rate: 1}]\n"+more)))(t)
}

// TestFilterSetsAreSpreadOverBuyers: campaigns with fewer filter sets than buyers take the
// buyers in turn, so that all buyers get leads.
func TestFilterSetsAreSpreadOverBuyers(t *testing.T) {
	s := parseScenario(t, `campaigns: [{method: ping_post}, {method: waterfall, count: 3, seats: 2, duplicates: true}]
buyers: [{count: 3, bid: "4.5", caps: true}, {count: 1, bid: "9", recorded: true}]
`)
	catalog, _, ingests := compileScenario(t, s)
	if got := strings.Join(ingests, " "); got != "cmp_1_00000 cmp_1_00001 cmp_1_00002" {
		t.Errorf("ingests are for %s", got)
	}
	var filterSets []string
	for _, id := range ingests {
		c := catalog.Campaigns[market.CampaignID(id)]
		for i := range c.FilterSets {
			filterSets = append(filterSets, string(c.FilterSets[i].Buyer.ID)+"="+c.FilterSets[i].Price.String())
		}
		if c.Duplicates.Window == 0 {
			t.Errorf("%s has no duplicate check", id)
		}
	}
	if got := strings.Join(filterSets, " "); got != "buy_1=4.5 buy_2=4.5 buy_3=4.5 buy_4=9 buy_1=4.5 buy_2=4.5" {
		t.Errorf("the filter sets are %s", got)
	}
	auction := catalog.Campaigns["cmp_0_00000"]
	if len(auction.FilterSets) != 3 || auction.Method != market.PingPost || auction.Vertical != loadVertical || auction.Duplicates.Window != 0 {
		t.Errorf("%+v", auction)
	}
	if catalog.Buyers["buy_4"].Post != nil || catalog.Buyers["buy_1"].Post == nil || len(catalog.Buyers["buy_1"].Caps) != 1 || len(catalog.Buyers["buy_4"].Caps) != 0 {
		t.Error("buyers without an endpoint, or with a cap, differ from the scenario")
	}
}

// TestIngestsUseAuctionCampaigns: if all campaigns are auctions, ingests use them, and each has its
// own vertical.
func TestIngestsUseAuctionCampaigns(t *testing.T) {
	catalog, _, ingests := compileScenario(t, parseScenario(t, "campaigns: [{method: ping_post, count: 3}]\nbuyers: [{bid: 8-20}]\n"))
	if len(ingests) != 3 {
		t.Errorf("ingests are for %v", ingests)
	}
	seen := map[string]bool{}
	for _, c := range catalog.Campaigns {
		if seen[c.Vertical] {
			t.Errorf("two campaigns of %s", c.Vertical)
		}
		seen[c.Vertical] = true
	}
	if !seen[loadVertical] {
		t.Error("no campaign for the pings")
	}
}

func TestLoadBuyerOptions(t *testing.T) {
	b := loadTestBuyerSpec{"buy_1", scenario.Buyers{Bid: "4.5", Latency: "20ms", PostLatency: "normal:5ms,1ms", NoBid: 0.1, Reject: 0.2, Fail: 0.3}}
	o := must.Value(b.referenceBuyerOptions(7, 100))(t)
	if o.Seed != 7 || o.NoBidRate != 0.1 || o.RejectRate != 0.2 || o.FailRate != 0.3 || o.Remember != 100 ||
		o.Latency != (refbuyer.Uniform{Min: 20 * time.Millisecond, Max: 20 * time.Millisecond}) ||
		o.PostLatency != (refbuyer.Normal{Mean: 5 * time.Millisecond, Deviation: time.Millisecond}) || o.Bid.At(market.NoState, 0.5) != 4_500_000 {
		t.Errorf("%+v", o)
	}
	for _, wrong := range []scenario.Buyers{{Bid: "much"}, {Bid: "1", Latency: "soon"}, {Bid: "1", PostLatency: "late"}} {
		if _, err := (&loadTestBuyerSpec{"buy_1", wrong}).referenceBuyerOptions(1, 1); err == nil {
			t.Errorf("%+v is accepted, want an error", wrong)
		}
	}
}

// TestLoadBuyersPrintAddresses: one process serves all buyers of a file until it is stopped.
func TestLoadBuyersPrintAddresses(t *testing.T) {
	t.Setenv(asProgram, "1")
	group := &child.ProcessList{Dir: t.TempDir()}
	t.Cleanup(func() { must.Succeed(t, group.StopAll()) })
	text := must.Value(json.Marshal(buyersProcessSpec{
		Seed: 1, Secret: testLoadSecrets.webhook, Webhooks: &scenario.Webhooks{Latency: "1ms"}, Remember: 10,
		Buyers: []loadTestBuyerSpec{{"buy_1", scenario.Buyers{Bid: "1"}}, {"buy_2", scenario.Buyers{Bid: "2"}}},
	}))(t)
	path := filepath.Join(group.Dir, "buyers.json")
	must.Succeed(t, os.WriteFile(path, text, 0o600))
	process := must.Value(group.StartThisProgram("buyers", nil, "loadtest-buyers", path))(t)
	line := must.Value(process.WaitForLine(t.Context(), `"buyers"`))(t)
	var at buyerAndReceiverAddresses
	if err := json.Unmarshal([]byte(line), &at); err != nil || len(at.Buyers) != 2 || at.Buyers["buy_1"] == at.Buyers["buy_2"] {
		t.Fatalf("%v: %s", err, line)
	}
	for _, url := range []string{at.Buyers["buy_1"], at.Buyers["buy_2"], at.Receiver} {
		if status, text := request(t, http.MethodGet, url+"/stats", ""); status != http.StatusOK {
			t.Errorf("%s: %d %s", url, status, text)
		}
	}
}

// TestLoadBuyersRejectInvalidFile: an invalid file is an error, and no buyer listens.
func TestLoadBuyersRejectInvalidFile(t *testing.T) {
	for text, wantError := range map[string]string{
		"{":                                "unexpected end",
		`{"Buyers":[{"ID":"b"}]}`:          "bid",
		`{"Webhooks":{},"Secret":"plain"}`: "whsec_",
		`{"Webhooks":{"Latency":"soon"}}`:  "latency",
	} {
		path := filepath.Join(t.TempDir(), "buyers.json")
		writeFile(t, path, text)
		mustFail(t, wantError, "loadtest-buyers", path)
	}
}

func TestIsLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.3.2.1": true, "::1": true, "localhost": true,
		"10.0.0.1": false, "192.0.2.1": false, "example.com": false, "localhost.example.com": false, "": false,
	} {
		if isLoopback(host) != want {
			t.Errorf("isLoopback(%s) is %v", host, !want)
		}
	}
}
