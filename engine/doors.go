package engine

import (
	"math"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/route"
	"pingpost/engine/state"
)

// doorsOf says which seats are shut at now. The answer is kept until a fact may
// have changed it or an hour has struck, so that a lead does not ask a thousand
// caps whether they are full.
func doorsOf(o *open, s *state.State, now int64) *route.Doors {
	version := s.DoorVersion() // before looking: a fact that comes while we look is looked at again
	if doors := o.doors.Load(); doors != nil && doors.Version == version && now < doors.Until {
		return doors
	}
	doors := route.NewDoors(o.Lineup)
	doors.Version, doors.Until = version, math.MaxInt64
	for i := range o.Campaign.Lineup {
		look(o, i, s, now, doors)
	}
	o.doors.Store(doors)
	return doors
}

// maxUnknown is how many leads of a buyer may wait for an operator to find out
// whether it has them, and how many test leads. Each is kept, with its body; and
// a buyer that has lost track of a thousand leads should not be sent more.
const maxUnknown = 1000

func look(o *open, i int, s *state.State, now int64, doors *route.Doors) {
	seat := &o.Campaign.Lineup[i]
	price := leastPrice(o.Campaign, seat)
	if !withinHours(seat.Buyer.Schedule, now, doors) || !withinHours(seat.Schedule, now, doors) {
		doors.Closed.Set(i)
	}
	for _, limit := range o.Caps[i] {
		full, until := s.CapFull(limit, price, now)
		doors.Until = min(doors.Until, until)
		if full {
			doors.Capped.Set(i)
		}
	}
	if s.FundsShort(seat.Buyer, price) {
		doors.NoFunds.Set(i)
	}
	if paused, _ := s.Paused(event.NameBuyer, seat.Buyer.Ref); paused {
		doors.Paused.Set(i)
	}
	if s.Unknown(seat.Buyer.Ref, o.test) >= maxUnknown {
		doors.Unhealthy.Set(i)
	}
	if _, ok := o.Campaign.Payout.Of(price); !ok || price < o.Campaign.Floor {
		doors.BelowFloor.Set(i)
	}
}

// leastPrice is what a lead costs the seat's buyer at least. An auction's price
// is not known before there are bids: a buyer is asked where there is room for
// the least bid that could stand.
func leastPrice(c *market.Campaign, seat *market.Seat) market.Money {
	if c.Method != market.PingPost {
		return seat.Price
	}
	if c.Payout.IsFixed {
		return max(c.Floor, c.Payout.Fixed, 1)
	}
	return max(c.Floor, 1)
}

func withinHours(s *market.Schedule, now int64, doors *route.Doors) bool {
	if s == nil {
		return true
	}
	within, until := s.Open(now)
	doors.Until = min(doors.Until, until)
	return within
}
