package config

import (
	"strings"

	"pingpost/engine/market"
)

// endpoints judges where a buyer is spoken to and builds its two endpoints: that
// of pings is nil for one that cannot be asked for bids, that of posts for one
// that is only recorded.
func (c *compiler) endpoints(at place, b *Buyer) (ping, post *market.Endpoint) {
	if b.Endpoint != "" {
		c.url(at.key("endpoint"), b.Endpoint, false)
		for _, other := range [...]struct{ key, url string }{{"ping_url", b.PingURL}, {"post_url", b.PostURL}} {
			if other.url != "" {
				c.fail(at.key(other.key), "stands beside endpoint, which gives both addresses; keep one of them")
			}
		}
	} else {
		if b.PingURL != "" {
			c.url(at.key("ping_url"), b.PingURL, true)
			if b.PostURL == "" {
				c.fail(at.key("ping_url"), "stands without post_url; a buyer that bids must be able to take the lead")
			}
		}
		if b.PostURL != "" {
			c.url(at.key("post_url"), b.PostURL, true)
		}
	}
	if b.TestEndpoint != "" {
		c.url(at.key("test_endpoint"), b.TestEndpoint, false)
	}
	address := b.PostAddress()
	if address == "" && b.Auth != nil {
		c.fail(at.key("auth"), "there is no endpoint to use it at; give endpoint, or remove auth")
		return nil, nil
	}
	endpoint := market.Endpoint{URL: address}
	if b.Auth != nil {
		c.auth(at.key("auth"), b.ID, b.Auth, &endpoint)
	}
	if address == "" {
		return nil, nil
	}
	if b.Pings() {
		asked := endpoint
		asked.URL = b.PingAddress()
		ping = &asked
	}
	return ping, &endpoint
}

func joinPath(base, path string) string { return strings.TrimRight(base, "/") + path }
