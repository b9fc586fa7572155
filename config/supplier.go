package config

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Supplier is who sends leads.
type Supplier struct {
	ID                 string        `json:"id"`
	Name               string        `json:"name"`
	APIKey             Secret        `json:"api_key,omitzero"`
	IngestRate         *int          `json:"ingest_rate"` // a second
	PingRate           *int          `json:"ping_rate"`   // a second
	ByteRate           *Size         `json:"byte_rate"`   // of request bodies, a second
	ConcurrentAuctions *int          `json:"concurrent_auctions"`
	OAuthClients       []OAuthClient `json:"oauth_clients,omitempty"`
	BearerTokens       []BearerToken `json:"bearer_tokens,omitempty"`
	Webhook            *Webhook      `json:"webhook,omitempty"`
	Test               bool          `json:"test,omitempty"` // every lead of it is a test lead
}

const (
	defaultRate     = 100
	defaultAuctions = 1000

	// bytesEach is how long a body may be on average where requests come at their
	// full rates and byte_rate is not set.
	bytesEach   = 8 * kibibyte
	maxByteRate = 1024 * mebibyte
)

func (s *Supplier) fill() {
	orElse(&s.Name, s.ID)
	s.IngestRate = given(s.IngestRate, defaultRate)
	s.PingRate = given(s.PingRate, defaultRate)
	s.ByteRate = given(s.ByteRate, usualByteRate(*s.IngestRate, *s.PingRate))
	s.ConcurrentAuctions = given(s.ConcurrentAuctions, defaultAuctions)
	fillClients(s.OAuthClients, ScopePing, ScopePost)
	fillTokens(s.BearerTokens)
}

// usualByteRate returns the default byte_rate of a supplier with these rates. It
// admits any body that limits.body can allow.
func usualByteRate(ingest, ping int) Size {
	requests := min(max(ingest, 0), maxRate) + min(max(ping, 0), maxRate)
	return min(max(Size(requests)*bytesEach, maxBody), maxByteRate)
}

func (c *compiler) supplier(at place, s *Supplier) {
	id := market.SupplierID(s.ID)
	if c.id(at.key("id"), s.ID) {
		if _, twice := c.out.Catalog.Suppliers[id]; twice {
			c.fail(at.key("id"), "another supplier has this id; ids are unique")
		}
	}
	c.label(at.key("name"), s.Name, maxLabel)
	c.rate(at.key("ingest_rate"), *s.IngestRate)
	c.rate(at.key("ping_rate"), *s.PingRate)
	c.sizeIn(at.key("byte_rate"), *s.ByteRate, Size(c.out.Settings.Limits.Body), maxByteRate)
	c.intIn(at.key("concurrent_auctions"), *s.ConcurrentAuctions, 1, maxRate)
	c.apiKey(at.key("api_key"), s)
	c.clients(at.key("oauth_clients"), event.NameSupplier, s.ID, s.OAuthClients)
	c.tokens(at.key("bearer_tokens"), event.NameSupplier, s.ID, s.BearerTokens)
	c.out.Catalog.Suppliers[id] = &market.Supplier{
		ID: id, Name: s.Name,
		IngestRate: *s.IngestRate, PingRate: *s.PingRate, ByteRate: int(*s.ByteRate), ConcurrentAuctions: *s.ConcurrentAuctions,
		Webhooks: c.webhook(at.key("webhook"), s.ID, s.Webhook), Test: s.Test,
	}
}

func (c *compiler) apiKey(at place, s *Supplier) {
	first := FirstCredential{Owner: event.NameSupplier, OwnerID: s.ID, Kind: event.CredentialAPIKey, Value: s.APIKey}
	c.lacks(at, Kept{Credential: &first})
	if !c.carried(at, s.APIKey) {
		return
	}
	c.unique(at, "key", s.APIKey.Reveal())
	c.first(first)
}

// carried tells whether there is a secret that is known here and can be sent
// in a header, and reports one that cannot.
func (c *compiler) carried(at place, s Secret) bool {
	if s.Reveal() == "" {
		return false
	}
	if !s.visible() {
		c.fail(at, "cannot be sent in a header: it is over 4096 bytes, or holds a space, a line break or another character that is not visible ASCII; check its ends")
		return false
	}
	return true
}
