package witness

import (
	"slices"
)

// eventsOf are what a lead's supplier is to hear of it where it stands; none:
// nothing yet.
func (e *entry) eventsOf() []string {
	sale := e.eventOf()
	if sale == "" {
		return nil
	}
	events := []string{sale}
	for _, status := range e.became {
		events = append(events, "lead."+status)
	}
	return events
}

// eventOf is the one of its sale.
func (e *entry) eventOf() string {
	switch {
	case e.standing == recorded, e.standing == delivered:
		return "lead.posted"
	case e.standing == unsold && e.promised:
		return "lead.post_failed"
	case e.standing == unsold:
		return "lead.unmatched"
	}
	return ""
}

// notified: the supplier has heard of no lead but those in the log, of each what
// became of it, under one id and in the same words; and, when all is delivered, of
// every one.
func (p *Picture) notified() (found findings) {
	if s := p.hooks; s.BadSignatures != 0 || s.Changed != 0 || s.Invalid != 0 {
		found.add("of the webhooks %d were not signed, %d were no events, %d said another thing under the same id", s.BadSignatures, s.Invalid, s.Changed)
	}
	heard := map[string]string{}
	for i := range p.events {
		event := &p.events[i]
		e := p.book.leads[event.Lead]
		switch {
		case e == nil:
			found.add("the supplier was told %s of lead %s, which is lost", event.Type, event.Lead)
			continue
		case !slices.Contains(e.eventsOf(), event.Type):
			found.add("the supplier was told %s of lead %s, which is %s", event.Type, event.Lead, e.standing)
		case e.test != event.Test:
			found.add("the supplier was told %s of lead %s as of a test: %t, and it is one: %t", event.Type, event.Lead, event.Test, e.test)
		}
		name := event.Type + " of lead " + event.Lead
		if other, twice := heard[name]; twice {
			found.add("the supplier was told %s as %s and as %s", name, other, event.ID)
		}
		heard[name] = event.ID
	}
	if !p.Drained {
		return found
	}
	for _, e := range p.book.leads {
		for _, want := range e.eventsOf() {
			if name := want + " of lead " + e.id; heard[name] == "" {
				found.add("the supplier was never told %s", name)
			}
		}
	}
	return found
}
