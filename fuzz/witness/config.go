package witness

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"pingpost/engine/market"
)

// Config describes the campaigns, buyers and caps of the tested exchange. The configuration
// document is generated from it, and the audit checks limits against it.
type Config struct {
	campaigns  []campaignConfig
	buyers     []buyerConfig
	caps       []capConfig
	webhookURL string            // URL of the supplier's webhook receiver
	endpoints  map[string]string // URLs of the buyer processes by endpoint name
	revision   int
}

type campaignConfig struct {
	id             string
	method         string
	share          int // percent of all leads
	filterSets     []filterSet
	vertical       string // vertical of pings; empty: the campaign has no auction
	floor          market.Money
	returnFreesCap bool // a return frees the caps
	manualReturns  bool // a return needs the operator's approval
}

func (c *campaignConfig) isAuction() bool { return c.vertical != "" }

func anyCampaign(*campaignConfig) bool { return true }

// drawCampaign returns a random campaign that the filter accepts, weighted by share.
func (t *Config) drawCampaign(random *rand.Rand, in func(*campaignConfig) bool) string {
	whole := 0
	for i := range t.campaigns {
		if c := &t.campaigns[i]; in(c) {
			whole += c.share
		}
	}
	share := random.IntN(whole)
	for i := range t.campaigns {
		c := &t.campaigns[i]
		if !in(c) {
			continue
		}
		if share -= c.share; share < 0 {
			return c.id
		}
	}
	panic("BUG: shares that do not add up")
}

type filterSet struct {
	buyer  string
	price  market.Money
	weight int
}

// buyerConfig describes a buyer. A buyer with an endpoint pays the same price in every
// campaign, or its bid, because its process counts its revenue that way.
type buyerConfig struct {
	id              string
	args            []string // arguments of its process; empty: the buyer has no endpoint
	bid             market.Money
	bidRange        string // range of its bids in auctions; the buyer then has no fixed price
	postTimeout     string
	hasTestEndpoint bool // a second process serves its test endpoint
	funded          bool
	balance         market.Money
	credit          market.Money
}

func (b *buyerConfig) hasEndpoint() bool { return len(b.args) > 0 }

// testEndpointSuffix ends the name of a test endpoint.
const testEndpointSuffix = " (tests)"

// splitEndpoint returns an endpoint's buyer and whether it is the test endpoint.
func splitEndpoint(endpoint string) (buyer string, tests bool) {
	return strings.CutSuffix(endpoint, testEndpointSuffix)
}

// endpointName returns the name of the endpoint that the lead is posted to.
func (e *modelLead) endpointName() string {
	if e.isTest {
		return e.buyer + testEndpointSuffix
	}
	return e.buyer
}

// capConfig is a cap of a campaign, a buyer, or a buyer within a campaign. It limits either the
// number of leads or the money.
type capConfig struct {
	campaign, buyer string
	per, zone       string
	count           int64
	money           market.Money
}

func (c *capConfig) String() string {
	return fmt.Sprintf("cap of %q and %q a %s (%d leads, %v)", c.campaign, c.buyer, c.per, c.count, c.money)
}

const unit = market.Money(1_000_000)

