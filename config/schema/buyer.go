package schema

import (
	"time"

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
)

func (b *Buyer) fill() {
	setDefault(&b.Name, b.ID)
	b.PingRate = valueOr(b.PingRate, defaultRate)
	b.MaxConns = valueOr(b.MaxConns, market.DefaultMaxConnections)
	setDefault(&b.TimeZone, "UTC")
	b.PostTimeout = b.PostTimeout.orDefault(defaultPostTimeout)
	b.Auth.fill()
	b.Adapter.fill()
	b.Funds.fill()
	fillClients(b.OAuthClients, ScopeWebhook)
}

// CanBid tells whether the buyer can be asked for bids.
func (b *Buyer) CanBid() bool { return b.Addresses().PingURL() != "" }

// Funds limits what a buyer can spend. The balance is written once, when the
// buyer is first seen; later there are only top-ups.
type Funds struct {
	Balance *market.Money `json:"balance"`
	Credit  *market.Money `json:"credit"` // how far below zero the balance may go
}

func (f *Funds) fill() {
	if f == nil {
		return
	}
	f.Balance = valueOr(f.Balance, 0)
	f.Credit = valueOr(f.Credit, 0)
}

// NamedSecret is a secret that stands in a buyer's addresses, headers and bodies where
// these say {{secret "name"}}.
type NamedSecret struct {
	Name  string `json:"name"`
	Value Secret `json:"value,omitzero"`
}
