//go:build unix

package witness

import (
	"math/rand/v2"
	"net/http"
	"time"
)

// Rule has the operator say a word on every lead of which nobody knows whether its
// buyer has it: what the buyer says, or that it is to be tried again.
func (s *Scene) Rule(chance *rand.Rand) {
	s.t.Helper()
	unknown, _ := s.deliveries()
	if len(unknown) == 0 {
		return
	}
	held := map[string]bool{}
	for _, leads := range s.buyers.leads() {
		for _, lead := range leads {
			held[lead.LeadUUID] = true
		}
	}
	for _, lead := range unknown {
		r := ruling{lead, "released"}
		switch {
		case chance.IntN(3) == 0:
			r.settlement = "resent"
		case held[lead]:
			r.settlement = "confirmed"
		}
		verb := map[string]string{"released": "release", "resent": "resend", "confirmed": "confirm"}[r.settlement]
		status, _, err := s.Operate("POST", "/admin/v1/deliveries/"+lead+"/"+verb, "")
		if err == nil && status < http.StatusMultipleChoices {
			s.ruled = append(s.ruled, r)
		}
	}
}

// Quiet is Idle, with an operator at hand: a seller that asks what became of a post
// whose end nobody knows is told to ask again until there is a word on it.
func (s *Scene) Quiet(chance *rand.Rand) {
	s.t.Helper()
	looked := time.Now()
	Await(s.t, "every lead is answered", func() bool {
		if end := s.Ended(); end != "" {
			s.t.Fatal(end)
		}
		if time.Since(looked) > time.Second {
			s.Rule(chance)
			looked = time.Now()
		}
		return s.Crowd.IsIdle()
	})
	s.Idle()
}

// Conclude waits until all deliveries have come to their end, and the operator has
// said a word on those whose end nobody knows.
func (s *Scene) Conclude(chance *rand.Rand) {
	s.t.Helper()
	for {
		s.Quiet(chance)
		s.Rest(chance)
		if unknown, _ := s.deliveries(); len(unknown) == 0 {
			return
		}
		s.Rule(chance)
	}
}
