//go:build unix

package witness

import (
	"math/rand/v2"
	"net/http"
)

// Decide has the operator say a word on about half of the returns that wait.
func (s *Scene) Decide(chance *rand.Rand) {
	s.t.Helper()
	var all struct {
		Returns []struct {
			Lead string `json:"lead_id"`
		} `json:"returns"`
	}
	s.Ask("/admin/v1/returns", &all)
	for _, r := range all.Returns {
		if chance.IntN(2) == 0 {
			continue
		}
		word, body := ruling{r.Lead, "return refused"}, object{"approve": false}
		if chance.IntN(3) > 0 {
			word, body = ruling{r.Lead, "return approved"}, object{"approve": true}
		}
		status, _, err := s.Operate("POST", "/admin/v1/returns/"+r.Lead, string(encode(body)))
		if err == nil && status < http.StatusMultipleChoices {
			s.ruled = append(s.ruled, word)
		}
	}
}
