package exclusion

import (
	"fmt"
	"slices"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
	"pingpost/engine/selection"
)

// describeClosedSchedule returns the schedule that was closed: the campaign's, the buyer's own or that
// of its entry in the campaign.
func (d *DecisionInputs) describeClosedSchedule(set *market.FilterSet) *UnmetRule {
	for _, at := range d.Instants {
		for _, schedule := range [...]struct {
			label string
			hours *calendar.WeeklySchedule
		}{
			{"schedule of the campaign", d.Campaign.Schedule},
			{"schedule of the buyer", set.Buyer.Schedule},
			{"schedule in the campaign", set.Schedule},
		} {
			if !isClosedAt(schedule.hours, at) {
				continue
			}
			rule := newRule(KindSchedule, schedule.label, schedule.hours.String(), pointerTo(schedule.hours.LocalWeekdayAndTime(at)), "")
			rule.At = formatTime(at)
			return rule
		}
	}
	return newRule(KindSchedule, "schedule", "open hours", nil, Unknown)
}

// IsCampaignClosed reports whether the campaign's own schedule closed it at one of the checks.
func (d *DecisionInputs) IsCampaignClosed() bool {
	return slices.ContainsFunc(d.Instants, func(at int64) bool { return isClosedAt(d.Campaign.Schedule, at) })
}

// isClosedAt reports whether the hours, which may be nil, do not contain the instant. The instant 0 is
// unknown.
func isClosedAt(hours *calendar.WeeklySchedule, unixNanos int64) bool {
	if hours == nil || unixNanos == 0 {
		return false
	}
	open, _ := hours.IsOpenAt(unixNanos)
	return !open
}

// instantOfCheck returns the time of a check of caps or money: of the decision, or of its last change.
func (d *DecisionInputs) instantOfCheck(check int) (unixNanosOrZero int64) {
	switch {
	case len(d.Instants) == 0:
		return 0
	case check > 0:
		return d.Instants[len(d.Instants)-1]
	}
	return d.Instants[0]
}

// capsChargedBySaleAt returns the caps that a sale to the filter set at this time is charged to, in the
// order of selection.PriceAndCaps.
func (d *DecisionInputs) capsChargedBySaleAt(set *market.FilterSet, unixNanos int64) []*market.Cap {
	return slices.Concat(d.Campaign.Caps, set.Buyer.Caps, set.CapsAt(unixNanos))
}

// bidOrFixedPriceOrLowestValidBid returns the price that a sale at this time would have: of the valid
// bid, or the fixed price. Before the bids of an auction it is the lowest possible bid.
func (d *DecisionInputs) bidOrFixedPriceOrLowestValidBid(set *market.FilterSet, bid *event.Bid, unixNanos int64) market.Money {
	if bid != nil && bid.Currency != (market.Currency{}) {
		return bid.Amount
	}
	return selection.FixedPriceOrMinimumBid(d.Campaign, set.PriceAt(unixNanos))
}

// describeModifierAt returns the modifier in force at this time as a note, such as " (10 USD × 0.5 during
// Sat 08:00-12:00 UTC)". It returns "" if the factor is 1 or no modifier is in force.
func describeModifierAt(set *market.FilterSet, unixNanos int64, unmodified string, factorOf func(*market.Modifier) market.Factor) string {
	i, _ := set.ModifierAt(unixNanos)
	if i < 0 || factorOf(&set.Modifiers[i]) == market.UnchangedFactor {
		return ""
	}
	return fmt.Sprintf(" (%s × %s during %s)", unmodified, factorOf(&set.Modifiers[i]), set.Modifiers[i].During)
}

func priceFactor(m *market.Modifier) market.Factor { return m.Price }

func capsFactor(m *market.Modifier) market.Factor { return m.Caps }

// describeExceededCap returns the first cap that a sale would exceed, at the first check at which one
// was full. A later check counts only if all caps are known to be free at the checks before it. A
// single unknown cap is named, with an unknown value.
func (d *DecisionInputs) describeExceededCap(set *market.FilterSet, bid *event.Bid) *UnmetRule {
	decided := d.instantOfCheck(0)
	checks := d.capUsagesByCheck(d.capsChargedBySaleAt(set, decided))
	var unknown []*market.Cap
	for check := 0; check < len(checks) && len(unknown) == 0; check++ {
		at := d.instantOfCheck(check)
		for i, limit := range d.capsChargedBySaleAt(set, at) {
			switch usage := checks[check][i]; {
			case usage == nil:
				unknown = append(unknown, limit)
			case usage.Used+limit.AmountUsedBySale(d.bidOrFixedPriceOrLowestValidBid(set, bid, at)) > limit.Limit:
				return d.newCapRule(set, limit, usage, bid, at)
			}
		}
	}
	for _, at := range d.Instants {
		if i, _ := set.ModifierAt(at); i >= 0 && set.Modifiers[i].Caps == 0 {
			return newRule(KindCap, "modifier of caps in the campaign", "a factor above 0", pointerTo("0 during "+set.Modifiers[i].During.String()), "")
		}
	}
	if len(unknown) == 0 {
		unknown = d.capsChargedBySaleAt(set, decided)
	}
	if len(unknown) == 1 {
		return d.newCapRule(set, unknown[0], nil, bid, decided)
	}
	return newRule(KindCap, "cap", "free capacity in all caps", nil, Unknown)
}

