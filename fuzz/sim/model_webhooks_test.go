package sim

import "time"

// pendingWebhook is a pending webhook event.
type pendingWebhook struct {
	lead, kind, supplier string
	nth                  int   // in the order of their causes
	attempts             int   // failed attempts
	from, to             int64 // earliest and latest time of the next attempt
	dead                 bool
	died                 int64 // as a dead letter
}

// deadLetterLifetime is the minimum time that dead letters are kept.
const deadLetterLifetime = int64(30 * 24 * time.Hour)

// addWebhook makes an event due now, if the supplier has a webhook.
func (m *model) addWebhook(l *lead, kind string) {
	name := l.label + " " + kind
	if s := m.terms.suppliers[l.supplier]; s.has("hooks") {
		m.webhookCount++
		m.events[name] = &pendingWebhook{lead: l.label, kind: kind, supplier: l.supplier, nth: m.webhookCount, from: m.now, to: m.now}
	}
}

// Pauses between attempts, plus or minus a tenth.
var webhookPauses = []time.Duration{time.Minute, 6 * time.Minute, 36 * time.Minute, 216 * time.Minute, 16 * time.Hour}

// checkWebhookAttempt checks one attempt that was seen. It returns the fault, or "".
func (m *model) checkWebhookAttempt(label, kind string, at int64, heard bool) string {
	e := m.events[label+" "+kind]
	switch {
	case e == nil:
		return "this event is not pending"
	case e.dead && at-e.died >= deadLetterLifetime:
		return "" // resent or expired: both are allowed
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
	defer func() { // events that it delayed may have waited until now
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
	if e.attempts++; e.attempts > len(webhookPauses) {
		e.dead, e.died = true, at
		return ""
	}
	pause := int64(webhookPauses[e.attempts-1])
	e.from, e.to = at+pause-pause/10, at+pause+pause/10
	return ""
}

// latest returns the latest time of an event's next attempt: its own schedule, or the end of
// earlier events of its lead; later if no process was running.
func (m *model) latest(e *pendingWebhook) int64 {
	latest := max(e.to, m.webhooksSince)
	for _, before := range m.events {
		if before.lead == e.lead && before.nth < e.nth && !before.dead && before.attempts <= 1 {
			latest = max(latest, m.latest(before))
		}
	}
	return latest
}

// overdue returns an event whose attempt is overdue, or nil.
func (m *model) overdue() *pendingWebhook {
	for _, e := range m.events {
		if !e.dead && e.to < m.now && m.latest(e) < m.now {
			return e
		}
	}
	return nil
}

// resendDeadLetters resends a supplier's dead letters.
func (m *model) resendDeadLetters(supplier string) string {
	for _, e := range m.events {
		if e.supplier == supplier && e.dead && m.now-e.died < deadLetterLifetime {
			m.commit(func() { e.dead, e.attempts, e.from, e.to = false, 0, m.now, m.now })
		}
	}
	return "done"
}
