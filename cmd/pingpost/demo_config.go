package main

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"
	"time"

	"pingpost/engine/market"
	"pingpost/loadtest/leads"
)

// demoIngestRate is the supplier's limit, leads a second. It begins empty and
// fills within a second.
const demoIngestRate = 5000

const demoSupplier = "sup_acme"

// demoCampaign is a campaign of the demonstration, as its leads see it.
type demoCampaign struct {
	leads.Campaign
	method string
}

var demoCampaigns = []demoCampaign{
	{leads.Campaign{ID: "cmp_auto", Vertical: leads.Auto, Weight: 5, Certified: "facebook"}, "waterfall"},
	{leads.Campaign{ID: "cmp_solar", Vertical: leads.Solar, Weight: 3}, "round_robin"},
	{leads.Campaign{ID: "cmp_life", Vertical: leads.Life, Weight: 4}, "weighted"},
}

// demoBuyer is a buyer of the demonstration. It pays the same in every campaign,
// so that its own account can be compared with ours.
type demoBuyer struct {
	ID    string
	Price market.Money
	args  []string // of its process; nil: leads are only recorded
	URL   string   // once it runs
}

const cents market.Money = 10_000 // millionths

// demoBuyers are new for each demonstration. Only the one that fails never
// rejects: a rejection after a failure may come when its lead has long been
// answered, and the two accounts would differ for a good reason.
func demoBuyers() []*demoBuyer {
	return []*demoBuyer{
		{ID: "buy_swift", Price: 1250 * cents, args: []string{"--latency", "5ms-25ms", "--reject-rate", "0.02"}},
		{ID: "buy_picky", Price: 1400 * cents, args: []string{"--latency", "20ms-60ms", "--reject-rate", "0.15"}},
		{ID: "buy_shaky", Price: 1100 * cents, args: []string{"--latency", "30ms-120ms", "--fail-rate", "0.05"}},
		{ID: "buy_vault", Price: 950 * cents},
		{ID: "buy_later", Price: 2000 * cents},
	}
}

// demoPosted are those with a process.
func demoPosted() []*demoBuyer {
	var posted []*demoBuyer
	for _, b := range demoBuyers() {
		if b.args != nil {
			posted = append(posted, b)
		}
	}
	return posted
}

// vaultFunds is what buy_vault can spend.
const vaultFunds = 40000 * cents

//go:embed demo_config.yaml
var demoConfigText string

var demoConfigTemplate = template.Must(template.New("exchange.yaml").Parse(demoConfigText))

// demoConfig writes the configuration.
func demoConfig(set *demoSet) ([]byte, error) {
	values := map[string]any{
		"IngestRate": demoIngestRate, "Supplier": demoSupplier, "Funds": vaultFunds.String(),
		"APIKey": set.apiKey, "Password": set.password, "Token": set.token,
		"Bands": strings.Join(quoted(leads.AgeBands), ", "), "Roofs": strings.Join(leads.Roofs, ", "),
		"OtherDay": time.Now().UTC().AddDate(0, 0, 3).Weekday().String()[:3],
	}
	for _, b := range set.buyers {
		values[strings.TrimPrefix(b.ID, "buy_")] = b
	}
	var out strings.Builder
	if err := demoConfigTemplate.Execute(&out, values); err != nil {
		return nil, fmt.Errorf("cannot write the demonstration's configuration: %w", err)
	}
	return []byte(out.String()), nil
}

func quoted(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = `"` + text + `"`
	}
	return out
}
