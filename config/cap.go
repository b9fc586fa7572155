package config

import (
	"time"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
)

// maxCount is the highest cap on the number of leads.
const maxCount = 1_000_000_000

func (c *compiler) compileCaps(at syntax.KeyPath, caps []schema.Cap, scope market.CapScope, zone *time.Location) []*market.Cap {
	if len(caps) == 0 {
		return nil
	}
	out := make([]*market.Cap, 0, len(caps))
	seen := make(map[market.CapKey]syntax.KeyPath, len(caps))
	for i := range caps {
		here := at.Index(i)
		built := c.compileCap(here, &caps[i], scope, zone)
		if built == nil {
			continue
		}
		key := market.CapKey{Scope: scope, Unit: built.Unit, Period: built.Period, Zone: built.Zone.String()}
		if first, twice := seen[key]; twice {
			c.reportMistake(here, "limits the same unit and period as "+string(first)+"; keep the lower one")
		}
		seen[key] = here
		out = append(out, built)
	}
	return out
}

func (c *compiler) compileCap(at syntax.KeyPath, limit *schema.Cap, scope market.CapScope, zone *time.Location) *market.Cap {
	if limit.TimeZone != "" {
		zone = c.loadTimeZoneOrUTC(at.Key("time_zone"), limit.TimeZone)
	}
	period, ok := calendar.ParsePeriod(limit.Per)
	if !ok {
		c.reportMistake(at.Key("per"), "unknown or missing; use hour, day, week, month or total")
	}
	built := &market.Cap{Scope: scope, Period: period, Zone: zone}
	switch {
	case limit.Count != nil && limit.Money != nil:
		c.reportMistake(at.Key("money"), "a cap limits count or money, not both; write two caps")
		return nil
	case limit.Count != nil:
		c.checkIntRange(at.Key("count"), *limit.Count, 0, maxCount)
		built.Unit, built.Limit = market.UnitCount, int64(*limit.Count)
	case limit.Money != nil:
		built.Unit, built.Limit = market.UnitMoney, int64(*limit.Money)
	default:
		c.reportMistake(at, "has no limit; give count or money")
		return nil
	}
	if !ok {
		return nil
	}
	return built
}

// compileStates returns the US states with these codes, or all states for an empty list. It
// reports unknown and repeated codes.
func (c *compiler) compileStates(at syntax.KeyPath, codes []string) market.USStateSet {
	if len(codes) == 0 {
		return market.AllStates
	}
	var set market.USStateSet
	for i, code := range codes {
		state := market.ParseUSStateCode([]byte(code))
		switch {
		case state == market.NoState:
			c.reportMistake(at.Index(i), "is not a US state; give its two capital letters, such as CA")
		case set.Has(state):
			c.reportMistake(at.Index(i), "is listed twice; keep one")
		}
		set = set.WithState(state)
	}
	return set
}
