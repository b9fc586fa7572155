package config

import (
	"time"

	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
)

// Cap is the most that may be sold in a period: leads or money, one of them.
type Cap struct {
	Per      string        `json:"per"`
	Count    *int          `json:"count,omitempty"`
	Money    *market.Money `json:"money,omitempty"`
	TimeZone string        `json:"time_zone,omitempty"` // absent: that of what it belongs to
}

// maxCount is the highest cap on leads.
const maxCount = 1_000_000_000

func (c *compiler) caps(at place, caps []Cap, scope market.Scope, zone *time.Location) []*market.Cap {
	if len(caps) == 0 {
		return nil
	}
	out := make([]*market.Cap, 0, len(caps))
	seen := make(map[market.CapKey]place, len(caps))
	for i := range caps {
		here := at.at(i)
		built := c.cap(here, &caps[i], scope, zone)
		if built == nil {
			continue
		}
		key := market.CapKey{Scope: scope, Unit: built.Unit, Period: built.Period, Zone: built.Zone.String()}
		if first, twice := seen[key]; twice {
			c.fail(here, "limits the same as "+string(first)+" does; keep the lower one")
		}
		seen[key] = here
		out = append(out, built)
	}
	return out
}

func (c *compiler) cap(at place, limit *Cap, scope market.Scope, zone *time.Location) *market.Cap {
	if limit.TimeZone != "" {
		zone = c.zone(at.key("time_zone"), limit.TimeZone)
	}
	period, ok := calendar.ParsePeriod(limit.Per)
	if !ok {
		c.fail(at.key("per"), "unknown or missing; use hour, day, week, month or total")
	}
	built := &market.Cap{Scope: scope, Period: period, Zone: zone}
	switch {
	case limit.Count != nil && limit.Money != nil:
		c.fail(at.key("money"), "a cap limits count or money, not both; make two caps of it")
		return nil
	case limit.Count != nil:
		c.intIn(at.key("count"), *limit.Count, 0, maxCount)
		built.Unit, built.Limit = market.UnitCount, int64(*limit.Count)
	case limit.Money != nil:
		built.Unit, built.Limit = market.UnitMoney, int64(*limit.Money)
	default:
		c.fail(at, "limits nothing; give count or money")
		return nil
	}
	if !ok {
		return nil
	}
	return built
}
