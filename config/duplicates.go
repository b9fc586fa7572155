package config

import "pingpost/engine/market"

// Duplicates says when two leads of a campaign are the same person.
type Duplicates struct {
	Fields []string  `json:"fields"` // phone, email
	Match  string    `json:"match"`  // any or all of them
	Window *Duration `json:"window"` // 0: no rule
	Scope  string    `json:"scope"`  // campaign, or buyer: only where this buyer has the lead
}

const (
	defaultDuplicates = 30 * day
	maxDuplicates     = 3650 * day
)

func (d *Duplicates) fill() {
	if len(d.Fields) == 0 {
		d.Fields = []string{"phone", "email"}
	}
	orElse(&d.Match, "any")
	d.Window = d.Window.orElse(defaultDuplicates)
	orElse(&d.Scope, "campaign")
}

func (c *compiler) duplicates(at place, d *Duplicates) market.DuplicateRule {
	rule := market.DuplicateRule{
		All:      d.Match == "all",
		Window:   d.Window.span().Nanoseconds(),
		PerBuyer: d.Scope == "buyer",
	}
	seen := make(map[string]place, len(d.Fields))
	for i, field := range d.Fields {
		if !c.oneOf(at.key("fields").at(i), field, "phone", "email") || !c.once(at.key("fields").at(i), seen, field) {
			continue
		}
		rule.Phone = rule.Phone || field == "phone"
		rule.Email = rule.Email || field == "email"
	}
	c.oneOf(at.key("match"), d.Match, "any", "all")
	c.oneOf(at.key("scope"), d.Scope, "campaign", "buyer")
	c.spanIn(at.key("window"), d.Window, 0, maxDuplicates)
	return rule
}