// capUsagesByCheck returns for each time at which the caps were checked, the decisive one first, the
// usage of each cap, in the order of caps. A nil usage is unknown.
func (d *DecisionInputs) capUsagesByCheck(caps []*market.Cap) (checks [][]*CapUsage) {
	if d.CapUsages == nil {
		return nil
	}
	for i, limit := range caps {
		for check, usage := range d.CapUsages(limit) {
			if check == len(checks) {
				checks = append(checks, make([]*CapUsage, len(caps)))
			}
			checks[check][i] = usage
		}
	}
	return checks
}

// newCapRule returns the rule of a cap with its limit at this time. A nil usage is unknown.
func (d *DecisionInputs) newCapRule(set *market.FilterSet, limit *market.Cap, usage *CapUsage, bid *event.Bid, unixNanos int64) *UnmetRule {
	amount := func(n int64) string { return fmt.Sprint(n) }
	if limit.Unit == market.UnitMoney {
		amount = func(n int64) string { return formatAmount(market.Money(n), d.Campaign.Currency) }
	}
	owner := map[market.CapScope]string{
		market.ScopeTerms:    fmt.Sprintf("terms %s of campaign %s", d.Campaign.AppliedTerms, d.Campaign.ID),
		market.ScopeCampaign: "campaign " + string(d.Campaign.ID), market.ScopeBuyer: "buyer " + string(set.Buyer.ID),
		market.ScopePair: fmt.Sprintf("buyer %s in campaign %s", set.Name(), d.Campaign.ID),
	}[limit.Scope]
	unit := " leads"
	if limit.Unit == market.UnitMoney {
		unit = ""
	}
	per := " per " + limit.Period.String()
	if limit.Period == calendar.Total {
		per = " in total"
	}
	wanted := "at most " + amount(limit.Limit) + unit + per
	for _, configured := range set.Caps {
		if configured.Ref == limit.Ref && limit.Scope == market.ScopePair {
			wanted += describeModifierAt(set, unixNanos, amount(configured.Limit), capsFactor)
		}
	}
	c := &UnmetCap{
		Scope: limit.Scope.String(), Unit: limit.Unit.String(), Period: limit.Period.String(), Zone: limit.Zone.String(),
		Limit: amount(limit.Limit), Needed: amount(limit.AmountUsedBySale(d.bidOrFixedPriceOrLowestValidBid(set, bid, unixNanos))),
	}
	label := "cap of " + owner
	var rule *UnmetRule
	if usage == nil {
		rule = newRule(KindCap, label, wanted, nil, Unknown)
	} else {
		c.Used = amount(usage.Used)
		actual := fmt.Sprintf("%s used and %s needed", c.Used, c.Needed)
		rule = newRule(KindCap, label, wanted, &actual, Reconstructed)
		if limit.Period != calendar.Total {
			c.From, c.Until = formatTimeInZone(usage.From, limit.Zone), formatTimeInZone(usage.Until, limit.Zone)
			rule.Text += fmt.Sprintf(", in the window %s to %s", c.From, c.Until)
		}
	}
	rule.Cap = c
	return rule
}

func formatTimeInZone(unixNanos int64, zone *time.Location) string {
	return time.Unix(0, unixNanos).In(zone).Format(time.RFC3339)
}

