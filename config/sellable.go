package config

import (
	"fmt"
	"strings"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market"
)

// checkOverlappingPingCampaigns reports active ping_post campaigns between which a ping could
// not choose: they have the same vertical and sub_vertical, and share a supplier.
func (c *compiler) checkOverlappingPingCampaigns(campaigns []schema.Campaign) {
	type line struct{ vertical, sub string }
	type taken struct {
		all, first syntax.KeyPath // first campaign for all suppliers; first campaign of all
		by         map[string]syntax.KeyPath
	}
	lines := make(map[line]*taken)
	for i := range campaigns {
		form := &campaigns[i]
		if form.Method != "ping_post" || form.Paused || form.Vertical == "" {
			continue
		}
		here := syntax.KeyPath("campaigns").Index(i)
		key := line{form.Vertical, form.SubVertical}
		t := lines[key]
		if t == nil {
			t = &taken{first: here, by: make(map[string]syntax.KeyPath)}
			lines[key] = t
		}
		other := t.all
		if len(form.Suppliers) == 0 && t.first != here {
			other = t.first
		}
		for _, supplier := range form.Suppliers {
			if earlier, ok := t.by[supplier]; ok && earlier != here && other == "" {
				other = earlier
			}
			t.by[supplier] = here
		}
		if len(form.Suppliers) == 0 {
			t.all = here
		}
		if other != "" {
			c.reportMistake(here, "overlaps with "+string(other)+": both are ping_post, for the same vertical and sub_vertical, and share a supplier, so a ping would match both; give them different suppliers or sub_vertical, or pause one")
		}
	}
}

// warnReserveShortensBidding warns if a reserve ends an auction's bidding before the campaign's
// bid_timeout. A buyer's post_timeout needs no such warning: after 5 seconds the
// supplier gets its answer, but the attempt continues.
func (c *compiler) warnReserveShortensBidding(at syntax.KeyPath, form *schema.Campaign) {
	for _, reserve := range [...]struct {
		key, auction string
		span         *schema.Duration
	}{
		{"post_reserve", "an ingest", form.PostReserve},
		{"ping_reserve", "a ping", form.PingReserve},
	} {
		left := maxBidTimeout - reserve.span.OrZero()
		if form.Method == "ping_post" && form.BidTimeout.OrZero() > left {
			c.addWarning(at.Key("bid_timeout"), fmt.Sprintf("is longer than %s allows: bidding ends after %s, because %s reserves %s of the 5s for the post; lower bid_timeout or %s",
				reserve.auction, schema.Duration(left), reserve.key, reserve.span, reserve.key))
		}
	}
}

// warnNoFloor warns about an auction without a floor, because it sells to any bid. A
// fixed payout is a floor too.
func (c *compiler) warnNoFloor(at syntax.KeyPath, form *schema.Campaign) {
	if form.Method == "ping_post" && form.Floor == 0 && (form.Payout.Fixed == nil || *form.Payout.Fixed == 0) {
		c.addWarning(at.Key("floor"), "is 0, so a lead can sell for almost nothing; set the lowest bid that may buy")
	}
	for i := range form.Terms {
		if terms := &form.Terms[i]; form.Method == "ping_post" && terms.Floor != nil && schema.MinimumPrice(form.FloorAndPayoutOf(terms)) == 0 {
			c.addWarning(at.Key("terms").Index(i).Key("floor"), "is 0, so a lead with these terms can sell for almost nothing; set the lowest bid that may buy")
		}
	}
}

