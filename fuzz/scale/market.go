package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
	_ "time/tzdata" // time zones on machines without a zone database

	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
)

const dollar = market.Money(1_000_000)

const (
	campaignCount   = 64
	buyerCount      = 200
	offersPerLead   = 10
	supplierRef     = 1
	shiftDemandOnce = 10 * time.Minute // after this time the demand moves to other campaigns
)

var zones = []string{"UTC", "America/New_York", "Europe/Berlin", "Europe/London", "Asia/Kolkata", "America/Los_Angeles"}

// resource is a cap of a buyer, or its funds. One partition owns it.
type resource struct {
	index int
	buyer *buyer
	limit *market.Cap // nil: the buyer's funds
	owner int
}

// need returns the amount that a sale at price takes.
func (r *resource) need(price market.Money) int64 {
	if r.limit == nil {
		return int64(price)
	}
	return r.limit.AmountUsedBySale(price)
}

// buyer has caps in all campaigns together, and often funds.
type buyer struct {
	market.Buyer // as its owner knows it
	resources    []*resource
	topUp        market.Money // at the beginning, and again every 20 minutes
}

// offer is a buyer in a campaign, at a price. pair is the cap of that buyer in that campaign, which one
// partition has alone; nil: no cap.
type offer struct {
	buyer *buyer
	price market.Money
	pair  *market.Cap
}

// campaign offers its leads to buyers in the order of offers.
type campaign struct {
	ref       market.PermanentNumber
	partition int
	offers    []offer
}

// marketplace has all campaigns and buyers, with random limits: some are never reached, some soon.
type marketplace struct {
	campaigns []*campaign
	buyers    []*buyer
	resources []*resource
	caps      []*market.Cap
	ranks     []float64 // of campaigns: the sum of the shares up to a rank, for a Zipf distribution
}

func newMarketplace(random *rand.Rand, opt *options) (*marketplace, error) {
	m := &marketplace{}
	for i := range buyerCount {
		m.buyers = append(m.buyers, &buyer{Buyer: market.Buyer{Ref: market.PermanentNumber(i + 1)}})
	}
	popular := zipfSums(buyerCount, 0.8)
	for i := range campaignCount {
		m.campaigns = append(m.campaigns, m.newCampaign(random, opt, i, popular))
	}
	for _, b := range m.buyers {
		if err := m.addResources(random, opt, b); err != nil {
			return nil, err
		}
	}
	m.ranks = zipfSums(campaignCount, opt.Skew)
	return m, nil
}

func (m *marketplace) newCampaign(random *rand.Rand, opt *options, i int, popular []float64) *campaign {
	c := &campaign{ref: market.PermanentNumber(i + 1), partition: i % opt.Partitions}
	chosen := map[*buyer]bool{}
	for len(c.offers) < offersPerLead {
		b := m.buyers[drawRank(random, popular)]
		if chosen[b] {
			continue
		}
		chosen[b] = true
		o := offer{buyer: b, price: market.Money(5+random.IntN(56)) * dollar}
		if random.IntN(4) == 0 {
			o.pair = m.newCap(market.ScopePair, market.UnitCount, calendar.Hour, time.UTC, drawLimit(random, 100, 10_000))
		}
		c.offers = append(c.offers, o)
	}
	return c
}

// addResources gives the buyer a cap per hour, often a cap of money per day, and often funds. The owner is
// the partition of the buyer's first campaign.
func (m *marketplace) addResources(random *rand.Rand, opt *options, b *buyer) error {
	zone, err := time.LoadLocation(zones[random.IntN(len(zones))])
	if err != nil {
		return fmt.Errorf("time zone of buyer %d: %w", b.Ref, err)
	}
	owner := int(b.Ref) % opt.Partitions
	for _, c := range m.campaigns {
		if c.has(b) {
			owner = c.partition
			break
		}
	}
	add := func(limit *market.Cap) {
		r := &resource{index: len(m.resources), buyer: b, limit: limit, owner: owner}
		m.resources, b.resources = append(m.resources, r), append(b.resources, r)
	}
	scale := float64(opt.Leads) / 1_000_000
	add(m.newCap(market.ScopeBuyer, market.UnitCount, calendar.Hour, zone, drawLimit(random, 20, max(40, 60_000*scale))))
	if random.IntN(2) == 0 {
		limit := drawLimit(random, 2000, max(4000, 6_000_000*scale)) * int64(dollar)
		add(m.newCap(market.ScopeBuyer, market.UnitMoney, calendar.Day, zone, limit))
	}
	if random.IntN(2) == 0 {
		b.Funded, b.Credit = true, market.Money(random.IntN(3))*100*dollar
		b.topUp = market.Money(drawLimit(random, 1000, max(2000, 900_000*scale))) * dollar
		add(nil)
	}
	return nil
}

func (c *campaign) has(b *buyer) bool {
	for i := range c.offers {
		if c.offers[i].buyer == b {
			return true
		}
	}
	return false
}

func (m *marketplace) newCap(scope market.CapScope, unit market.CapUnit, period calendar.Period, zone *time.Location, limit int64) *market.Cap {
	c := &market.Cap{Ref: market.PermanentNumber(len(m.caps) + 1), Scope: scope, Unit: unit, Period: period, Zone: zone, Limit: limit}
	m.caps = append(m.caps, c)
	return c
}

// drawCampaign returns the campaign of a lead. The ranks of the campaigns shift with time.
func (m *marketplace) drawCampaign(random *rand.Rand, sinceStart time.Duration) *campaign {
	shift := int(sinceStart/shiftDemandOnce) * 5
	return m.campaigns[(drawRank(random, m.ranks)+shift)%campaignCount]
}

// zipfSums returns the sums of the shares 1/rank^skew.
func zipfSums(n int, skew float64) []float64 {
	sums, sum := make([]float64, n), 0.0
	for i := range sums {
		sum += math.Pow(float64(i+1), -skew)
		sums[i] = sum
	}
	return sums
}

func drawRank(random *rand.Rand, sums []float64) int {
	at := random.Float64() * sums[len(sums)-1]
	for rank, sum := range sums {
		if at < sum {
			return rank
		}
	}
	return len(sums) - 1
}

// drawLimit returns a number between low and high; each factor of ten is equally likely.
func drawLimit(random *rand.Rand, low, high float64) int64 {
	return int64(low * math.Pow(high/low, random.Float64()))
}
