package sim

import "time"

// report is a buyer's report to POST /v1/leads/{id}/status.
func (m *model) report(l line, of *lead) string {
	buyer, status := l.at(0), l.at(2)
	key := keyName("status", buyer, l.said["key"])
	if used, ok := m.keys[key]; ok && !past(used.until, m.now) {
		if used.body != bodyOf(l) {
			return "idempotency_key_reused"
		}
		return used.answer + " again"
	}
	if of == nil || of.buyer != buyer {
		return "not_found"
	}
	if status == "returned" && !l.has("reason") {
		return "invalid_payload reason:missing_required"
	}
	answer, change := m.judgeReport(of, status)
	if answer == "" {
		return "invalid_transition"
	}
	received := m.now
	if change && of.delivery == "unknown" {
		m.commit(func() { m.markDelivered(of, "confirmed") })
	}
	m.commit(func() {
		if change {
			answer = m.change(of, status)
		}
		m.keys[key] = usedKey{body: bodyOf(l), answer: answer, until: received + remembering}
	})
	return answer
}

// judgeReport returns the answer to a status; "" means that the status is impossible.
func (m *model) judgeReport(of *lead, status string) (answer string, change bool) {
	order := map[string]int{"ACCEPTED": 1, "contacted": 2, "qualified": 3, "sold": 4, "returned": 5}
	c := m.terms.campaigns[of.campaign]
	switch {
	case of.status == "UNMATCHED" || of.status == "open" || of.delivery == "pending":
		return "", false
	case of.status == status:
		return status, false
	case of.backed == "waits" && status == "returned":
		return of.status + " waiting", false
	case of.backed == "waits":
		return "", false
	case order[status] < order[of.status]:
		return "", false
	case status != "returned":
		return status, true
	case of.backed == "refused":
		return "", false
	case m.now-of.decided >= int64(c.duration("returns", 14*24*time.Hour)):
		return "", false
	}
	sold, returned := m.month(of)
	share := int64(1_000_000)
	if c.has("returnshare") {
		share = c.money("returnshare")
	}
	if (returned+1)*1_000_000 > sold*share {
		return "", false
	}
	return status, true
}

// month counts the leads sold to the buyer in the lead's campaign in the month of its sale, and
// the returned or pending ones of them.
func (m *model) month(of *lead) (sold, returned int64) {
	monthOf := func(l *lead) string { return windowOf("month", "UTC", l.decided) }
	for _, l := range m.leads {
		if l.campaign != of.campaign || l.buyer != of.buyer || monthOf(l) != monthOf(of) {
			continue
		}
		got := l.delivery == "none" || l.delivery == "delivered" || l.delivery == "confirmed"
		if l.status != "UNMATCHED" && (got || l == of) {
			sold++
		}
		if l.backed == "waits" || l.backed == "approved" {
			returned++
		}
	}
	return sold, returned
}

// change sets a lead's status, or makes its return pending.
func (m *model) change(of *lead, status string) (answer string) {
	c := m.terms.campaigns[of.campaign]
	if status == "returned" {
		of.credit, of.reverse, of.capback = of.price, 0, c.has("capback")
		if c.has("reverse") {
			of.reverse = of.payout
		}
		if c.has("manual") {
			of.backed = "waits"
			return of.status + " waiting"
		}
		m.applyReturn(of)
		return status
	}
	of.status = status
	m.addWebhook(of, "lead."+status)
	return status
}

// applyReturn applies an accepted return: it refunds money, and caps in the charged windows.
func (m *model) applyReturn(of *lead) {
	of.status, of.backed = "returned", "approved"
	if _, account := m.funds[of.buyer]; account {
		m.funds[of.buyer] += of.credit
		m.ledger[of.buyer+" return"] += of.credit
	}
	m.ledger[of.supplier+" reversal"] -= of.reverse
	if of.capback {
		for _, c := range of.charges {
			m.used[c.window] -= c.amount
		}
	}
	m.addWebhook(of, "lead.returned")
}

// decide is an operator's decision on a pending return.
func (m *model) decide(of *lead, word string) string {
	switch {
	case of == nil:
		return "not found"
	case of.backed != "waits":
		return "conflict"
	}
	m.commit(func() {
		if word == "approve" {
			m.applyReturn(of)
		} else {
			of.backed = "refused"
		}
	})
	return "done"
}

// resolve is an operator's decision on an unconfirmed delivery.
func (m *model) resolve(of *lead, word string) string {
	switch {
	case of == nil || of.delivery != "unknown" && m.delivering(of) == nil:
		return "not found"
	case of.delivery != "unknown":
		return "conflict"
	}
	if word == "resend" {
		return m.resend(of)
	}
	m.commit(func() {
		if word == "confirm" {
			m.markDelivered(of, "confirmed")
		} else {
			m.undoAccepted(of, "released")
		}
	})
	return "done"
}

// pause pauses or resumes a campaign or a buyer.
func (m *model) pause(name string, shut bool) string {
	if m.paused[name] != shut {
		m.commit(func() { m.paused[name] = shut })
	}
	return "done"
}

// topUp adds to a buyer's money.
func (m *model) topUp(buyer string, by int64) string {
	m.commit(func() {
		if _, account := m.funds[buyer]; account {
			m.funds[buyer] += by
			m.ledger[buyer+" top-up"] += by
		}
	})
	return "done"
}
