package engine

import (
	"math"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
	"pingpost/engine/selection"
	"pingpost/engine/state"
)

// cachedAvailability returns the filter sets of campaign o that no lead can be sold to now. It
// caches the result until an event may have changed it, or opening hours or cap periods change.
// So a lead does not check a thousand caps.
func cachedAvailability(o *liveCampaign, s *state.State, now int64) *selection.UnavailableFilterSets {
	version := s.AvailabilityVersion() // before the checks, so that an event during the checks invalidates the result
	if cached := o.availability.Load(); cached != nil && cached.Version == version && now < cached.Until {
		return cached
	}
	a := selection.NewUnavailableFilterSets(o.CompiledFilterSets)
	a.Version, a.Until = version, math.MaxInt64
	for i := range o.Campaign.FilterSets {
		addUnavailability(o, i, s, now, a)
	}
	o.availability.Store(a)
	return a
}

// maxUnknown limits the unconfirmed deliveries of a buyer; test leads have a limit of their own.
// At the limit the buyer gets no further lead. Each unconfirmed delivery keeps its post in memory
// until an operator resolves it.
const maxUnknown = 1000

// addUnavailability adds filter set i to a under each reason for which no lead can be sold to it
// now. It lowers a.Until to the time at which a reason may change by itself.
func addUnavailability(o *liveCampaign, i int, s *state.State, now int64, a *selection.UnavailableFilterSets) {
	filterSet := &o.Campaign.FilterSets[i]
	price := lowestPrice(o.Campaign, filterSet)
	if !isOpenNow(filterSet.Buyer.Schedule, now, a) || !isOpenNow(filterSet.Schedule, now, a) {
		a.Closed.Add(i)
	}
	for _, limit := range o.Caps[i] {
		full, until := s.IsCapFull(limit, price, now)
		a.Until = min(a.Until, until)
		if full {
			a.Capped.Add(i)
		}
	}
	if s.LacksFunds(filterSet.Buyer, price) {
		a.NoFunds.Add(i)
	}
	if paused, _ := s.PauseStatus(event.ObjectBuyer, filterSet.Buyer.Ref); paused {
		a.Paused.Add(i)
	}
	if s.CountUnknownDeliveries(filterSet.Buyer.Ref, o.Test) >= maxUnknown {
		a.Unhealthy.Add(i)
	}
	if _, ok := o.Campaign.Payout.AmountAtPrice(price); !ok || price < o.Campaign.Floor {
		a.BelowFloor.Add(i)
	}
}

// lowestPrice returns the lowest price at which the filter set can get a lead, for the checks of
// caps and funds. In a ping_post campaign the price is unknown before the bids. A buyer is
// therefore pinged if there is capacity for the lowest valid bid.
func lowestPrice(c *market.Campaign, filterSet *market.FilterSet) market.Money {
	if c.Method != market.PingPost {
		return filterSet.Price
	}
	if c.Payout.IsFixed {
		return max(c.Floor, c.Payout.Fixed, 1)
	}
	return max(c.Floor, 1)
}

// isOpenNow reports whether now is within the opening hours s; nil means always. It lowers
// a.Until to the time at which the hours next begin or end.
func isOpenNow(s *calendar.WeeklySchedule, now int64, a *selection.UnavailableFilterSets) bool {
	if s == nil {
		return true
	}
	within, until := s.IsOpenAt(now)
	a.Until = min(a.Until, until)
	return within
}
