package sim

import "time"

// erasing is for how long an erasure waits for leads that are on their way. It is no
// round time, so that nothing else ends in the same instant.
const erasing = 35*time.Second - 17*time.Nanosecond

// erase has a person forgotten: of one lead, or of all leads with a number or an address.
// Of the rest of the contract it changes nothing: sums, caps, statuses, duplicates and
// repeated answers are as if it had not been. Only what is left to send cannot be sent
// any more; so a lead that is on its way is waited for, and left if that takes too long.
func (m *model) erase(l line) string {
	var found []*lead
	for _, of := range m.leads {
		switch {
		case l.has("lead") && of.label == l.said["lead"],
			l.has("phone") && of.phone == l.said["phone"] && !m.gone[of.label],
			l.has("email") && of.email == l.said["email"] && !m.gone[of.label]:
			found = append(found, of)
		}
	}
	if l.has("lead") && len(found) == 0 {
		return "not found"
	}
	open := m.forget(found)
	for end := m.now + int64(erasing); m.now < end && m.underWay(open); {
		next := end
		for _, d := range m.deliveries {
			if !d.attended && !d.cut {
				next = min(next, d.at)
			}
		}
		m.until(next)
	}
	return erased(len(found), len(m.forget(open)))
}

// forget erases those that are not on their way, by one fact where it is news of any.
func (m *model) forget(some []*lead) (open []*lead) {
	var fresh []string
	for _, l := range some {
		switch {
		case m.delivering(l) != nil:
			open = append(open, l)
		case !m.gone[l.label]:
			fresh = append(fresh, l.label)
		}
	}
	if len(fresh) > 0 {
		m.commit(func() {
			for _, label := range fresh {
				m.gone[label] = true
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

// sendAgain is an operator's word that a lead of unknown fate is to be sent again: by a
// new series of tries, to the buyer that may have it. Of who was erased nothing is left
// to send.
func (m *model) sendAgain(of *lead) string {
	if m.gone[of.label] {
		return "conflict"
	}
	m.commit(func() {
		of.delivery = "pending"
		m.deliveries = append(m.deliveries, &delivery{lead: of, buyer: of.buyer, doubtful: true, promised: of.auction != "", at: m.now})
	})
	return "done"
}
