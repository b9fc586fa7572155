package config

import (
	"strings"

	"pingpost/engine/market"
)

// addresses are where a buyer is spoken to, said in one of two ways: a base that
// the contract's paths are added to, or an address for each kind of request.
type addresses struct {
	base, ping, post string
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
func (a addresses) forPings() string {
	if a.base != "" {
		return joinPath(a.base, "/v1/ping")
	}
	return a.ping
}

// forPosts is where leads are delivered, empty where they are only recorded.
func (a addresses) forPosts() string {
	if a.base != "" {
		return joinPath(a.base, "/v1/post")
	}
	return a.post
}

func joinPath(base, path string) string { return strings.TrimRight(base, "/") + path }

// endpoints judges where a buyer is spoken to, in earnest and with test leads,
// and builds its endpoints. All have one credential and one adapter.
func (c *compiler) endpoints(at place, b *Buyer, buyer *market.Buyer) {
	own, test := b.addresses(), b.testAddresses()
	c.addresses(at, own)
	c.addresses(at, test)
	there := own.forPosts() != "" || test.forPosts() != ""
	var endpoint market.Endpoint
	switch {
	case b.Auth != nil && !there:
		c.fail(at.key("auth"), "there is no endpoint to use it at; give endpoint, or remove auth")
	case b.Auth != nil:
		c.auth(at.key("auth"), b.ID, b.Auth, &endpoint)
	}
	spoken := c.adapter(at.key("adapter"), b)
	build := func(address string, how spokenTo) *market.Endpoint {
		if address == "" {
			return nil
		}
		to := endpoint
		to.URL, to.Dialect, to.Adapter = address, how.dialect, how.adapter
		return &to
	}
	buyer.Ping, buyer.Post = build(own.forPings(), spoken.ping), build(own.forPosts(), spoken.post)
	buyer.TestPing, buyer.TestPost = build(test.forPings(), spoken.ping), build(test.forPosts(), spoken.post)
}

// addresses judges one of the two sets.
func (c *compiler) addresses(at place, a addresses) {
	base, ping, post := a.prefix+"endpoint", a.prefix+"ping_url", a.prefix+"post_url"
	if a.base != "" {
		c.url(at.key(base), a.base, false)
		for _, other := range [...]struct{ key, url string }{{ping, a.ping}, {post, a.post}} {
			if other.url != "" {
				c.fail(at.key(other.key), "stands beside "+base+", which gives both addresses; keep one of them")
			}
		}
		return
	}
	if a.ping != "" {
		c.url(at.key(ping), a.ping, true)
		if a.post == "" {
			c.fail(at.key(ping), "stands without "+post+"; a buyer that bids must be able to take the lead")
		}
	}
	if a.post != "" {
		c.url(at.key(post), a.post, true)
	}
}
