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

// compileSchedule compiles the opening hours and closed days of a campaign, a buyer or a filter set. It
// returns nil without a schedule, which means always open, and also after a mistake.
func (c *compiler) compileSchedule(at syntax.KeyPath, s *schema.OpeningHours, zone *time.Location) *calendar.WeeklySchedule {
	if s == nil {
		return nil
	}
	if s.TimeZone != "" {
		zone = c.loadTimeZoneOrUTC(at.Key("time_zone"), s.TimeZone)
	}
	if len(s.Open) == 0 && len(s.ClosedOn) == 0 {
		c.reportMistake(at.Key("open"), "lists no opening hours; write for example Mon-Fri 08:00-18:00, or remove the schedule to be always open")
		return nil
	}
	good := c.checkHours(at.Key("open"), s.Open)
	seen := make(map[string]syntax.KeyPath, len(s.ClosedOn))
	for i, date := range s.ClosedOn {
		here := at.Key("closed_on").Index(i)
		if _, err := calendar.ParseWeeklySchedule(zone, nil, date); err != nil {
			c.reportMistakeHidingEnvironmentValue(here, err.Error())
			good = false
		}
		c.checkUnique(here, seen, date)
	}
	if !good {
		return nil
	}
	return c.parseCheckedSchedule(at.Key("open"), zone, s.Open, s.ClosedOn...)
}

// checkHours reports the mistakes in lines of hours, and returns whether there are none.
func (c *compiler) checkHours(at syntax.KeyPath, lines []string) (good bool) {
	good = true
	for i, line := range lines {
		if _, err := calendar.ParseWeeklySchedule(time.UTC, []string{line}); err != nil {
			c.reportMistakeHidingEnvironmentValue(at.Index(i), err.Error())
			good = false
		}
	}
	return good
}

// parseCheckedSchedule returns the schedule of lines and dates that are valid one by one.
func (c *compiler) parseCheckedSchedule(at syntax.KeyPath, zone *time.Location, open []string, closedOn ...string) *calendar.WeeklySchedule {
	schedule, err := calendar.ParseWeeklySchedule(zone, open, closedOn...)
	if err != nil {
		c.reportMistakeHidingEnvironmentValue(at, err.Error())
	}
	return schedule
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
