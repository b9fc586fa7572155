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

const (
	demoSupplier = "sup_acme"
	demoClient   = "acme" // its OAuth client
)

// demoCampaign is a campaign of the demonstration, as its leads see it.
type demoCampaign struct {
	leads.Campaign
	method string
}

var demoCampaigns = []demoCampaign{
	{leads.Campaign{ID: "cmp_auto", Vertical: leads.Auto, Weight: 5, Certified: "facebook"}, "waterfall"},
	{leads.Campaign{ID: "cmp_solar", Vertical: leads.Solar, Weight: 3}, "round_robin"},
	{leads.Campaign{ID: "cmp_life", Vertical: leads.Life, Weight: 4}, "weighted"},
	{leads.Campaign{ID: demoAuctions, Vertical: leads.Auto, Weight: 4}, "ping_post"},
}

const (
	demoAuctions = "cmp_bids"
	// demoVertical is what the seller's pings name: that campaign's.
	demoVertical = "auto_insurance"
	demoFloor    = 500 * cents
	// demoShare of a price, in percent, is the payout in auctions. All bids are
	// whole cents, so a payout tells its price to the millionth.
	demoShare = 80
)

// demoBuyer is a buyer of the demonstration. It pays the same in every campaign,
// or what it has bid, so that its own account can be compared with ours.
type demoBuyer struct {
	ID    string
	Price market.Money // zero: it bids
	bid   string
	args  []string // of its process; nil: leads are only recorded
	URL   string   // once it runs
}

func (b *demoBuyer) bids() bool { return b.Price == 0 }

// flags are what its process is told of how to behave.
func (b *demoBuyer) flags() []string {
	if b.bids() {
		return append([]string{"--bid", b.bid}, b.args...)
	}
	return b.args
}

// owes is what it owes for so many leads with these payouts.
func (b *demoBuyer) owes(sold int, payout market.Money) market.Money {
	if b.bids() {
		return payout * 100 / demoShare
	}
	return market.Money(sold) * b.Price
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

		{ID: "bid_fixed", bid: "12.50", args: []string{"--latency", "5ms-30ms", "--reject-rate", "0.1"}},
		{ID: "bid_range", bid: "6-19", args: []string{"--latency", "20ms-60ms", "--reject-rate", "0.1"}},
		{ID: "bid_state", bid: "CA=17,TX=16,NY=15,*=7", args: []string{"--latency", "10ms-40ms"}},
		{ID: "bid_slow", bid: "8-18", args: []string{"--latency", "300ms+hang:0.02", "--post-latency", "50ms"}},
		{ID: "bid_quota", bid: "10-17", args: []string{"--latency", "10ms", "--rate", "30"}},
		{ID: "bid_wild", bid: "4-18", args: []string{"--latency", "10ms-90ms", "--malformed-rate", "0.2"}},
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
		"Hooks": set.hooks, "HookSecret": set.hookSecret,
		"APIKey": set.apiKey, "Password": set.password, "Token": set.token,
		"Client": demoClient, "ClientSecret": set.secret, "Floor": demoFloor.String(), "Share": fmt.Sprintf("0.%d", demoShare),
		"Bands": strings.Join(quoted(leads.AgeBands), ", "), "Roofs": strings.Join(leads.Roofs, ", "),
		"OtherDay": time.Now().UTC().AddDate(0, 0, 3).Weekday().String()[:3],
	}
	var bidders []*demoBuyer
	for _, b := range set.buyers {
		if b.bids() {
			bidders = append(bidders, b)
		}
		values[strings.TrimPrefix(b.ID, "buy_")] = b
	}
	values["Bidders"] = bidders
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
