package witness

import (
	"cmp"
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
	PeerIP     string // address of the buyers and the webhook receiver; default 127.0.0.1
}

func (t *Config) peerListen() string { return cmp.Or(t.PeerIP, "127.0.0.1") + ":0" }

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

// NewConfig returns a configuration for the given number of leads and every kind of request:
// campaigns with fixed prices and with auctions, and fast, slow, strict, failing and malformed
// buyers, with and without a test endpoint. Bids are whole cents. Every cap and account runs out
// well before the last lead, but some buyers have no limit, so leads are sold until the end.
func NewConfig(leads int64, hourly, daily string) *Config {
	fixed := func(thousandths int64) int64 { return max(2, leads*6/10*thousandths/1000) }
	bids := func(thousandths int64) int64 { return max(2, leads*4/10*thousandths/1000) }
	worth := func(count int64, price market.Money) market.Money { return market.Money(count) * price }
	slow, fussy, flaky, broken, rest := 11*unit, 12*unit+unit/2, 9*unit+unit/4, 4*unit, 2*unit
	faults := []string{"--forget-rate", "0.03", "--twice-rate", "0.1", "--malformed-post-rate", "0.1", "--reject-rate", "0.05"}
	return &Config{
		campaigns: []campaignConfig{
			{id: "cmp_fall", method: "waterfall", share: 18, filterSets: []filterSet{
				{"buy_fussy", fussy, 1}, {"buy_flaky", flaky, 1}, {"rec_alpha", 5 * unit, 1}, {"buy_broken", broken, 1}, {PausableBuyer, rest, 1},
			}},
			{id: "cmp_round", method: "round_robin", share: 15, filterSets: []filterSet{
				{"buy_slow", slow, 1}, {"buy_flaky", flaky, 1}, {"rec_beta", 8 * unit, 1}, {"rec_gamma", 7 * unit, 1}, {"buy_broken", broken, 1}, {PausableBuyer, rest, 1},
			}},
			{id: "cmp_weight", method: "weighted", share: 15, returnFreesCap: true, manualReturns: true, filterSets: []filterSet{
				{"buy_slow", slow, 3}, {"rec_alpha", 6 * unit, 2}, {"buy_fussy", fussy, 1}, {"rec_gamma", 6 * unit, 1}, {"buy_broken", broken, 1}, {PausableBuyer, rest, 1},
			}},
			{id: "cmp_open", method: "round_robin", share: 12, filterSets: []filterSet{{"buy_slow", slow, 1}, {"rec_delta", 3*unit + 1, 1}, {"buy_broken", broken, 1}, {PausableBuyer, rest, 1}}},
			{id: "cmp_bids", method: "ping_post", share: 24, vertical: "auto", floor: 3 * unit, manualReturns: true, filterSets: []filterSet{
				{buyer: "bid_quick"}, {buyer: "bid_fussy"}, {buyer: "bid_flaky"}, {buyer: "bid_wild"}, {buyer: "bid_broken"},
			}},
			{id: "cmp_more", method: "ping_post", share: 16, vertical: "home", returnFreesCap: true, filterSets: []filterSet{
				{buyer: "bid_quick"}, {buyer: "bid_flaky"}, {buyer: "bid_slow"}, {buyer: "bid_broken"},
			}},
		},
		buyers: []buyerConfig{
			{id: "buy_slow", bid: slow, postTimeout: "120ms", args: []string{"--latency", "1ms-130ms", "--reject-rate", "0.05", "--fail-rate", "0.03"}},
			{id: "buy_fussy", bid: fussy, postTimeout: "5s", args: []string{"--latency", "1ms-20ms", "--reject-rate", "0.25", "--fail-rate", "0.1"}, hasTestEndpoint: true, funded: true, balance: worth(fixed(30), fussy), credit: worth(fixed(5), fussy)},
			{id: "buy_flaky", bid: flaky, postTimeout: "5s", args: []string{"--latency", "5ms", "--fail-rate", "0.2"}, hasTestEndpoint: true},
			{id: "buy_broken", bid: broken, postTimeout: "400ms", args: append([]string{"--latency", "1ms-20ms+hang:0.03", "--fail-rate", "0.05"}, faults...), hasTestEndpoint: true},
			{id: "rec_alpha"},
			{id: toppedUpBuyer, funded: true, balance: worth(fixed(20), 8*unit), credit: worth(fixed(10), 8*unit)},
			{id: "rec_gamma"},
			{id: "rec_delta"},
			{id: PausableBuyer},
			{id: "bid_quick", bidRange: "2-8", postTimeout: "5s", args: []string{"--latency", "1ms-5ms"}},
			{id: "bid_fussy", bidRange: "4-12", postTimeout: "5s", args: []string{"--latency", "1ms-20ms", "--reject-rate", "0.2"}, hasTestEndpoint: true, funded: true, balance: worth(bids(60), 10*unit), credit: worth(bids(10), 10*unit)},
			{id: "bid_flaky", bidRange: "3-11", postTimeout: "5s", args: []string{"--latency", "5ms-15ms", "--fail-rate", "0.1", "--no-bid-rate", "0.2"}, hasTestEndpoint: true},
			{id: "bid_wild", bidRange: "3-12", postTimeout: "5s", args: []string{"--latency", "1ms-30ms", "--malformed-rate", "0.05", "--reject-rate", "0.05"}},
			{id: "bid_slow", bidRange: "4-10", postTimeout: "5s", args: []string{"--latency", "30ms-120ms"}},
			{id: "bid_broken", bidRange: "3-9", postTimeout: "400ms", args: append([]string{"--latency", "1ms-20ms+hang:0.02", "--malformed-rate", "0.1"}, faults...), hasTestEndpoint: true},
		},
		caps: []capConfig{
			{campaign: "cmp_fall", per: "day", zone: daily, count: fixed(60)},
			{campaign: "cmp_round", per: "total", zone: "UTC", money: worth(fixed(1000), unit)},
			{buyer: "rec_alpha", per: "hour", zone: hourly, count: fixed(50)},
			{buyer: "buy_flaky", per: "week", zone: daily, money: worth(fixed(50), flaky)},
			{campaign: "cmp_fall", buyer: "buy_fussy", per: "month", zone: daily, count: fixed(20)},
			{campaign: "cmp_round", buyer: "buy_slow", per: "day", zone: daily, count: fixed(20)},
			{campaign: "cmp_weight", buyer: "rec_gamma", per: "day", zone: daily, money: worth(fixed(15), 6*unit)},
			{campaign: "cmp_weight", buyer: "rec_alpha", per: "day", zone: daily, count: max(2, leads/40)},
			{campaign: "cmp_bids", per: "day", zone: daily, count: bids(380)},
			{buyer: "bid_slow", per: "hour", zone: hourly, count: bids(60)},
			{buyer: "bid_flaky", per: "week", zone: daily, money: worth(bids(60), 10*unit)},
			{campaign: "cmp_bids", buyer: "bid_wild", per: "month", zone: daily, count: bids(80)},
			{campaign: "cmp_more", buyer: "bid_quick", per: "day", zone: daily, count: bids(100)},
		},
	}
}

// ZonesFarFromWindowEnd returns time zones in which no hour and no day ends soon. Each cap then
// has one window for the whole run, so its use is a single sum.
func ZonesFarFromWindowEnd(now time.Time) (hourly, daily string) {
	hourly = "UTC"
	if now.UTC().Minute() > 30 {
		hourly = "Asia/Kolkata" // an offset of half an hour
	}
	east := 12 - now.UTC().Hour() // from -11 to 12
	return hourly, fmt.Sprintf("Etc/GMT%+d", -east)
}

func (t *Config) buyerByID(id string) *buyerConfig {
	for i := range t.buyers {
		if t.buyers[i].id == id {
			return &t.buyers[i]
		}
	}
	return nil
}

func (t *Config) campaignByID(id string) *campaignConfig {
	for i := range t.campaigns {
		if t.campaigns[i].id == id {
			return &t.campaigns[i]
		}
	}
	return nil
}

// isAuction reports whether a campaign's prices are bids.
func (t *Config) isAuction(campaign string) bool {
	c := t.campaignByID(campaign)
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
