//go:build unix

package history

import (
	"fmt"
	"slices"
	"time"

	"pingpost/fuzz/witness"
)

// Clients send requests for the same key or person while a slot lasts.
const (
	keySlot    = 120 * time.Millisecond
	personSlot = 100 * time.Millisecond
	keysInSlot = 2
)

// actions are the requests of clients, with their shares in percent.
var actions = []struct {
	share int
	do    func(*client)
}{
	{22, (*client).ingestUnderSharedKey},
	{18, (*client).ingestSharedPerson},
	{34, (*client).ingestIntoBudget},
	{10, (*client).returnAndLookUp},
	{6, (*client).pingAndPost},
	{10, (*client).postForSharedAuction},
}

// doNext sends the next request, and sometimes a second one that depends on its answer.
func (c *client) doNext() {
	share := c.random.IntN(100)
	for _, a := range actions {
		if share -= a.share; share < 0 {
			a.do(c)
			return
		}
	}
}

// newKey returns a key that no other request has.
func (c *client) newKey(prefix string) string {
	return fmt.Sprintf("%s-%s-%d", c.id, prefix, c.sequence.Add(1))
}

func (c *client) slot(length time.Duration) int64 { return c.now() / int64(length) }

func ingestBody(campaign, name, phone, email string) []byte {
	return witness.Encode(witness.Object{
		"campaign_id": campaign, "supplier_id": witness.SupplierID, "state": "CA",
		"first_name": name, "last_name": "Example", "phone": phone, "email": email,
	})
}

const pathIngest = "/api/v1/ingest"

// ingestUnderSharedKey sends a lead under a key that other clients use at the same time. Some requests have
// another body.
func (c *client) ingestUnderSharedKey() {
	slot := c.slot(keySlot)
	if c.random.IntN(4) == 0 {
		slot -= c.random.Int64N(5) // a repeat after a while
	}
	r := &request{kind: ingest, path: pathIngest, key: fmt.Sprintf("%s-key-%d-%d", c.id, slot, c.random.IntN(keysInSlot))}
	name := "Ann"
	if c.random.IntN(100) < 15 {
		name, r.variant = "Bob", 1
	}
	r.body = ingestBody("cmp_key", name, "+14155550132", "ann@example.com")
	c.send(r)
}

// ingestSharedPerson sends a lead of a person whose leads other clients send at the same time.
func (c *client) ingestSharedPerson() {
	r := &request{kind: ingest, path: pathIngest, key: c.newKey("person"), person: c.person(int(c.slot(personSlot)))}
	r.body = ingestBody("cmp_person", "Ann", r.person, fmt.Sprintf("%s@example.com", r.key))
	c.send(r)
}

// ingestIntoBudget sends a lead that needs a place in a cap, or a buyer's money.
func (c *client) ingestIntoBudget() {
	b := c.budgets[c.random.IntN(len(c.budgets))]
	r := &request{kind: ingest, path: pathIngest, key: c.newKey("lead"), budget: b}
	r.body = ingestBody(b.campaign, "Ann", "+14155550132", "ann@example.com")
	a := c.send(r)
	if !a.isKnown || !a.isAccepted() {
		return
	}
	c.lookUp(a.Data.ID, 1)
	if a.Data.Buyer == b.buyer && !b.isPosted {
		c.addSold(soldLead{a.Data.ID, b})
	}
}

// returnAndLookUp returns one of the last sold leads, which another client may return too, and looks it up.
func (c *client) returnAndLookUp() {
	lead, ok := c.drawSold(c)
	if !ok {
		return
	}
	r := &request{kind: returnLead, path: "/v1/leads/" + lead.id + "/status", key: c.newKey("return"), budget: lead.budget, lead: lead.id, token: c.tokens[lead.budget.buyer]}
	r.body = witness.Encode(witness.Object{"status": "returned", "reason": "wrong number"})
	if a := c.send(r); a.isKnown {
		c.lookUp(lead.id, 2)
	}
}

// lookUp reads a lead at several nodes.
func (c *client) lookUp(lead string, times int) {
	for _, node := range c.random.Perm(len(c.nodes))[:times] {
		c.attempt(&request{kind: lookup, path: "/api/v1/leads/" + lead, lead: lead}, node)
	}
}

// pingAndPost starts an auction, and sends a post for it.
func (c *client) pingAndPost() {
	r := &request{kind: ping, path: "/v1/ping", token: c.tokens[witness.ClientID], key: c.newKey("ping")}
	r.body = witness.Encode(witness.Object{"auction_id": r.key, "vertical": "auto", "state": "CA", "tcpa_consent": true})
	a := c.send(r)
	if !a.isKnown || a.Bid == nil {
		return
	}
	auction := openAuction{r.key, a.Bid.Token}
	c.setAuction(auction)
	c.postFor(auction)
}

func (c *client) postForSharedAuction() {
	if auction, ok := c.lastAuction(); ok {
		c.postFor(auction)
	}
}

// postFor sends a post for an auction under one of three keys.
func (c *client) postFor(auction openAuction) {
	r := &request{kind: post, path: "/v1/post", token: c.tokens[witness.ClientID], auction: auction.id, key: fmt.Sprintf("%s-%d", auction.id, c.random.IntN(3))}
	r.body = witness.Encode(witness.Object{
		"auction_id": auction.id, "bid_token": auction.bidToken,
		"lead": witness.Object{
			"lead_uuid": r.key, "first_name": "Ann", "last_name": "Example", "phone": "+14155550132", "email": "ann@example.com",
			"address": witness.Object{"state": "CA"},
		},
	})
	c.send(r)
}

// soldLead is a lead that its buyer may return.
type soldLead struct {
	id     string
	budget *budget
}

// openAuction is an auction with a bid.
type openAuction struct{ id, bidToken string }

const recentLeads = 4

// drawSold returns one of the last sold leads.
func (h *history) drawSold(c *client) (soldLead, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.sold) == 0 {
		return soldLead{}, false
	}
	lead := h.sold[len(h.sold)-1-c.random.IntN(min(len(h.sold), recentLeads))]
	if !slices.Contains(h.returned[lead.budget], lead.id) {
		if len(h.returned[lead.budget]) == maxReturns {
			return soldLead{}, false
		}
		h.returned[lead.budget] = append(h.returned[lead.budget], lead.id)
	}
	return lead, true
}

func (h *history) addSold(lead soldLead) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sold = append(h.sold, lead)
}

func (h *history) setAuction(a openAuction) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.auction = a
}

func (h *history) lastAuction() (openAuction, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.auction, h.auction.id != ""
}
