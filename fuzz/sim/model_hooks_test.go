package sim

import "time"

// owedEvent is an event that a supplier is to hear of.
type owedEvent struct {
	lead, kind, supplier string
	nth                  int   // in the order of their causes
	attempts             int   // that failed
	from, to             int64 // when the next one is made
	dead                 bool
	died                 int64 // then
}

// lettersKept is how long dead letters are kept at least.
const lettersKept = int64(30 * 24 * time.Hour)

// owe makes an event due at once, where the supplier hears of any.
func (m *model) owe(l *lead, kind string) {
	name := l.label + " " + kind
	if s := m.terms.suppliers[l.supplier]; s.has("hooks") {
		m.owed++
		m.events[name] = &owedEvent{lead: l.label, kind: kind, supplier: l.supplier, nth: m.owed, from: m.now, to: m.now}
	}
}

// pauses between the attempts to tell of an event, each give or take a tenth.
var hookPauses = []time.Duration{time.Minute, 6 * time.Minute, 36 * time.Minute, 216 * time.Minute, 16 * time.Hour}

// told is one attempt to tell of an event, as it was seen. What it says is wrong
// with it; empty: nothing.
func (m *model) told(label, kind string, at int64, heard bool) string {
	e := m.events[label+" "+kind]
	switch {
	case e == nil:
		return "nobody is owed this, or no more"
	case e.dead && at-e.died >= lettersKept:
		return "" // resent, or gone: either may be
	case e.dead:
		return "it was given up"
	case at < e.from:
		return "it comes " + time.Duration(e.from-at).String() + " too early"
	case at > m.latest(e):
		return "it comes " + time.Duration(at-m.latest(e)).String() + " too late"
	}
	for _, before := range m.events {
		if before.lead == e.lead && !before.dead && before.attempts == 0 && before.nth < e.nth {
			return "it comes before " + before.kind
		}
	}
	defer func() { // whatever it held back may have waited until now
		for _, later := range m.events {
			if later.lead == e.lead && later.nth > e.nth {
				later.to = max(later.to, at)
			}
		}
	}()
	if heard {
		delete(m.events, label+" "+kind)
		return ""
	}
	if e.attempts++; e.attempts > len(hookPauses) {
		e.dead, e.died = true, at
		return ""
	}
	pause := int64(hookPauses[e.attempts-1])
	e.from, e.to = at+pause-pause/10, at+pause+pause/10
	return ""
}

// latest is when an event's next attempt must have been made: its own time, or
// that at which earlier ones of its lead no longer hold it back; and while nobody
// was there to make it, afterwards.
func (m *model) latest(e *owedEvent) int64 {
	latest := max(e.to, m.awake)
	for _, before := range m.events {
		if before.lead == e.lead && before.nth < e.nth && !before.dead && before.attempts <= 1 {
			latest = max(latest, m.latest(before))
		}
	}
	return latest
}

// overdue is an event that should have been told by now; nil: none.
func (m *model) overdue() *owedEvent {
	for _, e := range m.events {
		if !e.dead && e.to < m.now && m.latest(e) < m.now {
			return e
		}
	}
	return nil
}

// tellAgain makes a supplier's dead letters events again.
func (m *model) tellAgain(supplier string) string {
	for _, e := range m.events {
		if e.supplier == supplier && e.dead && m.now-e.died < lettersKept {
			m.commit(func() { e.dead, e.attempts, e.from, e.to = false, 0, m.now, m.now })
		}
	}
	return "done"
}
