package engine

import (
	"math"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
	"pingpost/engine/selection"
	"pingpost/engine/state"
)

// cachedAvailability returns the filter sets that are unavailable now. The result is cached
// until an event may have changed it or an hour ends, so that a lead does not check a
// thousand caps.
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

// maxUnknown limits the unconfirmed deliveries of a buyer, and separately those of test
// leads. Each keeps its body in memory, and a buyer with a thousand unconfirmed leads should
// get no more.
const maxUnknown = 1000

// addUnavailability adds the reasons why filter set i is unavailable now.
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

// lowestPrice returns the lowest price of a lead for the filter set. The price of an auction is
// unknown before the bids, so a buyer is pinged if there is capacity for the lowest valid
// bid.
func lowestPrice(c *market.Campaign, filterSet *market.FilterSet) market.Money {
	if c.Method != market.PingPost {
		return filterSet.Price
	}
	if c.Payout.IsFixed {
		return max(c.Floor, c.Payout.Fixed, 1)
	}
	return max(c.Floor, 1)
}

// isOpenNow reports whether now is within a schedule; nil is always open. It lowers Until to
// the schedule's next change.
func isOpenNow(s *calendar.WeeklySchedule, now int64, a *selection.UnavailableFilterSets) bool {
	if s == nil {
		return true
	}
	within, until := s.IsOpen(now)
	a.Until = min(a.Until, until)
	return within
}
