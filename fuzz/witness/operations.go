//go:build unix

package witness

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
)

const webhookPath = "/admin/v1/webhooks/" + SupplierID

// ControlWebhook posts the action (off, on or resend) for the supplier's webhook. It returns
// false if the exchange did not acknowledge it.
func (s *Harness) ControlWebhook(word string) bool {
	return s.adminCall("POST", webhookPath+"/"+word, "")
}

// ApplyConfig activates the next revision of the configuration through the admin API.
func (s *Harness) ApplyConfig() bool {
	return s.adminCall("PUT", "/admin/v1/config", string(s.WriteNextConfig()))
}

func (s *Harness) adminCall(method, path, body string) bool {
	status, text, err := s.AdminRequest(method, path, body)
	if err == nil && status >= http.StatusBadRequest && status < http.StatusInternalServerError {
		s.t.Errorf("%s %s: %d %s", method, path, status, text)
	}
	return err == nil && status < http.StatusBadRequest
}

// SendLeadOnce sends one lead once and returns the answer's status, or 0 without an answer. It
// records a final answer. It drops the lead after a 429 or 5xx answer. Without an answer a
// supplier repeats the request.
func (c *SupplierPool) SendLeadOnce(random *rand.Rand) (status int) {
	c.mu.Lock()
	c.onceCount++
	key := fmt.Sprintf("try-%d", c.onceCount)
	c.mu.Unlock()
	address := c.locator.await(context.Background())
	o := c.newIngest(key, random, anyCampaign)
	client := c.newClient(random)
	a, err := client.sendAttempt(context.Background(), address, client.httpRequest(o))
	switch {
	case err != nil:
		c.schedule(func(ctx context.Context, client *sellerClient) bool {
			return c.sendAndRecord(ctx, client, &c.answers, o)
		})
		return 0
	case a.Status < http.StatusInternalServerError && a.Status != http.StatusTooManyRequests:
		c.answers.add(o, a)
	}
	return a.Status
}

// buyerPause is a range of the log in which a buyer was paused and no earlier decision was in
// flight.
type buyerPause struct {
	buyer             string
	afterSeq, lastSeq uint64 // log positions
}

// buyerSale is a sale with its log position.
type buyerSale struct {
	seq   uint64
	buyer string
}

// checkPausedBuyers checks that no lead was sold to a buyer while it was paused.
func (p *Evidence) checkPausedBuyers() (found findings) {
	for _, shut := range p.pauses {
		if i := slices.IndexFunc(p.model.sales, func(s buyerSale) bool {
			return s.buyer == shut.buyer && s.seq > shut.afterSeq && s.seq <= shut.lastSeq
		}); i >= 0 {
			found.add("buyer %s was paused (acknowledged), but entry %d sells it a lead", shut.buyer, p.model.sales[i].seq)
		}
	}
	return found
}

// PausableBuyer is in most campaigns and has no limit, so it would get leads if not paused.
const PausableBuyer = "rec_rest"

// PauseBuyerDuring pauses the buyer, restarts the exchange, sends leads, and resumes the buyer.
// It returns false if the pause or the resumption was not acknowledged.
func (s *Harness) PauseBuyerDuring(restart, meanwhile func()) bool {
	if !s.adminCall("POST", "/admin/v1/buyers/"+PausableBuyer+"/pause", "") {
		return false
	}
	restart()
	shut := buyerPause{buyer: PausableBuyer, afterSeq: s.ReadStateHash().Seq}
	meanwhile()
	shut.lastSeq = s.ReadStateHash().Seq
	s.pauses = append(s.pauses, shut)
	return s.adminCall("POST", "/admin/v1/buyers/"+PausableBuyer+"/resume", "")
}

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
