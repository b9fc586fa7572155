//go:build unix

package witness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
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
