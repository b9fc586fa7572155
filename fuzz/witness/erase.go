//go:build unix

package witness

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
)

// A Wish is a person's, to be forgotten: of a lead, or of all leads with a number or an
// address.
type Wish struct {
	body  []byte
	leads []string // those that were acknowledged before it came
}

// Someone is whose lead was answered, by one of the three ways to say who it is. It is
// nil where nobody's was.
func (s *Scene) Someone(chance *rand.Rand) *Wish {
	one := s.Crowd.ledger.pick(chance)
	if one == nil || one.said.Data.ID == "" || one.phone == "" {
		return nil
	}
	w := &Wish{}
	way := chance.IntN(3)
	w.body = encode([]object{{"lead": one.said.Data.ID}, {"phone": one.phone}, {"email": one.email}}[way])
	answers, _ := s.Crowd.ledger.page()
	for _, t := range answers {
		id := t.said.Data.ID
		same := [...]bool{id == one.said.Data.ID, t.phone == one.phone, t.email == one.email}
		if id != "" && same[way] {
			w.leads = append(w.leads, id)
		}
	}
	return w
}

// Erase has the operator erase a person. It is false where the exchange did not answer;
// what it answered has to hold from then on. It may be called beside the run's own
// goroutine, once at a time.
func (s *Scene) Erase(w *Wish) bool {
	status, text, err := s.Operate("POST", "/admin/v1/erase", string(w.body))
	if err != nil || status >= http.StatusInternalServerError {
		return false
	}
	var said struct {
		Erased int `json:"erased"`
		Left   []struct {
			Lead   string `json:"lead_id"`
			Reason string `json:"reason"`
		} `json:"left_leads"`
	}
	if err := json.Unmarshal(text, &said); err != nil || status != http.StatusOK {
		s.t.Errorf("to erase %s was answered %d %s", w.body, status, text)
		return false
	}
	left := map[string]bool{}
	for _, one := range said.Left {
		left[one.Lead] = true
		if one.Reason != "under_way" {
			s.t.Errorf("lead %s could not be erased: %s", one.Lead, one.Reason)
		}
	}
	for _, id := range w.leads {
		if !left[id] {
			s.forgotten = append(s.forgotten, id)
		}
	}
	return true
}
