package config

import (
	"fmt"
	"strconv"
	"time"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
)

// maxModifiers limits the modifiers of a filter set, because each decision compares them in turn.
const maxModifiers = 50

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

// compileModifiers compiles the modifiers of a filter set's price and caps. It warns about those that
// never have an effect.
func (c *compiler) compileModifiers(at syntax.KeyPath, s *schema.FilterSet, campaign *market.Campaign) (compiled []market.Modifier) {
	if len(s.Modifiers) > maxModifiers {
		c.reportMistake(at, "has "+strconv.Itoa(len(s.Modifiers))+" modifiers, but a buyer in a campaign can have at most "+strconv.Itoa(maxModifiers)+"; join those with equal factors")
		return nil
	}
	var earlier calendar.CoveredMinutes
	for i := range s.Modifiers {
		here, form := at.Index(i), &s.Modifiers[i]
		zone := campaign.Zone
		if form.TimeZone != "" {
			zone = c.loadTimeZoneOrUTC(here.Key("time_zone"), form.TimeZone)
		}
		m := market.Modifier{Price: form.Price.OrUnchanged(), Caps: form.Caps.OrUnchanged()}
		c.checkModifierEffect(here, form, s, campaign)
		switch {
		case len(form.During) == 0:
			c.reportMistake(here.Key("during"), "lists no hours; write for example Mon-Fri 18:00-22:00, or remove the modifier")
		case c.checkHours(here.Key("during"), form.During):
			m.During = c.parseCheckedSchedule(here.Key("during"), zone, form.During)
		}
		if m.During == nil {
			continue
		}
		if !earlier.Add(m.During) {
			c.addWarning(here.Key("during"), "never counts, because earlier modifiers cover these hours, and the first one counts; remove it, or move it up")
		}
		compiled = append(compiled, m)
	}
	return compiled
}

// checkModifierEffect reports a modifier that changes nothing, or that makes a price too large, and
// warns about a factor without effect.
func (c *compiler) checkModifierEffect(at syntax.KeyPath, form *schema.Modifier, s *schema.FilterSet, campaign *market.Campaign) {
	if form.Price == nil && form.Caps == nil {
		c.reportMistake(at, "changes nothing; give a factor as price or caps")
	}
	if form.Caps != nil && *form.Caps != 0 && len(s.Caps) == 0 {
		c.addWarning(at.Key("caps"), "has no effect, because this entry has no caps of its own; add caps, or remove it. Only 0 has an effect: no lead in these hours")
	}
	if form.Price == nil {
		return
	}
	if campaign.Method == market.PingPost {
		c.addWarning(at.Key("price"), "has no effect in a ping_post campaign, because the bids are the prices; remove it")
		return
	}
	m := market.Modifier{Price: form.Price.OrUnchanged()}
	if price := m.ModifiedPrice(s.Price); price > market.MaxMoney {
		c.reportMistake(at.Key("price"), fmt.Sprintf("makes a price of %s, which is over %s; lower it", price, market.MaxMoney))
	}
}
