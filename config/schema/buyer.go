package schema

import (
	"time"

	"pingpost/engine/market"
)

// Buyer is a buyer of leads as the document describes it.
type Buyer struct {
	ID           string        `json:"id"`
	Name         string        `json:"name"`
	Paused       bool          `json:"paused"`             // initial value only
	Endpoint     OutboundURL   `json:"endpoint,omitempty"` // /v1/ping and /v1/post are added
	PingURL      OutboundURL   `json:"ping_url,omitempty"`
	PostURL      OutboundURL   `json:"post_url,omitempty"`
	Auth         *BuyerAuth    `json:"auth,omitempty"`
	Idempotent   bool          `json:"idempotent,omitempty"` // it answers a repeated post like the first one
	Secrets      []NamedSecret `json:"secrets,omitempty"`    // for {{secret "name"}}
	Adapter      *Adapter      `json:"adapter,omitempty"`
	PingRate     *int          `json:"ping_rate"` // per second
	MaxConns     *int          `json:"max_connections"`
	States       []string      `json:"states,omitempty"`
	Filters      []Filter      `json:"filters,omitempty"`
	Suppliers    []string      `json:"suppliers,omitempty"` // of the leads that it buys; empty: all
	NotSuppliers []string      `json:"not_suppliers,omitempty"`
	Schedule     *OpeningHours `json:"schedule,omitempty"`
	Caps         []Cap         `json:"caps,omitempty"`
	Funds        *Funds        `json:"funds,omitempty"`
	Suppression  []string      `json:"suppression,omitempty"`
	TimeZone     string        `json:"time_zone"`
	PostTimeout  *Duration     `json:"post_timeout"`
	TestEndpoint OutboundURL   `json:"test_endpoint,omitempty"` // for test leads, like the three above
	TestPingURL  OutboundURL   `json:"test_ping_url,omitempty"`
	TestPostURL  OutboundURL   `json:"test_post_url,omitempty"`
	OAuthClients []OAuthClient `json:"oauth_clients,omitempty"`
}

const (
	defaultPostTimeout = 10 * time.Second
)

func (b *Buyer) fillDefaults() {
	setDefault(&b.Name, b.ID)
	b.PingRate = orPointerTo(b.PingRate, defaultRate)
	b.MaxConns = orPointerTo(b.MaxConns, market.DefaultMaxConnections)
	setDefault(&b.TimeZone, "UTC")
	b.PostTimeout = b.PostTimeout.orDefault(defaultPostTimeout)
	b.Auth.fillDefaults()
	b.Adapter.fillDefaults()
	b.Funds.fillDefaults()
	fillDefaultClientScopes(b.OAuthClients, ScopeWebhook)
}

// CanBid reports whether the buyer has an address to which the exchange can send pings.
func (b *Buyer) CanBid() bool { return b.ProductionURLs().PingURL() != "" }

// Funds limits the money that a buyer can spend. The balance applies once, when the
// buyer first appears; later only top-ups change it.
type Funds struct {
	Balance *market.Money `json:"balance"`
	Credit  *market.Money `json:"credit"` // how far below zero the balance may go
}

func (f *Funds) fillDefaults() {
	if f == nil {
		return
	}
	f.Balance = orPointerTo(f.Balance, 0)
	f.Credit = orPointerTo(f.Credit, 0)
}

// NamedSecret is a secret that the buyer's addresses, headers and bodies use as {{secret
// "name"}}.
type NamedSecret struct {
	Name  string `json:"name"`
	Value Secret `json:"value,omitzero"`
}
