package config

import (
	"pingpost/engine/market"
	"pingpost/engine/market/escape"
)

// addresses are where a buyer is spoken to, said in one of two ways: a base that
// the contract's paths are added to, or an address for each kind of request.
type addresses struct {
	base, ping, post Address
	prefix           string // of their keys
}

func (b *Buyer) addresses() addresses {
	return addresses{base: b.Endpoint, ping: b.PingURL, post: b.PostURL}
}

// testAddresses are where test leads go.
func (b *Buyer) testAddresses() addresses {
	return addresses{base: b.TestEndpoint, ping: b.TestPingURL, post: b.TestPostURL, prefix: "test_"}
}

// forPings is where bids are asked for, empty where they cannot be.
func (a addresses) forPings() Address {
	if a.base != "" {
		return joinPath(a.base, "/v1/ping")
	}
	return a.ping
}

// forPosts is where leads are delivered, empty where they are only recorded.
func (a addresses) forPosts() Address {
	if a.base != "" {
		return joinPath(a.base, "/v1/post")
	}
	return a.post
}

// joinPath adds a path to a base, which may end in a slash, or in a variable whose value
// does.
func joinPath(base Address, path string) Address {
	return Address(escape.TrimSlash(string(base)) + path)
}

// endpoints judges where a buyer is spoken to, in earnest and with test leads,
// and builds its endpoints. All have one credential and one adapter.
func (c *compiler) endpoints(at place, b *Buyer, buyer *market.Buyer) {
	secrets := c.secrets(at.key("secrets"), b)
	own, test := c.addresses(at, b.addresses(), secrets), c.addresses(at, b.testAddresses(), secrets)
	there := own.forPosts() != "" || test.forPosts() != ""
	var endpoint market.Endpoint
	switch {
	case b.Auth != nil && !there:
		c.fail(at.key("auth"), "there is no endpoint to use it at; give endpoint, or remove auth")
	case b.Auth != nil:
		c.auth(at.key("auth"), b.ID, b.Auth, &endpoint, secrets)
	}
	spoken := c.adapter(at.key("adapter"), b, secrets)
	switch {
	case !b.Idempotent:
	case spoken.post.dialect != nil:
		c.fail(at.key("idempotent"), "is of a buyer whose posts speak the contract, and here an adapter writes them; say adapter.idempotent")
	case !there:
		c.fail(at.key("idempotent"), "is about posts, and there is no endpoint for them; give endpoint, or remove idempotent")
	}
	build := func(address Address, how spokenTo) *market.Endpoint {
		if address == "" {
			return nil
		}
		to := endpoint
		to.URL, to.Dialect, to.Adapter = string(address), how.dialect, how.adapter
		to.Certified = b.Idempotent && how.dialect == nil
		return &to
	}
	buyer.Ping, buyer.Post = build(own.forPings(), spoken.ping), build(own.forPosts(), spoken.post)
	buyer.TestPing, buyer.TestPost = build(test.forPings(), spoken.ping), build(test.forPosts(), spoken.post)
}

// addresses judges one of the two sets and returns it with placeholders.
func (c *compiler) addresses(at place, a addresses, of owner) addresses {
	remote := func(key string, address Address, withQuery bool) Address {
		return Address(c.remote(at.key(key), address, withQuery, of))
	}
	base, ping, post := a.prefix+"endpoint", a.prefix+"ping_url", a.prefix+"post_url"
	if a.base != "" {
		a.base = remote(base, a.base, false)
		for _, other := range [...]struct {
			key string
			url Address
		}{{ping, a.ping}, {post, a.post}} {
			if other.url != "" {
				c.fail(at.key(other.key), "stands beside "+base+", which gives both addresses; keep one of them")
			}
		}
		return a
	}
	if a.ping != "" {
		a.ping = remote(ping, a.ping, true)
		if a.post == "" {
			c.fail(at.key(ping), "stands without "+post+"; a buyer that bids must be able to take the lead")
		}
	}
	if a.post != "" {
		a.post = remote(post, a.post, true)
	}
	return a
}
