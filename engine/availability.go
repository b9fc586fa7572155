package engine

import (
	"math"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
	"pingpost/engine/selection"
	"pingpost/engine/state"
)

// cachedUnavailability returns the filter sets of the campaign that no lead can be sold to now. It
// caches the result until an event may have changed it, or opening hours or cap periods change. So
// a lead does not check a thousand caps.
func cachedUnavailability(campaign *liveCampaign, s *state.State, nowNanos int64) *selection.UnavailableFilterSets {
	version := s.AvailabilityVersion() // before the checks, so that an event during the checks invalidates the result
	if cached := campaign.availability.Load(); cached != nil && cached.Version == version && nowNanos < cached.Until {
		return cached
	}
	a := selection.NewUnavailableFilterSets(campaign.CompiledFilterSets)
	a.Version, a.Until = version, math.MaxInt64
	for i := range campaign.Campaign.FilterSets {
		addUnavailableReasons(campaign, i, s, nowNanos, a)
	}
	campaign.availability.Store(a)
	return a
}

// maxUnconfirmedDeliveries limits the unconfirmed deliveries of a buyer; test leads have a limit of their own.
// At the limit the buyer gets no further lead. Each unconfirmed delivery keeps its post in memory
// until an operator resolves it.
const maxUnconfirmedDeliveries = 1000

// addUnavailableReasons adds the filter set to unavailable under each reason for which no lead can
// be sold to it now. It lowers Until to the time at which a reason may change by itself.
func addUnavailableReasons(campaign *liveCampaign, filterSetIndex int, s *state.State, nowNanos int64, unavailable *selection.UnavailableFilterSets) {
	filterSet := &campaign.Campaign.FilterSets[filterSetIndex]
	price := lowestPossiblePrice(campaign.Campaign, filterSet)
	if !isOpenAndLimitValidity(filterSet.Buyer.Schedule, nowNanos, unavailable) || !isOpenAndLimitValidity(filterSet.Schedule, nowNanos, unavailable) {
		unavailable.Closed.Add(filterSetIndex)
	}
	for _, limit := range campaign.Caps[filterSetIndex] {
		full, until := s.IsCapFull(limit, price, nowNanos)
		unavailable.Until = min(unavailable.Until, until)
		if full {
			unavailable.Capped.Add(filterSetIndex)
		}
	}
	if s.LacksFunds(filterSet.Buyer, price) {
		unavailable.NoFunds.Add(filterSetIndex)
	}
	if paused, _ := s.PauseStatus(event.ObjectBuyer, filterSet.Buyer.Ref); paused {
		unavailable.Paused.Add(filterSetIndex)
	}
	if s.CountUnknownDeliveries(filterSet.Buyer.Ref, campaign.Test) >= maxUnconfirmedDeliveries {
		unavailable.Unhealthy.Add(filterSetIndex)
	}
	if _, ok := campaign.Campaign.Payout.AmountAtPrice(price); !ok || price < campaign.Campaign.Floor {
		unavailable.BelowFloor.Add(filterSetIndex)
	}
}

// lowestPossiblePrice returns the lowest price at which the filter set can get a lead, for the checks of
// caps and funds. In a ping_post campaign the price is unknown before the bids. A buyer is
// therefore pinged if there is capacity for the lowest valid bid.
func lowestPossiblePrice(c *market.Campaign, filterSet *market.FilterSet) market.Money {
	if c.Method != market.PingPost {
		return filterSet.Price
	}
	if c.Payout.IsFixed {
		return max(c.Floor, c.Payout.Fixed, 1)
	}
	return max(c.Floor, 1)
}

// isOpenAndLimitValidity reports whether nowNanos is within the opening hours; nil means always. It
// lowers unavailable.Until to the time at which the hours next begin or end.
func isOpenAndLimitValidity(hoursOrNil *calendar.WeeklySchedule, nowNanos int64, unavailable *selection.UnavailableFilterSets) bool {
	if hoursOrNil == nil {
		return true
	}
	within, until := hoursOrNil.IsOpenAt(nowNanos)
	unavailable.Until = min(unavailable.Until, until)
	return within
}
