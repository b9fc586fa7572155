package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
)

const (
	maxPriority = 1_000_000
	maxWeight   = 1_000_000

	// maxModifiers limits the modifiers of a filter set, because each decision compares them in turn.
	maxModifiers = 50

	// maxBidders keeps the log record of an auction below the entry limit (1 MiB), even if
	// the exchange pings all buyers and all reasons have the maximum length.
	maxBidders = 4000
)

// compileFilterSets compiles a campaign's filter sets, which are its entries of buyers. It
// returns them ordered by priority and buyer id.
func (c *compiler) compileFilterSets(at syntax.KeyPath, form *schema.Campaign, campaign *market.Campaign) []market.FilterSet {
	out := make([]market.FilterSet, 0, len(form.Buyers))
	seen := make(map[filterSetName]syntax.KeyPath, len(form.Buyers))
	ofBuyer := make(map[string][]int, len(form.Buyers))
	if form.Method == "ping_post" && len(form.Buyers) > maxBidders {
		c.reportMistake(at, "has "+strconv.Itoa(len(form.Buyers))+" buyers, but an auction can ping at most "+strconv.Itoa(maxBidders)+"; divide it into several campaigns with different suppliers or sub_vertical")
	}
	for i := range form.Buyers {
		here, seat := at.Index(i), &form.Buyers[i]
		buyer, ok := c.buyers[seat.Buyer]
		if !ok {
			c.reportMistakeHidingEnvironmentValue(here.Key("buyer"), "there is no buyer "+quoteShortened(seat.Buyer)+"; add it under buyers")
		} else {
			c.checkFilterSetName(here, seen, filterSetName{seat.Buyer, seat.ID})
			ofBuyer[seat.Buyer] = append(ofBuyer[seat.Buyer], i)
		}
		built := c.compileFilterSet(here, seat, campaign)
		if ok {
			c.checkAndMergeBuyerIntoFilterSet(here, buyer, seat, form, &built, campaign.Mapping)
			c.warnFiltersExcludeEachOther(here, campaign, &built)
			built.Buyer = buyer.Buyer
			out = append(out, built)
		}
	}
	for i := range form.Buyers {
		c.warnUnreachableFilterSet(at, form.Buyers, i, ofBuyer[form.Buyers[i].Buyer])
	}
	slices.SortFunc(out, func(a, b market.FilterSet) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Buyer.ID, b.Buyer.ID), cmp.Compare(a.ID, b.ID))
	})
	return out
}

type filterSetName struct{ buyer, id string }

// checkFilterSetName reports an invalid id, and a second filter set of the buyer with the same id or, like the
// first one, without an id.
func (c *compiler) checkFilterSetName(at syntax.KeyPath, seen map[filterSetName]syntax.KeyPath, name filterSetName) {
	if name.id != "" {
		c.checkID(at.Key("id"), name.id)
	}
	first, twice := seen[name]
	switch {
	case !twice:
		seen[name] = at
	case name.id == "":
		c.reportMistakeHidingEnvironmentValue(at.Key("buyer"), "buyer "+quoteShortened(name.buyer)+" has another filter set without an id at "+string(first)+"; give this one an id, or remove one of them")
	default:
		c.reportMistake(at.Key("id"), "is the same as "+string(first.Key("id"))+"; a buyer's filter sets in a campaign need different ids")
	}
}

// warnUnreachableFilterSet warns if another filter set of the buyer comes first and accepts every lead at any time.
// ofBuyer has the indexes of all filter sets of the buyer.
func (c *compiler) warnUnreachableFilterSet(at syntax.KeyPath, sets []schema.FilterSet, index int, ofBuyer []int) {
	set := &sets[index]
	for _, i := range ofBuyer {
		other := &sets[i]
		comesFirst := cmp.Or(cmp.Compare(*other.Priority, *set.Priority), cmp.Compare(other.ID, set.ID)) < 0
		accepts := len(other.States) == 0 && len(other.Filters) == 0 && len(other.Caps) == 0 && other.Schedule == nil &&
			len(other.Suppliers) == 0 && len(other.NotSuppliers) == 0 && len(other.Modifiers) == 0
		if comesFirst && accepts {
			c.addWarning(at.Index(index), "is never used, because "+string(at.Index(i))+" comes first and accepts every lead of the campaign for this buyer; give this one a lower priority number than that one, or remove it")
			return
		}
	}
}

