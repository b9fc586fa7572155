package config

import (
	"cmp"
	"slices"
	"strconv"

	"pingpost/engine/market"
)

// Seat is a buyer's place in a campaign. What it adds narrows what the buyer
// says of itself.
type Seat struct {
	Buyer    string       `json:"buyer"`
	Priority *int         `json:"priority"` // lower first; by default the order of the list, from 1
	Weight   *int         `json:"weight"`
	Price    market.Money `json:"price"` // for the methods without an auction
	States   []string     `json:"states,omitempty"`
	Filters  []Filter     `json:"filters,omitempty"`
	Schedule *Schedule    `json:"schedule,omitempty"`
	Caps     []Cap        `json:"caps,omitempty"`
}

const (
	maxPriority = 1_000_000
	maxWeight   = 1_000_000

	// maxBidders keeps the record of an auction that asks everyone, with the
	// longest reasons, within an entry of the log (1 MiB).
	maxBidders = 4000
)

func (s *Seat) fill(index int) {
	s.Priority = given(s.Priority, index+1)
	s.Weight = given(s.Weight, 1)
}

// lineup builds a campaign's seats, by priority, then buyer id.
func (c *compiler) lineup(at place, form *Campaign, campaign *market.Campaign) []market.FilterSet {
	out := make([]market.FilterSet, 0, len(form.Buyers))
	seen := make(map[string]place, len(form.Buyers))
	if form.Method == "ping_post" && len(form.Buyers) > maxBidders {
		c.fail(at, "has "+strconv.Itoa(len(form.Buyers))+" buyers, and an auction asks at most "+strconv.Itoa(maxBidders)+"; make several campaigns of it, each with its own suppliers or sub_vertical")
	}
	for i := range form.Buyers {
		here, seat := at.at(i), &form.Buyers[i]
		buyer, ok := c.buyers[seat.Buyer]
		if !ok {
			c.failQuoting(here.key("buyer"), "there is no buyer "+quote(seat.Buyer)+"; add it under buyers")
		} else {
			c.once(here.key("buyer"), seen, seat.Buyer)
		}
		built := c.seat(here, seat, campaign)
		if ok {
			c.sits(here, buyer, seat, form, &built, campaign.Mapping)
			built.Buyer = buyer.Buyer
			out = append(out, built)
		}
	}
	slices.SortFunc(out, func(a, b market.FilterSet) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Buyer.ID, b.Buyer.ID))
	})
	return out
}

// seat builds what the seat says itself.
func (c *compiler) seat(at place, s *Seat, campaign *market.Campaign) market.FilterSet {
	c.intIn(at.key("priority"), *s.Priority, 0, maxPriority)
	c.intIn(at.key("weight"), *s.Weight, 1, maxWeight)
	return market.FilterSet{
		Priority: *s.Priority,
		Weight:   *s.Weight,
		Price:    s.Price,
		States:   c.states(at.key("states"), s.States),
		Filters:  c.filters(at.key("filters"), s.Filters, campaign.Mapping),
		Schedule: c.schedule(at.key("schedule"), s.Schedule, campaign.Zone),
		Caps:     c.caps(at.key("caps"), s.Caps, market.ScopePair, campaign.Zone),
	}
}

// sits judges a buyer in its seat, and adds to the seat what the buyer says of
// itself: its states, and its filters, which are compiled here because a field
// has its slot only in the campaign's mapping.
func (c *compiler) sits(at place, buyer *buyerEntry, s *Seat, form *Campaign, built *market.FilterSet, mapping *market.Mapping) {
	if form.Method == "ping_post" && !buyer.form.Pings() {
		c.failQuoting(at.key("buyer"), "buyer "+quote(s.Buyer)+" has no endpoint or ping_url to bid at; give it one, or use another method")
	}
	own := built.States
	built.States &= buyer.states
	if built.States == 0 && own != 0 && buyer.states != 0 { // else reported already
		c.fail(at.key("states"), "none of these states is one that the buyer takes; a seat can only narrow them")
	}
	if buyer.currency == "" {
		buyer.currency, buyer.campaign = form.Currency, at.key("buyer")
	} else if buyer.currency != form.Currency && buyer.countsMoney() {
		c.failQuoting(at.key("buyer"), "buyer "+quote(s.Buyer)+" has funds or caps on money, but buys in two currencies (the other at "+string(buyer.campaign)+"); make two buyers of it")
	}
	if mapping == nil {
		return
	}
	c.fits(buyer, form, mapping)
	for i := range buyer.form.Filters {
		f := &buyer.form.Filters[i]
		if f.Field == "" {
			continue
		}
		if _, known := mapping.SlotOf(f.Field); !known {
			c.failQuoting(at.key("buyer"), "buyer "+quote(s.Buyer)+" filters on "+quote(f.Field)+", which this campaign has no field for, so it would never buy here; add the field, or filter in the seats where it exists")
			continue
		}
		filter, err := market.NewFilter(f.spec(), mapping)
		if err == nil {
			built.Filters = append(built.Filters, filter)
		} else if !buyer.faulty[i] {
			buyer.fault(i)
			c.failQuoting(buyer.place.key("filters").at(i), "in campaign "+quote(form.ID)+": "+cause(err))
		}
	}
}

// fits judges a buyer's templates by the fields of a campaign that it sits in.
func (c *compiler) fits(buyer *buyerEntry, form *Campaign, mapping *market.Mapping) {
	at := buyer.place.key("adapter")
	if to := buyer.Ping; to != nil && to.Adapter != nil && form.Method == "ping_post" {
		c.template(at.key("ping").key("body"), form.ID, to.Adapter.Check(mapping))
	}
	if to := buyer.Post; to != nil && to.Adapter != nil {
		c.template(at.key("post").key("body"), form.ID, to.Adapter.Check(mapping))
	}
}

// fault marks a filter as reported, so that it is told once and not for each
// campaign.
func (b *buyerEntry) fault(filter int) {
	if b.faulty == nil {
		b.faulty = make(map[int]bool)
	}
	b.faulty[filter] = true
}

// countsMoney tells whether sums of the buyer's prices are kept.
func (b *buyerEntry) countsMoney() bool {
	return b.Funded || slices.ContainsFunc(b.Caps, func(limit *market.Cap) bool { return limit.Unit == market.UnitMoney })
}
