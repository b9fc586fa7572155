package sim

import (
	"maps"
	"strings"
	"time"
)

// gaps are the pauses between attempts if the last one may have reached the buyer.
var gaps = []time.Duration{1 * time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second}

// delivery is an open delivery.
type delivery struct {
	lead     *lead
	buyer    string
	attempts int  // steps of the schedule that events used
	step     int  // step after the last attempt, without an event yet
	doubtful bool // an attempt may have reached the buyer
	spent    bool // it may have arrived, and the buyer would count a repeat as a second lead
	promised bool // no other buyer may get it
	attended bool // a request waits for it and runs its steps
	cut      bool // the process died during the attempt
	trying   bool // an attempt is in progress until at
	at       int64
	tried    int64 // end of the last failed attempt
	reply    reply
	last     reply // result of the previous attempt
}

// sellToPicked sells the lead to the picked buyer.
func (in *intake) sellToPicked() string {
	buyer := in.buyerOf(in.picked)
	if !in.terms.buyers[buyer].has("posts") {
		in.commit(func() {
			in.bookSale()
			in.record()
			in.markDelivered(in.lead, "none")
		})
		return in.lead.told
	}
	d := &delivery{lead: in.lead, buyer: buyer, attended: true, promised: in.chosen}
	in.commit(func() {
		in.bookSale()
		in.record()
		in.deliveries = append(in.deliveries, d)
		in.posted = append(in.posted, in.lead)
	})
	for {
		switch in.deliver(d) {
		case "delivered":
			in.commit(func() {
				in.drop(d)
				in.markDelivered(in.lead, "delivered")
			})
			return in.lead.told
		case "unknown":
			in.commit(func() {
				in.drop(d)
				in.accept(in.lead, "unknown")
			})
			return in.lead.told
		case "open":
			in.commit(func() { in.accept(in.lead, "pending") })
			d.attended = false
			return in.lead.told
		}
		if told := in.sellElsewhere(d); told != "" {
			return told
		}
	}
}

// bookSale books the charges of the sale.
func (in *intake) bookSale() {
	l := in.lead
	l.buyer, l.price, l.payout, l.decided, l.charges = in.buyerOf(in.picked), in.price, in.payout, in.now, in.taken
	l.duplicates = in.duplicates
	l.certain, l.once = in.terms.buyers[l.buyer].has("certain"), in.terms.buyers[l.buyer].has("once")
	for _, c := range in.taken {
		in.used[c.window] += c.amount
	}
	if _, account := in.funds[l.buyer]; account {
		in.funds[l.buyer] -= l.price
	}
	if in.turn != nil {
		in.turn.recordTurn(l.buyer)
	}
	if in.turnsUnknown {
		maps.DeleteFunc(in.turns, func(set string, _ *turnCycle) bool { return strings.HasPrefix(set, in.campaign+" ") })
	}
	if in.auctionOf != nil {
		l.auction = in.auctionOf.name
		in.auctionOf.soldTo = l.label
	}
}

// undoSale undoes the charges of the sale.
func (m *model) undoSale(l *lead) {
	for _, c := range l.charges {
		m.used[c.window] -= c.amount
	}
	if _, account := m.funds[l.buyer]; account {
		m.funds[l.buyer] += l.price
	}
	for name := range l.duplicates {
		if m.remembered[name].lead == l.label {
			delete(m.remembered, name)
		}
	}
	if a := m.auctions[l.auction]; a != nil && a.soldTo == l.label {
		a.soldTo = ""
	}
}

// accept answers ACCEPTED to the supplier; the delivery may be settled later.
func (m *model) accept(l *lead, delivery string) {
	l.status, l.delivery = "ACCEPTED", delivery
	if l.told == "" {
		l.told = "sold to " + l.buyer + " for " + amount(l.payout)
	}
	for name, until := range l.duplicates {
		if m.remembered[name].until <= until { // otherwise a newer lead's entry stays
			m.remembered[name] = memory{l.label, until}
		}
	}
}

// markDelivered marks the lead as delivered to its buyer.
func (m *model) markDelivered(l *lead, delivery string) {
	m.accept(l, delivery)
	if _, account := m.funds[l.buyer]; account {
		m.ledger[l.buyer+" sale"] -= l.price
	}
	m.ledger[l.supplier+" sale"] += l.payout
	m.addWebhook(l, "lead.posted")
}

func (m *model) drop(d *delivery) {
	for i := range m.deliveries {
		if m.deliveries[i] == d {
			m.deliveries = append(m.deliveries[:i:i], m.deliveries[i+1:]...)
			return
		}
	}
}

// deliver attempts the delivery until it is settled or the answer is due.
func (in *intake) deliver(d *delivery) string {
	due := in.received + ceiling
	for {
		in.startAttempt(d)
		if d.at > due {
			in.until(due)
			return "open"
		}
		in.until(d.at)
		fate, pause := in.attemptResult(d)
		if fate != "open" {
			return fate
		}
		if in.now+int64(pause) >= due {
			if d.doubtful || in.seller && d.last.what == "unreached" {
				in.recordAttempt(d)
				d.at = in.now + int64(pause)
				return "open"
			}
			return "refused"
		}
		in.recordAttempt(d)
		in.until(in.now + int64(pause))
	}
}