// describeLackOfFunds compares the buyer's free money, with its credit, with the price. As for caps, a later
// check counts only if the money at the earlier ones is known.
func (d *DecisionInputs) describeLackOfFunds(set *market.FilterSet, bid *event.Bid) *UnmetRule {
	currency := d.Campaign.Currency
	priceOfCheck := func(check int) (price market.Money, wanted string) {
		price = d.bidOrFixedPriceOrLowestValidBid(set, bid, d.instantOfCheck(check))
		return price, "at least " + formatAmount(price, currency)
	}
	var funds []*Funds
	if d.Funds != nil {
		funds = d.Funds(set.Buyer)
	}
	for check, at := range funds {
		if at == nil {
			break
		}
		free := at.Balance - at.Held + set.Buyer.Credit
		price, wanted := priceOfCheck(check)
		if free >= price {
			continue
		}
		actual := formatAmount(free, currency)
		rule := newRule(KindFunds, "funds", wanted, &actual, Reconstructed)
		rule.Text += fmt.Sprintf(": balance %s, held %s, credit %s", formatAmount(at.Balance, currency), formatAmount(at.Held, currency), formatAmount(set.Buyer.Credit, currency))
		return rule
	}
	_, wanted := priceOfCheck(0)
	return newRule(KindFunds, "funds", wanted, nil, Unknown)
}

func (d *DecisionInputs) describePausedBuyer() *UnmetRule {
	return newRule(KindPause, "buyer", "active", pointerTo("paused"), "")
}

// describeUnhealthyBuyer returns the rule against too many unconfirmed deliveries, or else the rule
// against failed answers to pings.
func (d *DecisionInputs) describeUnhealthyBuyer(buyer *market.Buyer) *UnmetRule {
	deliveries, basis := 0, Unknown
	if d.Unconfirmed != nil {
		deliveries, basis = d.Unconfirmed(buyer)
	}
	if basis != Unknown && deliveries >= MaxUnconfirmedDeliveries {
		return newRule(KindUnconfirmed, "buyer health", fmt.Sprintf("fewer than %d unconfirmed deliveries", MaxUnconfirmedDeliveries), pointerTo(fmt.Sprint(deliveries)), basis)
	}
	const wanted = "few failed answers to recent pings"
	if d.PingShare == nil {
		return newRule(KindHealth, "buyer health", wanted, nil, Unknown)
	}
	share, basis := d.PingShare(buyer)
	if basis == Unknown || share >= selection.AllPings {
		return newRule(KindHealth, "buyer health", wanted, nil, Unknown)
	}
	return newRule(KindHealth, "buyer health", wanted, pointerTo(fmt.Sprintf("so many failures that only %d of 10 auctions ping it", share)), basis)
}

// MaxUnconfirmedDeliveries limits the unconfirmed deliveries of a buyer; test leads have a limit of
// their own. At the limit the buyer gets no further lead. Each unconfirmed delivery keeps its post
// in memory until an operator resolves it. Memory is not the only reason: a buyer that left a
// thousand deliveries unconfirmed should get no more leads.
const MaxUnconfirmedDeliveries = 1000

// describePriceBelowFloorOrPayout compares the bid, or the fixed price, with the campaign's floor, and
// then with the supplier's payout. If the fixed price changed after the decision, it compares the one
// that was too low.
func (d *DecisionInputs) describePriceBelowFloorOrPayout(set *market.FilterSet, bid *event.Bid) *UnmetRule {
	currency, decided := d.Campaign.Currency, d.instantOfCheck(0)
	price := d.bidOrFixedPriceOrLowestValidBid(set, bid, decided)
	if last := d.instantOfCheck(1); price >= d.Campaign.Floor && last != 0 {
		if _, covered := d.Campaign.Payout.AmountAtPrice(price); covered {
			price, decided = d.bidOrFixedPriceOrLowestValidBid(set, bid, last), last
		}
	}
	actual := formatAmount(price, currency)
	label := "price"
	if bid != nil {
		label = "bid"
	} else {
		actual += describeModifierAt(set, decided, formatAmount(set.Price, currency), priceFactor)
	}
	of := ""
	if d.Campaign.AppliedTerms != "" {
		of = " in terms " + d.Campaign.AppliedTerms
	}
	if price < d.Campaign.Floor {
		return newRule(KindFloor, label, "at least the floor of "+formatAmount(d.Campaign.Floor, currency)+of, &actual, "")
	}
	if d.Campaign.Payout.IsFixed {
		return newRule(KindPayout, label, "at least the supplier's payout of "+formatAmount(d.Campaign.Payout.Fixed, currency)+of, &actual, "")
	}
	return newRule(KindPayout, label, "at least the supplier's payout", &actual, "")
}

// formatDuration returns a duration in whole days, or as Go writes it.
func formatDuration(nanos int64) string {
	const day = int64(24 * time.Hour)
	if nanos > 0 && nanos%day == 0 {
		if nanos == day {
			return "1 day"
		}
		return fmt.Sprint(nanos/day, " days")
	}
	return time.Duration(nanos).String()
}