// compileFilterSet compiles the values that the filter set itself has, such as price and
// caps. checkAndMergeBuyerIntoFilterSet applies the buyer's own states and filters afterwards.
func (c *compiler) compileFilterSet(at syntax.KeyPath, s *schema.FilterSet, campaign *market.Campaign) market.FilterSet {
	c.checkIntRange(at.Key("priority"), *s.Priority, 0, maxPriority)
	c.checkIntRange(at.Key("weight"), *s.Weight, 1, maxWeight)
	return market.FilterSet{
		ID:       s.ID,
		Priority: *s.Priority,
		Weight:   *s.Weight,
		Price:    s.Price,
		States:   c.compileStates(at.Key("states"), s.States),
		Filters:  c.compileFilters(at.Key("filters"), s.Filters, campaign.Mapping),
		Schedule: c.compileSchedule(at.Key("schedule"), s.Schedule, campaign.Zone),
		Caps:     c.compileCaps(at.Key("caps"), s.Caps, market.ScopePair, campaign.Zone),

		Modifiers: c.compileModifiers(at.Key("modifiers"), s, campaign),
	}
}

// compileModifiers compiles the modifiers of a filter set's price and caps. It warns about those that
// never have an effect.
func (c *compiler) compileModifiers(at syntax.KeyPath, s *schema.FilterSet, campaign *market.Campaign) (compiled []market.Modifier) {
	if len(s.Modifiers) > maxModifiers {
		c.reportMistake(at, "has "+strconv.Itoa(len(s.Modifiers))+" modifiers, but a buyer in a campaign can have at most "+strconv.Itoa(maxModifiers)+"; join those with equal factors")
		return nil
	}
	var earlier calendar.CoveredMinutes
	for i := range s.Modifiers {
		here, form := at.Index(i), &s.Modifiers[i]
		zone := campaign.Zone
		if form.TimeZone != "" {
			zone = c.loadTimeZoneOrUTC(here.Key("time_zone"), form.TimeZone)
		}
		m := market.Modifier{Price: form.Price.OrUnchanged(), Caps: form.Caps.OrUnchanged()}
		c.checkModifierEffect(here, form, s, campaign)
		switch {
		case len(form.During) == 0:
			c.reportMistake(here.Key("during"), "lists no hours; write for example Mon-Fri 18:00-22:00, or remove the modifier")
		case c.checkHours(here.Key("during"), form.During):
			m.During = c.parseCheckedSchedule(here.Key("during"), zone, form.During)
		}
		if m.During == nil {
			continue
		}
		if !earlier.Add(m.During) {
			c.addWarning(here.Key("during"), "never counts, because earlier modifiers cover these hours, and the first one counts; remove it, or move it up")
		}
		compiled = append(compiled, m)
	}
	return compiled
}

// checkModifierEffect reports a modifier that changes nothing, or that makes a price too large, and
// warns about a factor without effect.
func (c *compiler) checkModifierEffect(at syntax.KeyPath, form *schema.Modifier, s *schema.FilterSet, campaign *market.Campaign) {
	if form.Price == nil && form.Caps == nil {
		c.reportMistake(at, "changes nothing; give a factor as price or caps")
	}
	if form.Caps != nil && *form.Caps != 0 && len(s.Caps) == 0 {
		c.addWarning(at.Key("caps"), "has no effect, because this entry has no caps of its own; add caps, or remove it. Only 0 has an effect: no lead in these hours")
	}
	if form.Price == nil {
		return
	}
	if campaign.Method == market.PingPost {
		c.addWarning(at.Key("price"), "has no effect in a ping_post campaign, because the bids are the prices; remove it")
		return
	}
	m := market.Modifier{Price: form.Price.OrUnchanged()}
	if price := m.ModifiedPrice(s.Price); price > market.MaxMoney {
		c.reportMistake(at.Key("price"), fmt.Sprintf("makes a price of %s, which is over %s; lower it", price, market.MaxMoney))
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
