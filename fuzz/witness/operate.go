//go:build unix

package witness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
)

const webhook = "/admin/v1/webhooks/" + supplier

// Switch does to the supplier's webhook what the word says: off, on, resend. It is
// false where the exchange did not answer, or not so.
func (s *Scene) Switch(word string) bool { return s.done("POST", webhook+"/"+word, "") }

// Apply has a later revision of the configuration in force, by the admin address.
func (s *Scene) Apply() bool { return s.done("PUT", "/admin/v1/config", string(s.Revise())) }

func (s *Scene) done(method, path, body string) bool {
	status, text, err := s.Operate(method, path, body)
	if err == nil && status >= http.StatusBadRequest && status < http.StatusInternalServerError {
		s.t.Errorf("%s %s: %d %s", method, path, status, text)
	}
	return err == nil && status < http.StatusBadRequest
}

// Try sends one lead, once, and tells the answer's status; 0: there was none. One
// that was taken is entered like any other; one that was not is sent no more; one without an
// answer is sent again by a desk.
func (c *Crowd) Try(chance *rand.Rand) (status int) {
	c.mu.Lock()
	c.tries++
	key := fmt.Sprintf("try-%d", c.tries)
	c.mu.Unlock()
	address := c.door.find(context.Background())
	o := c.order(key, chance, anywhere)
	call := c.caller(chance)
	a, err := call.try(context.Background(), address, call.parcel(o))
	switch {
	case err != nil:
		c.let(func(ctx context.Context, call *caller) bool { return c.bring(ctx, call, &c.ledger, o) })
		return 0
	case a.Status < http.StatusInternalServerError && a.Status != http.StatusTooManyRequests:
		c.ledger.enter(o, a)
	}
	return a.Status
}

// pause is a stretch of the log in which a buyer was paused, with nothing under way that
// was decided before.
type pause struct {
	buyer       string
	after, upTo uint64 // entries
}

// saleAt is when the log sold a lead to whom.
type saleAt struct {
	seq   uint64
	buyer string
}

// kept: nobody was sold a lead while it was paused.
func (p *Picture) kept() (found findings) {
	for _, shut := range p.pauses {
		if i := slices.IndexFunc(p.book.sales, func(s saleAt) bool {
			return s.buyer == shut.buyer && s.seq > shut.after && s.seq <= shut.upTo
		}); i >= 0 {
			found.add("%s was paused, acknowledged, and entry %d sells it a lead", shut.buyer, p.book.sales[i].seq)
		}
	}
	return found
}

// Pausable is a buyer in most campaigns, with room to the last: it is missed.
const Pausable = "rec_rest"

// PauseOver has a buyer paused, the exchange end and begin again in some way, and leads
// come meanwhile; and then the buyer is back. It is false where the pause was not
// acknowledged.
func (s *Scene) PauseOver(restart, meanwhile func()) bool {
	if !s.done("POST", "/admin/v1/buyers/"+Pausable+"/pause", "") {
		return false
	}
	restart()
	shut := pause{buyer: Pausable, after: s.Hash().Seq}
	meanwhile()
	shut.upTo = s.Hash().Seq
	s.pauses = append(s.pauses, shut)
	return s.done("POST", "/admin/v1/buyers/"+Pausable+"/resume", "")
}
