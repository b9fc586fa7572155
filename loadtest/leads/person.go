package leads

import "pingpost/server/seed"

var mailHosts = []string{"example.com", "example.com", "example.org", "example.net", "Mail.Example.com"}

// newPerson makes up somebody. A phone number comes again only when all of its
// state's have come: after a hundred leads and more of one state, and many
// thousand in total. An e-mail address never does.
func (s *Source) newPerson() seed.Person {
	at := s.pickPlace()
	turn := s.turns[at]
	s.turns[at]++
	s.people++
	return s.places[at].Somebody(s.rand, turn, s.people, seed.Pick(s.rand, mailHosts))
}

func (s *Source) pickPlace() int {
	left := s.rand.IntN(s.weights)
	for i := range s.places {
		if left -= s.places[i].Weight; left < 0 {
			return i
		}
	}
	panic("BUG: the weights of the places do not add up")
}

// States are those that leads come from.
func States() []string {
	var states []string
	for _, place := range seed.Places() {
		if place.Weight > 0 {
			states = append(states, place.State)
		}
	}
	return states
}

// written is a phone number as people write it.
func (s *Source) written(phone string) string {
	area, exchange, line := phone[2:5], phone[5:8], phone[8:]
	switch s.rand.IntN(5) {
	case 0:
		return "(" + area + ") " + exchange + "-" + line
	case 1:
		return area + "-" + exchange + "-" + line
	case 2:
		return area + exchange + line
	case 3:
		return "1 " + area + " " + exchange + " " + line
	}
	return phone
}
