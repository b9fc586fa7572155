package config

import (
	"cmp"
	"slices"
	"strconv"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market"
)

const (
	maxPriority = 1_000_000
	maxWeight   = 1_000_000

	// maxBidders keeps the log record of an auction below the entry limit (1 MiB), even if
	// the exchange pings all buyers and all reasons have the maximum length.
	maxBidders = 4000
)

// compileFilterSets compiles a campaign's filter sets, which are its entries of buyers. It
// returns them ordered by priority and buyer id.
func (c *compiler) compileFilterSets(at syntax.KeyPath, form *schema.Campaign, campaign *market.Campaign) []market.FilterSet {
	out := make([]market.FilterSet, 0, len(form.Buyers))
	seen := make(map[string]syntax.KeyPath, len(form.Buyers))
	if form.Method == "ping_post" && len(form.Buyers) > maxBidders {
		c.reportMistake(at, "has "+strconv.Itoa(len(form.Buyers))+" buyers, but an auction can ping at most "+strconv.Itoa(maxBidders)+"; divide it into several campaigns with different suppliers or sub_vertical")
	}
	for i := range form.Buyers {
		here, seat := at.Index(i), &form.Buyers[i]
		buyer, ok := c.buyers[seat.Buyer]
		if !ok {
			c.reportMistakeHidingEnvironmentValue(here.Key("buyer"), "there is no buyer "+quoteShortened(seat.Buyer)+"; add it under buyers")
		} else {
			c.checkUnique(here.Key("buyer"), seen, seat.Buyer)
		}
		built := c.compileFilterSet(here, seat, campaign)
		if ok {
			c.checkAndMergeBuyerIntoFilterSet(here, buyer, seat, form, &built, campaign.Mapping)
			built.Buyer = buyer.Buyer
			out = append(out, built)
		}
	}
	slices.SortFunc(out, func(a, b market.FilterSet) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Buyer.ID, b.Buyer.ID))
	})
	return out
}

// compileFilterSet compiles the values that the filter set itself has, such as price and
// caps. checkAndMergeBuyerIntoFilterSet applies the buyer's own states and filters afterwards.
func (c *compiler) compileFilterSet(at syntax.KeyPath, s *schema.FilterSet, campaign *market.Campaign) market.FilterSet {
	c.checkIntRange(at.Key("priority"), *s.Priority, 0, maxPriority)
	c.checkIntRange(at.Key("weight"), *s.Weight, 1, maxWeight)
	return market.FilterSet{
		Priority: *s.Priority,
		Weight:   *s.Weight,
		Price:    s.Price,
		States:   c.compileStates(at.Key("states"), s.States),
		Filters:  c.compileFilters(at.Key("filters"), s.Filters, campaign.Mapping),
		Schedule: c.compileSchedule(at.Key("schedule"), s.Schedule, campaign.Zone),
		Caps:     c.compileCaps(at.Key("caps"), s.Caps, market.ScopePair, campaign.Zone),
	}
}

// checkAndMergeBuyerIntoFilterSet checks that the buyer fits the campaign. It limits the filter set to the
// buyer's own states and adds the buyer's filters. It compiles these filters here, because the
// position of a field in a lead is known only in the campaign's mapping.
func (c *compiler) checkAndMergeBuyerIntoFilterSet(at syntax.KeyPath, buyer *buyerForCampaignCompilation, filterSetForm *schema.FilterSet, campaignForm *schema.Campaign, filterSet *market.FilterSet, mapping *market.FieldMapping) {
	if campaignForm.Method == "ping_post" && !buyer.form.CanBid() {
		c.reportMistakeHidingEnvironmentValue(at.Key("buyer"), "buyer "+quoteShortened(filterSetForm.Buyer)+" has no endpoint or ping_url and cannot bid; give it one, or use another method")
	}
	c.limitToSuppliers(at, buyer, filterSetForm, campaignForm, filterSet)
	own := filterSet.States
	filterSet.States &= buyer.states
	if filterSet.States == 0 && own != 0 && buyer.states != 0 { // otherwise reported before
		c.reportMistake(at.Key("states"), "the buyer accepts no lead from these states; its entry here can only narrow the buyer's states")
	}
	if buyer.currency == "" {
		buyer.currency, buyer.campaign = campaignForm.Currency, at.Key("buyer")
	} else if buyer.currency != campaignForm.Currency && buyer.hasFundsOrMoneyCaps() {
		c.reportMistakeHidingEnvironmentValue(at.Key("buyer"), "buyer "+quoteShortened(filterSetForm.Buyer)+" has funds or caps on money, but buys in two currencies (the other one at "+string(buyer.campaign)+"); divide it into two buyers")
	}
	if mapping == nil {
		return
	}
	c.checkTemplatesForCampaign(buyer, campaignForm, mapping)
	for i := range buyer.form.Filters {
		f := &buyer.form.Filters[i]
		if f.Field == "" {
			continue
		}
		if _, known := mapping.SlotByNameForBuyers(f.Field); !known {
			c.reportMistakeHidingEnvironmentValue(at.Key("buyer"), "buyer "+quoteShortened(filterSetForm.Buyer)+" filters on "+quoteShortened(f.Field)+", but this campaign has no such field, so the buyer would never buy here; add the field, or move the filter to campaigns[].buyers[] where it exists")
			continue
		}
		filter, err := market.NewFilter(f.FilterSpec(), mapping)
		if err == nil {
			filterSet.Filters = append(filterSet.Filters, filter)
		} else if !buyer.reportedFilters[i] {
			buyer.markFilterReported(i)
			c.reportMistakeHidingEnvironmentValue(buyer.place.Key("filters").Index(i), "in campaign "+quoteShortened(campaignForm.ID)+": "+textWithoutFieldName(err))
		}
	}
}

// limitToSuppliers limits the filter set to the suppliers that it and its buyer accept. It warns if no
// supplier of the campaign remains.
func (c *compiler) limitToSuppliers(at syntax.KeyPath, buyer *buyerForCampaignCompilation, form *schema.FilterSet, campaignForm *schema.Campaign, filterSet *market.FilterSet) {
	before := len(c.problems)
	both := c.compileSupplierFilter(at, form.Suppliers, form.NotSuppliers).intersect(buyer.suppliers)
	filterSet.Suppliers, filterSet.NotSuppliers = both.only, both.not
	if both.only == nil && both.not == nil || len(c.problems) > before {
		return
	}
	reached := false
	for id := range c.out.Catalog.Suppliers {
		mayUse := len(campaignForm.Suppliers) == 0 || slices.Contains(campaignForm.Suppliers, string(id))
		reached = reached || mayUse && filterSet.AcceptsSupplier(id)
	}
	if !reached {
		c.addWarning(at, "accepts no supplier of the campaign, by its suppliers and not_suppliers and those of the buyer, so this buyer can never buy here; add a supplier, or remove the entry")
	}
}

// checkTemplatesForCampaign reports a buyer's request templates that use a field which this
// campaign, in which the buyer has an entry, does not have.
func (c *compiler) checkTemplatesForCampaign(buyer *buyerForCampaignCompilation, form *schema.Campaign, mapping *market.FieldMapping) {
	at := buyer.place.Key("adapter")
	if to := buyer.Ping; to != nil && to.Adapter != nil && form.Method == "ping_post" {
		c.reportTemplateMistakes(at.Key("ping").Key("body"), form.ID, to.Adapter.Check(mapping))
	}
	if to := buyer.Post; to != nil && to.Adapter != nil {
		c.reportTemplateMistakes(at.Key("post").Key("body"), form.ID, to.Adapter.Check(mapping))
	}
}