// fixedPriceConfig returns a configuration for the given number of leads. Every cap and account
// runs out well before the last lead.
func fixedPriceConfig(leads int64, hourly, daily string) *Config {
	part := func(thousandths int64) int64 { return max(2, leads*thousandths/1000) }
	worth := func(thousandths int64, price market.Money) market.Money {
		return market.Money(part(thousandths)) * price
	}
	slow, fussy, flaky := 11*unit, 12*unit+unit/2, 9*unit+unit/4
	return &Config{
		campaigns: []campaignConfig{
			{id: "cmp_fall", method: "waterfall", share: 30, filterSets: []filterSet{{"buy_fussy", fussy, 1}, {"buy_flaky", flaky, 1}, {"rec_alpha", 5 * unit, 1}}},
			{id: "cmp_round", method: "round_robin", share: 25, filterSets: []filterSet{
				{"buy_slow", slow, 1}, {"buy_flaky", flaky, 1}, {"rec_beta", 8 * unit, 1}, {"rec_gamma", 7 * unit, 1},
			}},
			{id: "cmp_weight", method: "weighted", share: 25, filterSets: []filterSet{
				{"buy_slow", slow, 3}, {"rec_alpha", 6 * unit, 2}, {"buy_fussy", fussy, 1}, {"rec_gamma", 6 * unit, 1},
			}},
			{id: "cmp_open", method: "round_robin", share: 20, filterSets: []filterSet{{"buy_slow", slow, 1}, {"rec_delta", 3*unit + 1, 1}}},
		},
		buyers: []buyerConfig{
			{id: "buy_slow", bid: slow, postTimeout: "120ms", args: []string{"--latency", "1ms-130ms", "--reject-rate", "0.05", "--fail-rate", "0.03"}},
			{id: "buy_fussy", bid: fussy, postTimeout: "5s", args: []string{"--latency", "1ms-20ms", "--reject-rate", "0.25", "--fail-rate", "0.1"}, funded: true, balance: worth(30, fussy), credit: worth(5, fussy)},
			{id: "buy_flaky", bid: flaky, postTimeout: "5s", args: []string{"--latency", "5ms", "--fail-rate", "0.2"}},
			{id: "rec_alpha"},
			{id: "rec_beta", funded: true, balance: worth(20, 8*unit), credit: worth(10, 8*unit)},
			{id: "rec_gamma"},
			{id: "rec_delta"},
		},
		caps: []capConfig{
			{campaign: "cmp_fall", per: "day", zone: daily, count: part(60)},
			{campaign: "cmp_round", per: "total", zone: "UTC", money: worth(1000, unit)},
			{buyer: "rec_alpha", per: "hour", zone: hourly, count: part(50)},
			{buyer: "buy_flaky", per: "week", zone: daily, money: worth(50, flaky)},
			{campaign: "cmp_fall", buyer: "buy_fussy", per: "month", zone: daily, count: part(20)},
			{campaign: "cmp_round", buyer: "buy_slow", per: "day", zone: daily, count: part(20)},
			{campaign: "cmp_weight", buyer: "rec_gamma", per: "day", zone: daily, money: worth(15, 6*unit)},
		},
	}
}

// ZonesAt returns time zones in which no hour and no day ends soon. Each cap then has one
// window for the whole run, so its use is a single sum.
func ZonesAt(now time.Time) (hourly, daily string) {
	hourly = "UTC"
	if now.UTC().Minute() > 30 {
		hourly = "Asia/Kolkata" // an offset of half an hour
	}
	east := 12 - now.UTC().Hour() // from -11 to 12
	return hourly, fmt.Sprintf("Etc/GMT%+d", -east)
}

func (t *Config) buyer(id string) *buyerConfig {
	for i := range t.buyers {
		if t.buyers[i].id == id {
			return &t.buyers[i]
		}
	}
	return nil
}

func (t *Config) campaign(id string) *campaignConfig {
	for i := range t.campaigns {
		if t.campaigns[i].id == id {
			return &t.campaigns[i]
		}
	}
	return nil
}

// isAuction reports whether a campaign's prices are bids.
func (t *Config) isAuction(campaign string) bool {
	c := t.campaign(campaign)
	return c != nil && c.isAuction()
}

func (t *Config) fixedPrice(campaign, buyer string) (market.Money, bool) {
	for i := range t.campaigns {
		for _, seat := range t.campaigns[i].filterSets {
			if t.campaigns[i].id == campaign && seat.buyer == buyer {
				return seat.price, true
			}
		}
	}
	return 0, false
}

// payout returns the supplier's payout for a price, and priceForPayout the price for a payout.
// Prices are whole cents, so both are exact.
func payout(price market.Money) market.Money { return price * 4 / 5 }

func priceForPayout(payout market.Money) market.Money { return payout * 5 / 4 }

// AdminPassword is the operator's password in every tested exchange.
const AdminPassword = "password-of-the-operator"

const (
	SupplierID    = "sup_acme"
	APIKey        = "key-of-acme-that-suppliers-send"
	BuyerToken    = "token-that-buyers-ask-for"
	ClientID      = "acme"
	ClientSecret  = "secret-that-every-client-shows"
	WebhookSecret = "whsec_c2VjcmV0IG9mIHRoZSBob29rcw=="
)

