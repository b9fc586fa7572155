package config

import (
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Buyer is who buys leads.
type Buyer struct {
	ID           string        `json:"id"`
	Name         string        `json:"name"`
	Paused       bool          `json:"paused"`             // first value only
	Endpoint     Address       `json:"endpoint,omitempty"` // /v1/ping and /v1/post are added
	PingURL      Address       `json:"ping_url,omitempty"`
	PostURL      Address       `json:"post_url,omitempty"`
	Auth         *Auth         `json:"auth,omitempty"`
	Idempotent   bool          `json:"idempotent,omitempty"` // it answers a repeated post as it answered the first
	Secrets      []NamedSecret `json:"secrets,omitempty"`    // for {{secret "name"}}
	Adapter      *Adapter      `json:"adapter,omitempty"`
	PingRate     *int          `json:"ping_rate"` // a second
	MaxConns     *int          `json:"max_connections"`
	States       []string      `json:"states,omitempty"`
	Filters      []Filter      `json:"filters,omitempty"`
	Schedule     *Schedule     `json:"schedule,omitempty"`
	Caps         []Cap         `json:"caps,omitempty"`
	Funds        *Funds        `json:"funds,omitempty"`
	Suppression  []string      `json:"suppression,omitempty"`
	TimeZone     string        `json:"time_zone"`
	PostTimeout  *Duration     `json:"post_timeout"`
	TestEndpoint Address       `json:"test_endpoint,omitempty"` // of test leads, as the three above
	TestPingURL  Address       `json:"test_ping_url,omitempty"`
	TestPostURL  Address       `json:"test_post_url,omitempty"`
	OAuthClients []OAuthClient `json:"oauth_clients,omitempty"`
}

const (
	defaultPostTimeout = 10 * time.Second
	maxConnections     = 60_000 // to one address: the system has 64,511 ports for them at most
)

func (b *Buyer) fill() {
	orElse(&b.Name, b.ID)
	b.PingRate = given(b.PingRate, defaultRate)
	b.MaxConns = given(b.MaxConns, market.DefaultMaxConnections)
	orElse(&b.TimeZone, "UTC")
	b.PostTimeout = b.PostTimeout.orElse(defaultPostTimeout)
	b.Auth.fill()
	b.Adapter.fill()
	b.Funds.fill()
	fillClients(b.OAuthClients, ScopeWebhook)
}

// Pings tells whether the buyer can be asked for bids.
func (b *Buyer) Pings() bool { return b.addresses().forPings() != "" }

// buyerEntry is a buyer as campaigns find it.
type buyerEntry struct {
	form *Buyer
	*market.Buyer
	place  place
	states market.StateSet
	faulty map[int]bool // filters of the form that are reported

	// currency and where it comes from: the first campaign it sits in
	currency string
	campaign place
}

func (c *compiler) buyer(at place, b *Buyer) {
	id := market.BuyerID(b.ID)
	if c.id(at.key("id"), b.ID) {
		if _, twice := c.out.Catalog.Buyers[id]; twice {
			c.fail(at.key("id"), "another buyer has this id; ids are unique")
		}
	}
	c.label(at.key("name"), b.Name, maxLabel)
	c.rate(at.key("ping_rate"), *b.PingRate)
	c.intIn(at.key("max_connections"), *b.MaxConns, 1, maxConnections)
	c.spanIn(at.key("post_timeout"), b.PostTimeout, 100*time.Millisecond, 5*time.Minute)
	c.clients(at.key("oauth_clients"), event.NameBuyer, b.ID, b.OAuthClients)
	zone := c.zone(at.key("time_zone"), b.TimeZone)
	buyer := &market.Buyer{
		ID: id, Name: b.Name,
		PostTimeout:    b.PostTimeout.span(),
		PingRate:       *b.PingRate,
		MaxConnections: *b.MaxConns,
		Schedule:       c.schedule(at.key("schedule"), b.Schedule, zone),
		Caps:           c.caps(at.key("caps"), b.Caps, market.ScopeBuyer, zone),
		Suppression:    c.suppression(at.key("suppression"), b.Suppression),
		Zone:           zone,
	}
	c.endpoints(at, b, buyer)
	if b.Funds != nil {
		buyer.Funded, buyer.Credit = true, *b.Funds.Credit
		c.out.Firsts.Balances = append(c.out.Firsts.Balances, FirstBalance{Buyer: id, Money: *b.Funds.Balance})
	}
	if b.Paused {
		c.out.Firsts.Paused.Buyers = append(c.out.Firsts.Paused.Buyers, id)
	}
	c.out.Catalog.Buyers[id] = buyer
	entry := &buyerEntry{form: b, Buyer: buyer, place: at, states: c.states(at.key("states"), b.States)}
	for _, filter := range c.plainFilters(at.key("filters"), b.Filters) {
		entry.fault(filter)
	}
	c.buyers[b.ID] = entry
}
