package config

import (
	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

func (c *compiler) compileSupplier(at syntax.KeyPath, s *schema.Supplier) {
	id := market.SupplierID(s.ID)
	if c.checkID(at.Key("id"), s.ID) {
		if _, twice := c.out.Catalog.Suppliers[id]; twice {
			c.reportMistake(at.Key("id"), "another supplier has this id; ids are unique")
		}
	}
	c.checkPrintableText(at.Key("name"), s.Name, maxLabel)
	c.checkRatePerSecond(at.Key("ingest_rate"), *s.IngestRate)
	c.checkRatePerSecond(at.Key("ping_rate"), *s.PingRate)
	c.checkSizeRange(at.Key("byte_rate"), *s.ByteRate, schema.ByteSize(c.out.Settings.Limits.Body), schema.MaxByteRate)
	c.checkIntRange(at.Key("concurrent_auctions"), *s.ConcurrentAuctions, 1, schema.MaxRate)
	c.compileAPIKey(at.Key("api_key"), s)
	c.compileOAuthClients(at.Key("oauth_clients"), event.ObjectSupplier, s.ID, s.OAuthClients)
	c.compileBearerTokens(at.Key("bearer_tokens"), event.ObjectSupplier, s.ID, s.BearerTokens)
	c.out.Catalog.Suppliers[id] = &market.Supplier{
		ID: id, Name: s.Name,
		IngestRate: *s.IngestRate, PingRate: *s.PingRate, ByteRate: int(*s.ByteRate), ConcurrentAuctions: *s.ConcurrentAuctions,
		Webhooks: c.compileWebhook(at.Key("webhook"), s.ID, s.Webhook), Test: s.Test,
	}
}

func (c *compiler) compileAPIKey(at syntax.KeyPath, s *schema.Supplier) {
	first := InitialCredential{Owner: event.ObjectSupplier, OwnerID: s.ID, Kind: event.CredentialAPIKey, Value: s.APIKey}
	c.recordIfUnset(at, UnsetEnvironmentVariable{Credential: &first})
	if !c.checkHeaderSecret(at, s.APIKey) {
		return
	}
	c.checkCredentialUnique(at, "key", s.APIKey.Reveal())
	c.addInitialCredential(first)
}

// checkHeaderSecret reports whether the secret's value is known in this process and can be
// sent in an HTTP header. It reports a mistake if a header cannot carry it.
func (c *compiler) checkHeaderSecret(at syntax.KeyPath, s schema.Secret) (isUsable bool) {
	if s.Reveal() == "" {
		return false
	}
	if !s.CanBeHeaderValue() {
		c.reportMistake(at, "cannot be sent in a header: it is longer than 4096 bytes, or contains a space, a line break or another character that is not visible ASCII; check its beginning and end")
		return false
	}
	return true
}
