package config

import (
	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market"
)

// compileEndpoints checks a buyer's addresses for production and for test leads, and stores
// the endpoints in buyer. All endpoints of a buyer share one credential and one adapter.
func (c *compiler) compileEndpoints(at syntax.KeyPath, b *schema.Buyer, buyer *market.Buyer) {
	secrets := c.compileNamedSecrets(at.Key("secrets"), b)
	own, test := c.checkBuyerURLsAndHideSecrets(at, b.ProductionURLs(), secrets), c.checkBuyerURLsAndHideSecrets(at, b.TestURLs(), secrets)
	there := own.PostURL() != "" || test.PostURL() != ""
	var endpoint market.OutboundEndpoint
	switch {
	case b.Auth != nil && !there:
		c.reportMistake(at.Key("auth"), "the buyer has no endpoint to use it for; give endpoint, or remove auth")
	case b.Auth != nil:
		c.compileAuth(at.Key("auth"), b.ID, b.Auth, &endpoint, secrets)
	}
	spoken := c.compileAdapter(at.Key("adapter"), b, secrets)
	switch {
	case !b.Idempotent:
	case spoken.post.protocol != nil:
		c.reportMistake(at.Key("idempotent"), "is only for posts in the contract's form, but an adapter writes this buyer's posts; set adapter.idempotent")
	case !there:
		c.reportMistake(at.Key("idempotent"), "is about posts, but the buyer has no endpoint for them; give endpoint, or remove idempotent")
	}
	build := func(address schema.OutboundURL, how requestAndAnswerFormat) *market.OutboundEndpoint {
		if address == "" {
			return nil
		}
		to := endpoint
		to.URL, to.AdapterProtocol, to.Adapter = string(address), how.protocol, how.adapter
		to.Certified = b.Idempotent && how.protocol == nil
		return &to
	}
	buyer.Ping, buyer.Post = build(own.PingURL(), spoken.ping), build(own.PostURL(), spoken.post)
	buyer.TestPing, buyer.TestPost = build(test.PingURL(), spoken.ping), build(test.PostURL(), spoken.post)
}

// checkBuyerURLsAndHideSecrets checks a buyer's addresses, either those for production or those for test
// leads. It returns them with placeholders in place of secrets.
func (c *compiler) checkBuyerURLsAndHideSecrets(at syntax.KeyPath, a schema.BuyerURLs, owner secretOwner) schema.BuyerURLs {
	remote := func(key string, address schema.OutboundURL, withQuery bool) schema.OutboundURL {
		return schema.OutboundURL(c.compileAddress(at.Key(key), address, withQuery, owner))
	}
	base, ping, post := a.Prefix+"endpoint", a.Prefix+"ping_url", a.Prefix+"post_url"
	if a.Base != "" {
		a.Base = remote(base, a.Base, false)
		for _, other := range [...]struct {
			key string
			url schema.OutboundURL
		}{{ping, a.Ping}, {post, a.Post}} {
			if other.url != "" {
				c.reportMistake(at.Key(other.key), "conflicts with "+base+", which gives both addresses; keep one of them")
			}
		}
		return a
	}
	if a.Ping != "" {
		a.Ping = remote(ping, a.Ping, true)
		if a.Post == "" {
			c.reportMistake(at.Key(ping), "needs "+post+" too: a buyer that bids must be able to receive the lead")
		}
	}
	if a.Post != "" {
		a.Post = remote(post, a.Post, true)
	}
	return a
}
