package sim

import (
	"maps"
	"strings"
	"time"
)

// gaps are the pauses between tries of which the last may have reached the buyer.
var gaps = []time.Duration{1 * time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second}

// delivery is a lead on its way to a buyer's endpoint.
type delivery struct {
	lead     *lead
	buyer    string
	attempts int  // steps of the schedule that facts have used
	step     int  // after the last attempt, which no fact has yet
	doubtful bool // one of them may have reached the buyer
	spent    bool // it may have arrived, and the buyer would take a repeat for a second lead
	promised bool // there is no other buyer for it
	attended bool // a request waits for it and does its steps itself
	cut      bool // the process died meanwhile
	trying   bool // an attempt is under way, until at
	at       int64
	tried    int64 // when the last one ended that failed
	reply    reply
	last     reply // how the attempt before ended
}

// sell gives the lead to who was picked.
func (in *intake) sell() string {
	buyer := in.buyerOf(in.picked)
	if !in.terms.buyers[buyer].has("posts") {
		in.commit(func() {
			in.assign()
			in.record()
			in.has(in.lead, "none")
		})
		return in.lead.told
	}
	d := &delivery{lead: in.lead, buyer: buyer, attended: true, promised: in.chosen}
	in.commit(func() {
		in.assign()
		in.record()
		in.deliveries = append(in.deliveries, d)
		in.posted = append(in.posted, in.lead)
	})
	for {
		switch in.bring(d) {
		case "delivered":
			in.commit(func() {
				in.drop(d)
				in.has(in.lead, "delivered")
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
		if told := in.elsewhere(d); told != "" {
			return told
		}
	}
}

// assign takes what the sale takes.
func (in *intake) assign() {
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
		in.turn.take(l.buyer)
	}
	if in.blurred {
		maps.DeleteFunc(in.turns, func(set string, _ *cycle) bool { return strings.HasPrefix(set, in.campaign+" ") })
	}
	if in.auctionOf != nil {
		l.auction = in.auctionOf.name
		in.auctionOf.soldTo = l.label
	}
}

// release gives back all that the sale took.
func (m *model) release(l *lead) {
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

// accept tells the supplier that its lead is sold; what is known of its delivery
// may come later.
func (m *model) accept(l *lead, delivery string) {
	l.status, l.delivery = "ACCEPTED", delivery
	if l.told == "" {
		l.told = "sold to " + l.buyer + " for " + amount(l.payout)
	}
	for name, until := range l.duplicates {
		if m.remembered[name].until <= until { // else a newer one's stays
			m.remembered[name] = memory{l.label, until}
		}
	}
}

// has is a lead that its buyer has.
func (m *model) has(l *lead, delivery string) {
	m.accept(l, delivery)
	if _, account := m.funds[l.buyer]; account {
		m.ledger[l.buyer+" sale"] -= l.price
	}
	m.ledger[l.supplier+" sale"] += l.payout
	m.owe(l, "lead.posted")
}

func (m *model) drop(d *delivery) {
	for i := range m.deliveries {
		if m.deliveries[i] == d {
			m.deliveries = append(m.deliveries[:i:i], m.deliveries[i+1:]...)
			return
		}
	}
}

// bring tries to deliver until the fate is known or the answer is due.
func (in *intake) bring(d *delivery) string {
	due := in.received + ceiling
	for {
		in.begin(d)
		if d.at > due {
			in.until(due)
			return "open"
		}
		in.until(d.at)
		fate, pause := in.judge(d)
		if fate != "open" {
			return fate
		}
		if in.now+int64(pause) >= due {
			if d.doubtful || in.seller && d.last.what == "unreached" {
				in.note(d)
				d.at = in.now + int64(pause)
				return "open"
			}
			return "refused"
		}
		in.note(d)
		in.until(in.now + int64(pause))
	}
}

// begin starts an attempt.
func (m *model) begin(d *delivery) {
	d.trying, d.reply = true, m.conduct.post(d.buyer)
	if d.reply.what == "forget" {
		d.reply.what = forgetful(d.lead.swallowed == d.buyer)
		d.lead.swallowed = d.buyer
	}
	d.at = m.now + int64(min(d.reply.after, postTimeout))
}

// judge is what an attempt that ended comes to; open: it is made again after a
// pause. After one that may have reached the buyer only success or the end of the
// schedule counts, and a final refusal by a buyer that is certain of its answers.
func (m *model) judge(d *delivery) (fate string, pause time.Duration) {
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

// note makes an attempt a fact after which another one follows.
func (m *model) note(d *delivery) {
	m.commit(func() {
		if d.step > d.attempts {
			d.attempts, d.tried = d.step, m.now
		}
	})
}

// elsewhere is what becomes of a lead that its buyer refused: the next buyer's,
// or nobody's, which is the answer.
func (in *intake) elsewhere(d *delivery) (told string) {
	in.picked.out = "post_rejected"
	found := false
	if in.now < in.received+ceiling && !d.doubtful && !d.promised {
		for _, c := range in.candidates {
			if c.out == "" {
				c.out = in.screen(c.seat, in.floorPrice(c.seat), true)
			}
		}
		in.seen.takers = in.seen.takers[min(1, len(in.seen.takers)):]
		before := in.turn
		in.turn = nil
		found = in.pick(in.lead.charges)
		if in.turn == nil {
			in.turn = before
		}
	}
	if !found {
		in.commit(func() {
			in.drop(d)
			in.release(in.lead)
			in.lead.status, in.lead.delivery, in.lead.buyer = "UNMATCHED", "failed", ""
			in.lead.reason = in.furthest(d)
			in.lead.told = "unmatched " + in.lead.reason
			in.owe(in.lead, "lead.unmatched")
		})
		return in.lead.told
	}
	buyer := in.buyerOf(in.picked)
	posts := in.terms.buyers[buyer].has("posts")
	in.commit(func() {
		in.release(in.lead)
		in.assign()
		if !posts {
			in.drop(d)
			in.has(in.lead, "none")
			return
		}
		*d = delivery{lead: in.lead, buyer: buyer, attended: true}
	})
	if !posts {
		return in.lead.told
	}
	return ""
}

// furthest is why a lead that was posted is nobody's.
func (in *intake) furthest(d *delivery) string {
	if d.doubtful || d.promised || in.now >= in.received+ceiling {
		return "post_rejected"
	}
	return further(in.reason(), "post_rejected")
}

// goOn is the next step of a delivery that nobody waits for.
func (m *model) goOn(d *delivery) {
	if !d.trying && d.spent {
		m.commit(func() { m.drop(d); m.accept(d.lead, "unknown") })
		return
	}
	if !d.trying {
		m.begin(d)
		return
	}
	fate, pause := m.judge(d)
	if fate == "open" && d.reply.what == "busy" && !d.doubtful {
		fate = "refused"
	}
	switch fate {
	case "delivered":
		m.commit(func() { m.drop(d); m.has(d.lead, "delivered") })
	case "unknown":
		m.commit(func() { m.drop(d); m.accept(d.lead, "unknown") })
	case "refused":
		m.commit(func() { m.drop(d); m.takeBack(d.lead, "failed") })
	default:
		m.note(d)
		d.at = m.now + int64(pause)
	}
}

// takeBack ends a sale that was told: the buyer turned out not to have the lead.
func (m *model) takeBack(l *lead, delivery string) {
	m.release(l)
	l.status, l.delivery, l.reason = "UNMATCHED", delivery, "post_rejected"
	m.owe(l, "lead.post_failed")
}
