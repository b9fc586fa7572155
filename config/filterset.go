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

	// maxBidders keeps the record of an auction that asks everyone, with the
	// longest reasons, within an entry of the log (1 MiB).
	maxBidders = 4000
)

// compileFilterSets builds a campaign's seats, by priority, then buyer id.
func (c *compiler) compileFilterSets(at syntax.Path, form *schema.Campaign, campaign *market.Campaign) []market.FilterSet {
	out := make([]market.FilterSet, 0, len(form.Buyers))
	seen := make(map[string]syntax.Path, len(form.Buyers))
	if form.Method == "ping_post" && len(form.Buyers) > maxBidders {
		c.report(at, "has "+strconv.Itoa(len(form.Buyers))+" buyers, and an auction asks at most "+strconv.Itoa(maxBidders)+"; make several campaigns of it, each with its own suppliers or sub_vertical")
	}
	for i := range form.Buyers {
		here, seat := at.Index(i), &form.Buyers[i]
		buyer, ok := c.buyers[seat.Buyer]
		if !ok {
			c.reportQuoting(here.Key("buyer"), "there is no buyer "+quote(seat.Buyer)+"; add it under buyers")
		} else {
			c.checkUnique(here.Key("buyer"), seen, seat.Buyer)
		}
		built := c.compileFilterSet(here, seat, campaign)
		if ok {
			c.addBuyerTerms(here, buyer, seat, form, &built, campaign.Mapping)
			built.Buyer = buyer.Buyer
			out = append(out, built)
		}
	}
	slices.SortFunc(out, func(a, b market.FilterSet) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Buyer.ID, b.Buyer.ID))
	})
	return out
}

// compileFilterSet builds what the seat says itself.
func (c *compiler) compileFilterSet(at syntax.Path, s *schema.FilterSet, campaign *market.Campaign) market.FilterSet {
	c.checkInt(at.Key("priority"), *s.Priority, 0, maxPriority)
	c.checkInt(at.Key("weight"), *s.Weight, 1, maxWeight)
	return market.FilterSet{
		Priority: *s.Priority,
		Weight:   *s.Weight,
		Price:    s.Price,
		States:   c.stateSet(at.Key("states"), s.States),
		Filters:  c.compileFilters(at.Key("filters"), s.Filters, campaign.Mapping),
		Schedule: c.compileSchedule(at.Key("schedule"), s.Schedule, campaign.Zone),
		Caps:     c.compileCaps(at.Key("caps"), s.Caps, market.ScopePair, campaign.Zone),
	}
}

// addBuyerTerms judges a buyer in its seat, and adds to the seat what the buyer says of
// itself: its states, and its filters, which are compiled here because a field
// has its slot only in the campaign's mapping.
func (c *compiler) addBuyerTerms(at syntax.Path, buyer *compiledBuyer, s *schema.FilterSet, form *schema.Campaign, built *market.FilterSet, mapping *market.Mapping) {
	if form.Method == "ping_post" && !buyer.form.CanBid() {
		c.reportQuoting(at.Key("buyer"), "buyer "+quote(s.Buyer)+" has no endpoint or ping_url to bid at; give it one, or use another method")
	}
	own := built.States
	built.States &= buyer.states
	if built.States == 0 && own != 0 && buyer.states != 0 { // else reported already
		c.report(at.Key("states"), "none of these states is one that the buyer takes; a seat can only narrow them")
	}
	if buyer.currency == "" {
		buyer.currency, buyer.campaign = form.Currency, at.Key("buyer")
	} else if buyer.currency != form.Currency && buyer.countsMoney() {
		c.reportQuoting(at.Key("buyer"), "buyer "+quote(s.Buyer)+" has funds or caps on money, but buys in two currencies (the other at "+string(buyer.campaign)+"); make two buyers of it")
	}
	if mapping == nil {
		return
	}
	c.checkTemplates(buyer, form, mapping)
	for i := range buyer.form.Filters {
		f := &buyer.form.Filters[i]
		if f.Field == "" {
			continue
		}
		if _, known := mapping.SlotByBuyerName(f.Field); !known {
			c.reportQuoting(at.Key("buyer"), "buyer "+quote(s.Buyer)+" filters on "+quote(f.Field)+", which this campaign has no field for, so it would never buy here; add the field, or filter in the seats where it exists")
			continue
		}
		filter, err := market.NewFilter(f.Spec(), mapping)
		if err == nil {
			built.Filters = append(built.Filters, filter)
		} else if !buyer.reportedFilters[i] {
			buyer.markReported(i)
			c.reportQuoting(buyer.place.Key("filters").Index(i), "in campaign "+quote(form.ID)+": "+filterCause(err))
		}
	}
}

// checkTemplates judges a buyer's templates by the fields of a campaign that it sits in.
func (c *compiler) checkTemplates(buyer *compiledBuyer, form *schema.Campaign, mapping *market.Mapping) {
	at := buyer.place.Key("adapter")
	if to := buyer.Ping; to != nil && to.Adapter != nil && form.Method == "ping_post" {
		c.reportTemplate(at.Key("ping").Key("body"), form.ID, to.Adapter.Check(mapping))
	}
	if to := buyer.Post; to != nil && to.Adapter != nil {
		c.reportTemplate(at.Key("post").Key("body"), form.ID, to.Adapter.Check(mapping))
	}
}
