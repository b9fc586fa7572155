//go:build unix

package witness

import (
	"context"
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