// checkPricesAgainstFloorAndPayout reports filter sets whose price is too low to buy, and a payout
// above all prices. It warns about a price of 0 and about a campaign without buyers. It does not
// check prices in campaigns with auctions, whose bids are unknown.
func (c *compiler) checkPricesAgainstFloorAndPayout(at syntax.KeyPath, form *schema.Campaign) {
	buyers := at.Key("buyers")
	if len(form.Buyers) == 0 {
		c.addWarning(buyers, "has no entry, so each lead stays unsold; add a buyer, or remove the campaign")
	}
	if form.Method == "ping_post" {
		return
	}
	fixed, highest := market.Money(0), market.Money(0)
	if form.Payout.Fixed != nil {
		fixed = *form.Payout.Fixed
	}
	for i := range form.Buyers {
		highest = max(highest, highestPrice(&form.Buyers[i]))
	}
	lowest := c.lowestPriceOfTerms(at.Key("terms"), form, highest)
	if fixed > highest && lowest > highest && len(form.Buyers) > 0 {
		c.reportNeverWorksOrWarnIfAccepted(at.Key("payout").Key("fixed"), "is higher than all prices, so no buyer can buy here; lower it, or raise a price")
		fixed = 0
	}
	for i := range form.Buyers {
		here, price := buyers.Index(i), highestPrice(&form.Buyers[i])
		missing := ""
		if price == 0 {
			missing = "is missing or 0, and "
		}
		switch {
		case price >= lowest && price > 0: // it buys leads of some terms
		case price < form.Floor:
			c.reportNeverWorksOrWarnIfAccepted(here.Key("price"), missing+"is below the campaign's floor, so this buyer can never buy here; raise it, lower floor, or remove the entry")
		case price < fixed:
			c.reportNeverWorksOrWarnIfAccepted(here.Key("price"), missing+"is below payout.fixed, so this buyer can never buy here; raise it, lower payout.fixed, or remove the entry")
		case price == 0:
			c.addWarning(here.Key("price"), "is missing or 0, so this buyer gets leads for free; give the price of a lead")
		default:
			c.warnPricesTooLowAtTimes(here, &form.Buyers[i], max(form.Floor, fixed))
		}
	}
}

// highestPrice returns the highest price of a filter set: without a modifier, or in the hours of one.
func highestPrice(s *schema.FilterSet) market.Money {
	highest := s.Price
	for i := range s.Modifiers {
		highest = max(highest, modifiedPrice(s, i))
	}
	return highest
}

func modifiedPrice(s *schema.FilterSet, modifierIndex int) market.Money {
	m := market.Modifier{Price: s.Modifiers[modifierIndex].Price.OrUnchanged()}
	return m.ModifiedPrice(s.Price)
}

// warnPricesTooLowAtTimes warns about a filter set that can buy, but not in the hours of a modifier, or
// only then. lowest is the lowest price that buys.
func (c *compiler) warnPricesTooLowAtTimes(at syntax.KeyPath, s *schema.FilterSet, lowest market.Money) {
	if s.Price < lowest {
		c.addWarning(at.Key("price"), fmt.Sprintf("is below %s, the floor or fixed payout, so this buyer buys only in hours with a modifier that raises it; raise it, or limit the hours with schedule", lowest))
	}
	for i := range s.Modifiers {
		here := at.Key("modifiers").Index(i).Key("price")
		switch price := modifiedPrice(s, i); {
		case s.Modifiers[i].Price == nil:
		case price < lowest:
			c.addWarning(here, fmt.Sprintf("makes a price of %s, below %s, the floor or fixed payout, so this buyer does not buy in these hours; raise it, or write caps: 0", price, lowest))
		case price == 0:
			c.addWarning(here, "makes a price of 0, so this buyer gets leads for free in these hours; raise it")
		}
	}
}

// lowestPriceOfTerms returns the lowest price that may buy a lead of any of the campaign's terms, or
// market.MaxMoney + 1 without terms. It warns about terms of which no lead can be sold at the highest
// price.
func (c *compiler) lowestPriceOfTerms(at syntax.KeyPath, form *schema.Campaign, highest market.Money) (lowest market.Money) {
	lowest = market.MaxMoney + 1
	for i := range form.Terms {
		minimum := schema.MinimumPrice(form.FloorAndPayoutOf(&form.Terms[i]))
		lowest = min(lowest, minimum)
		if minimum > highest && len(form.Buyers) > 0 {
			c.addWarning(at.Index(i), "has a floor or a fixed payout that is higher than all prices, so no lead with these terms can be sold; lower it, or raise a price")
		}
	}
	return lowest
}

// reportWildcardsInLeadSources reports a lead source named *, because a * is no wildcard there. It only
// warns about a * inside a longer name.
func (c *compiler) reportWildcardsInLeadSources(at syntax.KeyPath, names []string) {
	for i, name := range names {
		switch {
		case name == "*":
			c.reportNeverWorksOrWarnIfAccepted(at.Index(i), "is not a source: * matches only a source with that name, so no lead would need consent. Name each source, or set required: true on the field consent_cert_url")
		case strings.Contains(name, "*"):
			c.addWarning(at.Index(i), "has a *, which is no wildcard in sources; name each source")
		}
	}
}
