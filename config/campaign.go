package config

import (
	"time"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market"
)

const (
	minBidTimeout = 2 * time.Second
	maxBidTimeout = 5 * time.Second
)

var methodsByName = map[string]market.BuyerSelectionMethod{
	"waterfall": market.Waterfall, "round_robin": market.RoundRobin,
	"weighted": market.Weighted, "ping_post": market.PingPost,
}

func (c *compiler) compileCampaign(at syntax.KeyPath, form *schema.Campaign) {
	id := market.CampaignID(form.ID)
	if c.checkID(at.Key("id"), form.ID) {
		if _, twice := c.out.Catalog.Campaigns[id]; twice {
			c.reportMistake(at.Key("id"), "another campaign has this id; ids are unique")
		}
	}
	c.checkCampaignValues(at, form)
	currency, ok := market.ParseCurrency(form.Currency)
	if !ok {
		c.reportMistake(at.Key("currency"), "is not a currency; give an ISO 4217 code, such as USD")
	}
	zone := c.loadTimeZoneOrUTC(at.Key("time_zone"), form.TimeZone)
	campaign := &market.Campaign{
		ID: id, Name: form.Name, Vertical: form.Vertical, SubVertical: form.SubVertical,
		Suppliers:   c.compileAllowedSuppliers(at.Key("suppliers"), form.Suppliers),
		Method:      methodsByName[form.Method],
		Currency:    currency,
		Zone:        zone,
		Floor:       form.Floor,
		Payout:      c.compilePayout(at.Key("payout"), &form.Payout),
		BidTimeout:  form.BidTimeout.OrZero(),
		PostReserve: form.PostReserve.OrZero(),
		PingReserve: form.PingReserve.OrZero(),
		Suppression: c.resolveSuppressionLists(at.Key("suppression"), form.Suppression),
		Duplicates:  c.compileDuplicates(at.Key("duplicates"), &form.Duplicates),
		Returns:     c.compileReturns(at.Key("returns"), &form.Returns),
		Mapping:     c.compileMapping(at, form),
		Schedule:    c.compileSchedule(at.Key("schedule"), form.Schedule, zone),
		Caps:        c.compileCaps(at.Key("caps"), form.Caps, market.ScopeCampaign, zone),
	}
	if len(form.ConsentSources) > 0 {
		campaign.ConsentSources = setOf[string](form.ConsentSources)
	}
	campaign.ConsentHosts = c.compileConsentHosts(at.Key("consent_hosts"), form.ConsentHosts)
	campaign.Filters = c.compileFilters(at.Key("filters"), form.Filters, campaign.Mapping)
	c.warnFiltersExcludeEachOther(at.Key("filters"), campaign, nil)
	campaign.Terms = c.compileTerms(at.Key("terms"), form, campaign)
	campaign.FilterSets = c.compileFilterSets(at.Key("buyers"), form, campaign)
	if form.Paused {
		c.out.Initial.Paused.Campaigns = append(c.out.Initial.Paused.Campaigns, id)
	}
	c.out.Catalog.Campaigns[id] = campaign
}

// checkCampaignValues reports mistakes in a campaign's name, verticals, method, auction times and
// consent sources. It also compares prices, floor and payout, and adds warnings. compileCampaign checks
// the other values.
func (c *compiler) checkCampaignValues(at syntax.KeyPath, form *schema.Campaign) {
	c.checkPrintableText(at.Key("name"), form.Name, maxLabel)
	c.checkPrintableText(at.Key("vertical"), form.Vertical, maxLabel)
	c.checkPrintableText(at.Key("sub_vertical"), form.SubVertical, maxLabel)
	if c.checkOneOf(at.Key("method"), form.Method, "waterfall", "round_robin", "weighted", "ping_post") &&
		form.Method == "ping_post" && form.Vertical == "" {
		c.reportMistake(at.Key("vertical"), "is missing; pings select a ping_post campaign by its vertical, so give one")
	}
	c.checkDurationRange(at.Key("bid_timeout"), form.BidTimeout, minBidTimeout, maxBidTimeout)
	c.checkDurationRange(at.Key("post_reserve"), form.PostReserve, 100*time.Millisecond, 4*time.Second)
	c.checkDurationRange(at.Key("ping_reserve"), form.PingReserve, 100*time.Millisecond, 4*time.Second)
	c.warnReserveShortensBidding(at, form)
	c.warnNoFloor(at, form)
	c.checkPricesAgainstFloorAndPayout(at, form)
	c.checkUniquePrintableTexts(at.Key("consent_required_sources"), form.ConsentSources, maxLabel)
	c.reportWildcardsInLeadSources(at.Key("consent_required_sources"), form.ConsentSources)
}

// compileAllowedSuppliers returns the suppliers of a list as a set, or nil for an empty list, which
// allows all suppliers. It reports unknown names.
func (c *compiler) compileAllowedSuppliers(at syntax.KeyPath, supplierIDs []string) map[market.SupplierID]struct{} {
	seen := make(map[string]syntax.KeyPath, len(supplierIDs))
	for i, name := range supplierIDs {
		if _, ok := c.out.Catalog.Suppliers[market.SupplierID(name)]; !ok {
			c.reportMistakeHidingEnvironmentValue(at.Index(i), "there is no supplier "+quoteShortened(name)+"; add it under suppliers")
			continue
		}
		c.checkUnique(at.Index(i), seen, name)
	}
	if len(supplierIDs) == 0 {
		return nil
	}
	return setOf[market.SupplierID](supplierIDs)
}

// setOf returns the names as a set.
func setOf[T ~string](names []string) map[T]struct{} {
	set := make(map[T]struct{}, len(names))
	for _, name := range names {
		set[T(name)] = struct{}{}
	}
	return set
}
