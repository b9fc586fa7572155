package config

import (
	"maps"
	"slices"
	"time"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

const (
	maxConnections = 60_000 // to one address; the system has at most 64,511 ports for them
)

// buyerForCampaignCompilation is a checked buyer together with its entry in the document. The compilation
// of campaigns uses it.
type buyerForCampaignCompilation struct {
	form *schema.Buyer
	*market.Buyer
	place           syntax.KeyPath
	states          market.USStateSet
	suppliers       supplierFilter
	reportedFilters map[int]bool // indexes of filters with a reported mistake

	// currency of the first campaign that has the buyer, and the path of that entry
	currency string
	campaign syntax.KeyPath
}

func (c *compiler) compileBuyer(at syntax.KeyPath, b *schema.Buyer) {
	id := market.BuyerID(b.ID)
	if c.checkID(at.Key("id"), b.ID) {
		if _, twice := c.out.Catalog.Buyers[id]; twice {
			c.reportMistake(at.Key("id"), "another buyer has this id; ids are unique")
		}
	}
	c.checkPrintableText(at.Key("name"), b.Name, maxLabel)
	c.checkRatePerSecond(at.Key("ping_rate"), *b.PingRate)
	c.checkIntRange(at.Key("max_connections"), *b.MaxConns, 1, maxConnections)
	c.checkDurationRange(at.Key("post_timeout"), b.PostTimeout, 100*time.Millisecond, 5*time.Minute)
	c.compileOAuthClients(at.Key("oauth_clients"), event.ObjectBuyer, b.ID, b.OAuthClients)
	zone := c.loadTimeZoneOrUTC(at.Key("time_zone"), b.TimeZone)
	buyer := &market.Buyer{
		ID: id, Name: b.Name,
		PostTimeout:    b.PostTimeout.OrZero(),
		PingRate:       *b.PingRate,
		MaxConnections: *b.MaxConns,
		Schedule:       c.compileSchedule(at.Key("schedule"), b.Schedule, zone),
		Caps:           c.compileCaps(at.Key("caps"), b.Caps, market.ScopeBuyer, zone),
		Suppression:    c.resolveSuppressionLists(at.Key("suppression"), b.Suppression),
		Zone:           zone,
	}
	c.compileEndpoints(at, b, buyer)
	if b.Funds != nil {
		buyer.Funded, buyer.Credit = true, *b.Funds.Credit
		c.out.Initial.Balances = append(c.out.Initial.Balances, InitialBalance{Buyer: id, Money: *b.Funds.Balance})
	}
	if b.Paused {
		c.out.Initial.Paused.Buyers = append(c.out.Initial.Paused.Buyers, id)
	}
	c.out.Catalog.Buyers[id] = buyer
	entry := &buyerForCampaignCompilation{form: b, Buyer: buyer, place: at, states: c.compileStates(at.Key("states"), b.States)}
	entry.suppliers = c.compileSupplierFilter(at, b.Suppliers, b.NotSuppliers)
	for _, filter := range c.checkFiltersIndependentOfMapping(at.Key("filters"), b.Filters) {
		entry.markFilterReported(filter)
	}
	c.buyers[b.ID] = entry
}

// supplierFilter limits the suppliers of a buyer's leads, or of those of its entry in a campaign: only
// these (nil: all), and not those.
type supplierFilter struct {
	only, not map[market.SupplierID]struct{}
}

func (c *compiler) compileSupplierFilter(at syntax.KeyPath, only, not []string) supplierFilter {
	for i, id := range not {
		if slices.Contains(only, id) {
			c.reportMistake(at.Key("not_suppliers").Index(i), "is in suppliers too; remove it from one of them")
		}
	}
	return supplierFilter{c.compileAllowedSuppliers(at.Key("suppliers"), only), c.compileAllowedSuppliers(at.Key("not_suppliers"), not)}
}

// intersect returns the filter that accepts the suppliers which both filters accept.
func (f supplierFilter) intersect(other supplierFilter) supplierFilter {
	both := supplierFilter{f.only, maps.Clone(f.not)}
	if both.not == nil {
		both.not = other.not
	} else {
		maps.Copy(both.not, other.not)
	}
	switch {
	case f.only == nil:
		both.only = other.only
	case other.only != nil:
		both.only = maps.Clone(f.only)
		maps.DeleteFunc(both.only, func(id market.SupplierID, _ struct{}) bool {
			_, common := other.only[id]
			return !common
		})
	}
	return both
}

// markFilterReported records that a mistake in the buyer's filter with this index was
// reported, so that it is not reported again for each campaign.
func (b *buyerForCampaignCompilation) markFilterReported(filterIndex int) {
	if b.reportedFilters == nil {
		b.reportedFilters = make(map[int]bool)
	}
	b.reportedFilters[filterIndex] = true
}

// hasFundsOrMoneyCaps reports whether the exchange adds up the buyer's prices, which must
// then all be in one currency.
func (b *buyerForCampaignCompilation) hasFundsOrMoneyCaps() bool {
	return b.Funded || slices.ContainsFunc(b.Caps, func(limit *market.Cap) bool { return limit.Unit == market.UnitMoney })
}
