package witness

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"pingpost/engine/market"
)

// Terms are what the exchange is configured with. The configuration's document
// is written from them, and the auditor counts by them.
type Terms struct {
	campaigns []campaignTerms
	buyers    []buyerTerms
	caps      []capTerms
	full      bool              // every kind of request is sent
	hooks     string            // where the supplier is told of its leads
	endpoints map[string]string // of the buyers that are posted to
	revision  int
}

type campaignTerms struct {
	id       string
	method   string
	share    int // of all leads, in percent
	seats    []seatTerms
	vertical string // that sellers ping for; empty: there is no auction
	floor    market.Money
	capBack  bool // a return gives caps their room back
	manual   bool // a return waits for the operator
}

func (c *campaignTerms) auctions() bool { return c.vertical != "" }

func anywhere(*campaignTerms) bool { return true }

// draw is some campaign by the shares, of those that are meant.
func (t *Terms) draw(chance *rand.Rand, in func(*campaignTerms) bool) string {
	whole := 0
	for i := range t.campaigns {
		if c := &t.campaigns[i]; in(c) {
			whole += c.share
		}
	}
	share := chance.IntN(whole)
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

type seatTerms struct {
	buyer  string
	price  market.Money
	weight int
}

// buyerTerms are a buyer's. One that is posted to pays the same price in every
// campaign, since that is what its process owes for each lead, or what it bid.
type buyerTerms struct {
	id          string
	args        []string // of its process; none: leads are only recorded
	bid         market.Money
	bids        string // in auctions, and then no price of its own
	postTimeout string
	rehearses   bool // it is posted to, and has an endpoint for tests in another process
	funded      bool
	balance     market.Money
	credit      market.Money
}

func (b *buyerTerms) posting() bool { return len(b.args) > 0 }

// testMark ends the name of an endpoint for tests.
const testMark = " (tests)"

// house is whose an endpoint is, and whether it is one for tests.
func house(endpoint string) (buyer string, tests bool) { return strings.CutSuffix(endpoint, testMark) }

// endpoint is where a lead is posted that its buyer has, or is being sent.
func (e *entry) endpoint() string {
	if e.test {
		return e.buyer + testMark
	}
	return e.buyer
}

// reports tells whether the buyer says what became of its leads.
func (t *Terms) reports(b *buyerTerms) bool { return t.full || !b.posting() }

// capTerms are one cap: a campaign's, a buyer's, or with both a pair's. It
// limits count or money.
type capTerms struct {
	campaign, buyer string
	per, zone       string
	count           int64
	money           market.Money
}

func (c *capTerms) String() string {
	return fmt.Sprintf("cap of %q and %q a %s (%d leads, %v)", c.campaign, c.buyer, c.per, c.count, c.money)
}

const unit = market.Money(1_000_000)

// NewTerms are fit for so many leads: every cap and every account is used up
// well before the last one.
func NewTerms(leads int64, hourly, daily string) *Terms {
	part := func(thousandths int64) int64 { return max(2, leads*thousandths/1000) }
	worth := func(thousandths int64, price market.Money) market.Money {
		return market.Money(part(thousandths)) * price
	}
	slow, fussy, flaky := 11*unit, 12*unit+unit/2, 9*unit+unit/4
	return &Terms{
		campaigns: []campaignTerms{
			{id: "cmp_fall", method: "waterfall", share: 30, seats: []seatTerms{{"buy_fussy", fussy, 1}, {"buy_flaky", flaky, 1}, {"rec_alpha", 5 * unit, 1}}},
			{id: "cmp_round", method: "round_robin", share: 25, seats: []seatTerms{
				{"buy_slow", slow, 1}, {"buy_flaky", flaky, 1}, {"rec_beta", 8 * unit, 1}, {"rec_gamma", 7 * unit, 1},
			}},
			{id: "cmp_weight", method: "weighted", share: 25, seats: []seatTerms{
				{"buy_slow", slow, 3}, {"rec_alpha", 6 * unit, 2}, {"buy_fussy", fussy, 1}, {"rec_gamma", 6 * unit, 1},
			}},
			{id: "cmp_open", method: "round_robin", share: 20, seats: []seatTerms{{"buy_slow", slow, 1}, {"rec_delta", 3*unit + 1, 1}}},
		},
		buyers: []buyerTerms{
			{id: "buy_slow", bid: slow, postTimeout: "120ms", args: []string{"--latency", "1ms-130ms", "--reject-rate", "0.05", "--fail-rate", "0.03"}},
			{id: "buy_fussy", bid: fussy, postTimeout: "5s", args: []string{"--latency", "1ms-20ms", "--reject-rate", "0.25", "--fail-rate", "0.1"}, funded: true, balance: worth(30, fussy), credit: worth(5, fussy)},
			{id: "buy_flaky", bid: flaky, postTimeout: "5s", args: []string{"--latency", "5ms", "--fail-rate", "0.2"}},
			{id: "rec_alpha"},
			{id: "rec_beta", funded: true, balance: worth(20, 8*unit), credit: worth(10, 8*unit)},
			{id: "rec_gamma"},
			{id: "rec_delta"},
		},
		caps: []capTerms{
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

// ZonesAt are time zones in which no hour, and no day, ends soon: a cap has one
// window in the whole run, and what it took is one sum.
func ZonesAt(now time.Time) (hourly, daily string) {
	hourly = "UTC"
	if now.UTC().Minute() > 30 {
		hourly = "Asia/Kolkata" // half an hour off
	}
	east := 12 - now.UTC().Hour() // from -11 to 12
	return hourly, fmt.Sprintf("Etc/GMT%+d", -east)
}

func (t *Terms) buyer(id string) *buyerTerms {
	for i := range t.buyers {
		if t.buyers[i].id == id {
			return &t.buyers[i]
		}
	}
	return nil
}

func (t *Terms) campaign(id string) *campaignTerms {
	for i := range t.campaigns {
		if t.campaigns[i].id == id {
			return &t.campaigns[i]
		}
	}
	return nil
}

// sellers tells whether there is anything to ping for.
func (t *Terms) sellers() bool {
	return slices.ContainsFunc(t.campaigns, func(c campaignTerms) bool { return c.auctions() })
}

// auctioned tells whether a campaign's prices are bids.
func (t *Terms) auctioned(campaign string) bool {
	c := t.campaign(campaign)
	return c != nil && c.auctions()
}

func (t *Terms) price(campaign, buyer string) (market.Money, bool) {
	for i := range t.campaigns {
		for _, seat := range t.campaigns[i].seats {
			if t.campaigns[i].id == campaign && seat.buyer == buyer {
				return seat.price, true
			}
		}
	}
	return 0, false
}

// payout is what the supplier is paid of a price, and priceOf the price of which
// that is paid. Prices are whole cents, so neither rounds.
func payout(price market.Money) market.Money { return price * 4 / 5 }

func priceOf(payout market.Money) market.Money { return payout * 5 / 4 }

// AdminPassword is the operator's, in every exchange that is witnessed.
const AdminPassword = "password-of-the-operator"

const (
	supplier     = "sup_acme"
	apiKey       = "key-of-acme-that-suppliers-send"
	buyerToken   = "token-that-buyers-ask-for"
	clientID     = "acme"
	clientSecret = "secret-that-every-client-shows"
	hookSecret   = "whsec_c2VjcmV0IG9mIHRoZSBob29rcw=="
)

// NewAuctionTerms are likewise, with auctions alone: leads come by ingest and by
// ping and post, to buyers one of which hurries, one refuses, one fails, one talks
// nonsense at times, and one passes. Bids are whole cents.
func NewAuctionTerms(leads int64, hourly, daily string) *Terms {
	part := func(thousandths int64) int64 { return max(2, leads*thousandths/1000) }
	worth := func(thousandths int64) market.Money { return market.Money(part(thousandths)) * 10 * unit }
	seats := func(ids ...string) (all []seatTerms) {
		for _, id := range ids {
			all = append(all, seatTerms{buyer: id, weight: 1})
		}
		return all
	}
	return &Terms{
		campaigns: []campaignTerms{
			{id: "cmp_bids", method: "ping_post", share: 60, vertical: "auto", floor: 3 * unit, seats: seats("bid_quick", "bid_fussy", "bid_flaky", "bid_wild")},
			{id: "cmp_more", method: "ping_post", share: 40, vertical: "home", seats: seats("bid_quick", "bid_flaky", "bid_slow")},
		},
		buyers: []buyerTerms{
			{id: "bid_quick", bids: "2-8", postTimeout: "5s", args: []string{"--latency", "1ms-5ms"}},
			{id: "bid_fussy", bids: "4-12", postTimeout: "5s", args: []string{"--latency", "1ms-20ms", "--reject-rate", "0.2"}, funded: true, balance: worth(60), credit: worth(10)},
			{id: "bid_flaky", bids: "3-11", postTimeout: "5s", args: []string{"--latency", "5ms-15ms", "--fail-rate", "0.1", "--no-bid-rate", "0.2"}},
			{id: "bid_wild", bids: "3-12", postTimeout: "5s", args: []string{"--latency", "1ms-30ms", "--malformed-rate", "0.05", "--reject-rate", "0.05"}},
			{id: "bid_slow", bids: "4-10", postTimeout: "5s", args: []string{"--latency", "30ms-120ms"}},
			{id: toppedUp, bid: unit, funded: true},
		},
		caps: []capTerms{
			{campaign: "cmp_bids", per: "day", zone: daily, count: part(380)},
			{buyer: "bid_slow", per: "hour", zone: hourly, count: part(60)},
			{buyer: "bid_flaky", per: "week", zone: daily, money: worth(60)},
			{campaign: "cmp_bids", buyer: "bid_wild", per: "month", zone: daily, count: part(80)},
			{campaign: "cmp_more", buyer: "bid_quick", per: "day", zone: daily, count: part(100)},
		},
	}
}

// NewFullTerms are those of an exchange that is sent every kind of request, for a
// run in which about so many leads come: campaigns of fixed prices and auctions side
// by side, buyers with every fault that a buyer can have, some with an endpoint for tests
// and some without, and some that never run out of room, so that there is something to
// lose to the last.
func NewFullTerms(leads int64, hourly, daily string) *Terms {
	fixed, bids := NewTerms(leads*6/10, hourly, daily), NewAuctionTerms(leads*4/10, hourly, daily)
	t := &Terms{full: true, buyers: fixed.buyers, caps: append(fixed.caps, bids.caps...)}
	for _, b := range bids.buyers {
		if b.id != toppedUp {
			t.buyers = append(t.buyers, b)
		}
	}
	t.buyers = append(t.buyers,
		buyerTerms{id: "buy_broken", bid: 4 * unit, postTimeout: "400ms", args: []string{
			"--latency", "1ms-20ms+hang:0.03", "--malformed-post-rate", "0.1", "--forget-rate", "0.03", "--twice-rate", "0.1", "--fail-rate", "0.05", "--reject-rate", "0.05",
		}},
		buyerTerms{id: "bid_broken", bids: "3-9", postTimeout: "400ms", args: []string{
			"--latency", "1ms-20ms+hang:0.02", "--malformed-rate", "0.1", "--malformed-post-rate", "0.1", "--forget-rate", "0.03", "--twice-rate", "0.1", "--reject-rate", "0.05",
		}},
		buyerTerms{id: "rec_rest"},
	)
	t.campaigns = append(fixed.campaigns, bids.campaigns...)
	for i := range t.campaigns {
		c := &t.campaigns[i]
		if c.auctions() {
			c.share = c.share * 2 / 5
			c.seats = append(c.seats, seatTerms{buyer: "bid_broken"})
			continue
		}
		c.share = c.share * 3 / 5
		c.seats = append(c.seats, seatTerms{"buy_broken", 4 * unit, 1}, seatTerms{"rec_rest", 2 * unit, 1})
	}
	for _, id := range []string{"buy_fussy", "buy_flaky", "buy_broken", "bid_fussy", "bid_flaky", "bid_broken"} {
		t.buyer(id).rehearses = true
	}
	t.campaign("cmp_weight").capBack = true
	t.campaign("cmp_more").capBack = true
	t.campaign("cmp_weight").manual = true
	t.campaign("cmp_bids").manual = true
	t.caps = append(t.caps, capTerms{campaign: "cmp_weight", buyer: "rec_alpha", per: "day", zone: daily, count: max(2, leads/40)})
	return t
}