// auctionConfig is like fixedPriceConfig, with auctions only. Leads arrive by ingest and
// by ping and post. The buyers are fast, strict, failing, malformed and slow. Bids are whole
// cents.
func auctionConfig(leads int64, hourly, daily string) *Config {
	part := func(thousandths int64) int64 { return max(2, leads*thousandths/1000) }
	worth := func(thousandths int64) market.Money { return market.Money(part(thousandths)) * 10 * unit }
	seats := func(ids ...string) (all []filterSet) {
		for _, id := range ids {
			all = append(all, filterSet{buyer: id, weight: 1})
		}
		return all
	}
	return &Config{
		campaigns: []campaignConfig{
			{id: "cmp_bids", method: "ping_post", share: 60, vertical: "auto", floor: 3 * unit, filterSets: seats("bid_quick", "bid_fussy", "bid_flaky", "bid_wild")},
			{id: "cmp_more", method: "ping_post", share: 40, vertical: "home", filterSets: seats("bid_quick", "bid_flaky", "bid_slow")},
		},
		buyers: []buyerConfig{
			{id: "bid_quick", bidRange: "2-8", postTimeout: "5s", args: []string{"--latency", "1ms-5ms"}},
			{id: "bid_fussy", bidRange: "4-12", postTimeout: "5s", args: []string{"--latency", "1ms-20ms", "--reject-rate", "0.2"}, funded: true, balance: worth(60), credit: worth(10)},
			{id: "bid_flaky", bidRange: "3-11", postTimeout: "5s", args: []string{"--latency", "5ms-15ms", "--fail-rate", "0.1", "--no-bid-rate", "0.2"}},
			{id: "bid_wild", bidRange: "3-12", postTimeout: "5s", args: []string{"--latency", "1ms-30ms", "--malformed-rate", "0.05", "--reject-rate", "0.05"}},
			{id: "bid_slow", bidRange: "4-10", postTimeout: "5s", args: []string{"--latency", "30ms-120ms"}},
			{id: toppedUpBuyer, bid: unit, funded: true},
		},
		caps: []capConfig{
			{campaign: "cmp_bids", per: "day", zone: daily, count: part(380)},
			{buyer: "bid_slow", per: "hour", zone: hourly, count: part(60)},
			{buyer: "bid_flaky", per: "week", zone: daily, money: worth(60)},
			{campaign: "cmp_bids", buyer: "bid_wild", per: "month", zone: daily, count: part(80)},
			{campaign: "cmp_more", buyer: "bid_quick", per: "day", zone: daily, count: part(100)},
		},
	}
}

// NewConfig returns a configuration for every kind of request: campaigns with fixed prices
// and with auctions, and buyers with every fault, with and without a test endpoint. Some buyers
// have no limit, so leads are sold until the end of the run.
func NewConfig(leads int64, hourly, daily string) *Config {
	fixed, bids := fixedPriceConfig(leads*6/10, hourly, daily), auctionConfig(leads*4/10, hourly, daily)
	t := &Config{buyers: fixed.buyers, caps: append(fixed.caps, bids.caps...)}
	for _, b := range bids.buyers {
		if b.id != toppedUpBuyer {
			t.buyers = append(t.buyers, b)
		}
	}
	t.buyers = append(t.buyers,
		buyerConfig{id: "buy_broken", bid: 4 * unit, postTimeout: "400ms", args: []string{
			"--latency", "1ms-20ms+hang:0.03", "--malformed-post-rate", "0.1", "--forget-rate", "0.03", "--twice-rate", "0.1", "--fail-rate", "0.05", "--reject-rate", "0.05",
		}},
		buyerConfig{id: "bid_broken", bidRange: "3-9", postTimeout: "400ms", args: []string{
			"--latency", "1ms-20ms+hang:0.02", "--malformed-rate", "0.1", "--malformed-post-rate", "0.1", "--forget-rate", "0.03", "--twice-rate", "0.1", "--reject-rate", "0.05",
		}},
		buyerConfig{id: "rec_rest"},
	)
	t.campaigns = append(fixed.campaigns, bids.campaigns...)
	for i := range t.campaigns {
		c := &t.campaigns[i]
		if c.isAuction() {
			c.share = c.share * 2 / 5
			c.filterSets = append(c.filterSets, filterSet{buyer: "bid_broken"})
			continue
		}
		c.share = c.share * 3 / 5
		c.filterSets = append(c.filterSets, filterSet{"buy_broken", 4 * unit, 1}, filterSet{"rec_rest", 2 * unit, 1})
	}
	for _, id := range []string{"buy_fussy", "buy_flaky", "buy_broken", "bid_fussy", "bid_flaky", "bid_broken"} {
		t.buyer(id).hasTestEndpoint = true
	}
	t.campaign("cmp_weight").returnFreesCap = true
	t.campaign("cmp_more").returnFreesCap = true
	t.campaign("cmp_weight").manualReturns = true
	t.campaign("cmp_bids").manualReturns = true
	t.caps = append(t.caps, capConfig{campaign: "cmp_weight", buyer: "rec_alpha", per: "day", zone: daily, count: max(2, leads/40)})
	return t
}
