package engine

import (
	"math"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
	"pingpost/engine/selection"
	"pingpost/engine/state"
)

// doorsOf says which seats are shut at now. The answer is kept until a fact may
// have changed it or an hour has struck, so that a lead does not ask a thousand
// caps whether they are full.
func doorsOf(o *open, s *state.State, now int64) *selection.Availability {
	version := s.AvailabilityVersion() // before looking: a fact that comes while we look is looked at again
	if doors := o.doors.Load(); doors != nil && doors.Version == version && now < doors.Until {
		return doors
	}
	doors := selection.NewAvailability(o.FilterSets)
	doors.Version, doors.Until = version, math.MaxInt64
	for i := range o.Campaign.FilterSets {
		look(o, i, s, now, doors)
	}
	o.doors.Store(doors)
	return doors
}

// maxUnknown is how many leads of a buyer may wait for an operator to find out
// whether it has them, and how many test leads. Each is kept, with its body; and
// a buyer that has lost track of a thousand leads should not be sent more.
const maxUnknown = 1000

func look(o *open, i int, s *state.State, now int64, doors *selection.Availability) {
	seat := &o.Campaign.FilterSets[i]
	price := leastPrice(o.Campaign, seat)
	if !withinHours(seat.Buyer.Schedule, now, doors) || !withinHours(seat.Schedule, now, doors) {
		doors.Closed.Add(i)
	}
	for _, limit := range o.Caps[i] {
		full, until := s.IsCapFull(limit, price, now)
		doors.Until = min(doors.Until, until)
		if full {
			doors.Capped.Add(i)
		}
	}
	if s.LacksFunds(seat.Buyer, price) {
		doors.NoFunds.Add(i)
	}
	if paused, _ := s.Paused(event.NameBuyer, seat.Buyer.Ref); paused {
		doors.Paused.Add(i)
	}
	if s.UnknownDeliveries(seat.Buyer.Ref, o.Test) >= maxUnknown {
		doors.Unhealthy.Add(i)
	}
	if _, ok := o.Campaign.Payout.Amount(price); !ok || price < o.Campaign.Floor {
		doors.BelowFloor.Add(i)
	}
}

// leastPrice is what a lead costs the seat's buyer at least. An auction's price
// is not known before there are bids: a buyer is asked where there is room for
// the least bid that could stand.
func leastPrice(c *market.Campaign, seat *market.FilterSet) market.Money {
	if c.Method != market.PingPost {
		return seat.Price
	}
	if c.Payout.IsFixed {
		return max(c.Floor, c.Payout.Fixed, 1)
	}
	return max(c.Floor, 1)
}

func withinHours(s *calendar.Schedule, now int64, doors *selection.Availability) bool {
	if s == nil {
		return true
	}
	within, until := s.Open(now)
	doors.Until = min(doors.Until, until)
	return within
}
