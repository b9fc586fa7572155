package sim

import "time"

// erasing is the time that an erasure waits for open deliveries. It is not a round number, so
// that no other deadline is at the same instant.
const erasing = 35*time.Second - 17*time.Nanosecond

// erase erases a person, by one lead or by phone or e-mail. It does not affect sums, caps,
// statuses, duplicates and repeated answers. Only data that is still to be sent is lost, so the
// erasure waits for open deliveries, and leaves such leads out after a timeout.
func (m *model) erase(l line) string {
	var found []*lead
	for _, of := range m.leads {
		switch {
		case l.has("lead") && of.label == l.said["lead"],
			l.has("phone") && of.phone == l.said["phone"] && !m.erased[of.label],
			l.has("email") && of.email == l.said["email"] && !m.erased[of.label]:
			found = append(found, of)
		}
	}
	if l.has("lead") && len(found) == 0 {
		return "not found"
	}
	open := m.eraseClosed(found)
	for end := m.now + int64(erasing); m.now < end && m.underWay(open); {
		next := end
		for _, d := range m.deliveries {
			if !d.attended && !d.cut {
				next = min(next, d.at)
			}
		}
		m.until(next)
	}
	return erased(len(found), len(m.eraseClosed(open)))
}

// eraseClosed erases the leads without an open delivery, in one event if any of them is new.
func (m *model) eraseClosed(some []*lead) (open []*lead) {
	var fresh []string
	for _, l := range some {
		switch {
		case m.delivering(l) != nil:
			open = append(open, l)
		case !m.erased[l.label]:
			fresh = append(fresh, l.label)
		}
	}
	if len(fresh) > 0 {
		m.commit(func() {
			for _, label := range fresh {
				m.erased[label] = true
			}
		})
	}
	return open
}

func (m *model) underWay(some []*lead) bool {
	for _, l := range some {
		if m.delivering(l) != nil {
			return true
		}
	}
	return false
}

// resend resends an unconfirmed delivery as the operator: a new series of attempts to the
// buyer that may have the lead. An erased lead cannot be sent again.
func (m *model) resend(of *lead) string {
	if m.erased[of.label] {
		return "conflict"
	}
	m.commit(func() {
		of.delivery = "pending"
		m.deliveries = append(m.deliveries, &delivery{lead: of, buyer: of.buyer, doubtful: true, promised: of.auction != "", at: m.now})
	})
	return "done"
}
