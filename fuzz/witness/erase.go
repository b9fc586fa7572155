//go:build unix

package witness

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
)

// ErasureRequest asks for the erasure of one lead, or of all leads with a phone number or an
// e-mail address.
type ErasureRequest struct {
	body  []byte
	leads []string // matching leads that were answered before the request
}

// DrawErasure returns an erasure request for a random lead, by id, phone or e-mail. It returns
// nil if no suitable lead was answered yet.
func (s *Harness) DrawErasure(random *rand.Rand) *ErasureRequest {
	var one *answeredRequest
	for range 20 { // not every request has a lead
		if one = s.Suppliers.answers.pickRandom(random); one != nil && one.parsed.Data.ID != "" && one.phone != "" {
			break
		}
		one = nil
	}
	if one == nil {
		return nil
	}
	w := &ErasureRequest{}
	way := random.IntN(3)
	w.body = Encode([]Object{{"lead": one.parsed.Data.ID}, {"phone": one.phone}, {"email": one.email}}[way])
	answers, _ := s.Suppliers.answers.answersAndViolations()
	for _, t := range answers {
		id := t.parsed.Data.ID
		same := [...]bool{id == one.parsed.Data.ID, t.phone == one.phone, t.email == one.email}
		if id != "" && same[way] {
			w.leads = append(w.leads, id)
		}
	}
	return w
}

// Erase sends the request as the operator. It returns false if the exchange did not answer. An
// acknowledged erasure must hold from then on. Another goroutine than the test's own may call
// Erase, but only one at a time.
func (s *Harness) Erase(w *ErasureRequest) bool {
	status, text, err := s.AdminRequest("POST", "/admin/v1/erase", string(w.body))
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
		s.t.Errorf("erasure %s: unexpected answer %d %s", w.body, status, text)
		return false
	}
	left := map[string]bool{}
	for _, one := range said.Left {
		left[one.Lead] = true
		if one.Reason != "under_way" {
			s.t.Errorf("lead %s was not erased: %s", one.Lead, one.Reason)
		}
	}
	for _, id := range w.leads {
		if !left[id] {
			s.recordAction(operatorAction{"erasure of lead", id})
		}
	}
	return true
}