// startAttempt starts an attempt.
func (m *model) startAttempt(d *delivery) {
	d.trying, d.reply = true, m.conduct.post(d.buyer)
	if d.reply.what == "forget" {
		d.reply.what = forgetful(d.lead.swallowed == d.buyer)
		d.lead.swallowed = d.buyer
	}
	d.at = m.now + int64(min(d.reply.after, postTimeout))
}

// attemptResult returns the result of an ended attempt; open means another attempt after a pause. After
// an attempt that may have reached the buyer, only three results settle the delivery: success,
// the end of the schedule, and a final refusal of an idempotent buyer.
func (m *model) attemptResult(d *delivery) (fate string, pause time.Duration) {
	d.trying, d.last = false, d.reply
	final := d.reply.what == "refuse"
	switch d.reply.what {
	case "accept":
		return "delivered", 0
	case "refuse", "forbid":
		if !d.doubtful || final && d.lead.certain {
			return "refused", 0
		}
	case "unreached":
		if !d.doubtful && !d.promised {
			return "refused", 0
		}
	case "busy":
		if !d.doubtful {
			d.step = d.attempts
			return "open", d.reply.again
		}
		pause = d.reply.again
	}
	d.doubtful = d.doubtful || d.reply.what != "unreached"
	d.step = d.attempts + 1
	switch {
	case d.step <= len(gaps) && !(d.doubtful && d.lead.once):
		return "open", max(gaps[d.step-1], min(pause, 30*time.Second))
	case d.doubtful:
		return "unknown", 0
	}
	return "refused", 0
}

// recordAttemptAndDequeueFinished records an attempt that another one follows.
func (m *model) recordAttempt(d *delivery) {
	m.commit(func() {
		if d.step > d.attempts {
			d.attempts, d.tried = d.step, m.now
		}
	})
}

// sellElsewhere returns the outcome of a lead that its buyer refused: a sale to the next buyer, or
// unsold, which is the answer.
func (in *intake) sellElsewhere(d *delivery) (told string) {
	in.picked.out = "post_rejected"
	for _, c := range in.candidates {
		if c.out == "" && in.buyerOf(c) == in.buyerOf(in.picked) {
			c.out = otherSet
		}
	}
	found := false
	if in.now < in.received+ceiling && !d.doubtful && !d.promised {
		for _, c := range in.candidates {
			if c.out == "" {
				c.out = in.screen(c.seat, in.floorPrice(c.seat), true)
			}
		}
		in.seen.buyers = in.seen.buyers[min(1, len(in.seen.buyers)):]
		before := in.turn
		in.turn = nil
		found = in.pickBuyer(in.lead.charges)
		if in.turn == nil {
			in.turn = before
		}
	}
	if !found {
		in.commit(func() {
			in.drop(d)
			in.undoSale(in.lead)
			in.lead.status, in.lead.delivery, in.lead.buyer = "UNMATCHED", "failed", ""
			in.lead.reason = in.unsoldReason(d)
			in.lead.told = "unmatched " + in.lead.reason
			in.addWebhook(in.lead, "lead.unmatched")
		})
		return in.lead.told
	}
	buyer := in.buyerOf(in.picked)
	posts := in.terms.buyers[buyer].has("posts")
	in.commit(func() {
		in.undoSale(in.lead)
		in.bookSale()
		if !posts {
			in.drop(d)
			in.markDelivered(in.lead, "none")
			return
		}
		*d = delivery{lead: in.lead, buyer: buyer, attended: true}
	})
	if !posts {
		return in.lead.told
	}
	return ""
}

// unsoldReason returns the reason for a posted lead that remains unsold.
func (in *intake) unsoldReason(d *delivery) string {
	if d.doubtful || d.promised || in.now >= in.received+ceiling {
		return "post_rejected"
	}
	return further(in.reason(), "post_rejected")
}

// runDelivery runs the next step of a delivery without a waiting request.
func (m *model) runDelivery(d *delivery) {
	if !d.trying && d.spent {
		m.commit(func() { m.drop(d); m.accept(d.lead, "unknown") })
		return
	}
	if !d.trying {
		m.startAttempt(d)
		return
	}
	fate, pause := m.attemptResult(d)
	if fate == "open" && d.reply.what == "busy" && !d.doubtful {
		fate = "refused"
	}
	switch fate {
	case "delivered":
		m.commit(func() { m.drop(d); m.markDelivered(d.lead, "delivered") })
	case "unknown":
		m.commit(func() { m.drop(d); m.accept(d.lead, "unknown") })
	case "refused":
		m.commit(func() { m.drop(d); m.undoAccepted(d.lead, "failed") })
	default:
		m.recordAttempt(d)
		d.at = m.now + int64(pause)
	}
}

// undoAccepted undoes an accepted sale, because the buyer does not have the lead.
func (m *model) undoAccepted(l *lead, delivery string) {
	m.undoSale(l)
	l.status, l.delivery, l.reason = "UNMATCHED", delivery, "post_rejected"
	m.addWebhook(l, "lead.post_failed")
}
