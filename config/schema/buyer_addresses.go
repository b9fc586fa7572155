package schema

import (
	"pingpost/engine/market/escape"
)

// Addresses are where a buyer is spoken to, said in one of two ways: a base that
// the contract's paths are added to, or an address for each kind of request.
type Addresses struct {
	Base, Ping, Post Address
	Prefix           string // of their keys
}

func (b *Buyer) Addresses() Addresses {
	return Addresses{Base: b.Endpoint, Ping: b.PingURL, Post: b.PostURL}
}

// TestAddresses are where test leads go.
func (b *Buyer) TestAddresses() Addresses {
	return Addresses{Base: b.TestEndpoint, Ping: b.TestPingURL, Post: b.TestPostURL, Prefix: "test_"}
}

// PingURL is where bids are asked for, empty where they cannot be.
func (a Addresses) PingURL() Address {
	if a.Base != "" {
		return joinPath(a.Base, "/v1/ping")
	}
	return a.Ping
}

// PostURL is where leads are delivered, empty where they are only recorded.
func (a Addresses) PostURL() Address {
	if a.Base != "" {
		return joinPath(a.Base, "/v1/post")
	}
	return a.Post
}

// joinPath adds a path to a base, which may end in a slash, or in a variable whose value
// does.
func joinPath(base Address, path string) Address {
	return Address(escape.TrimTrailingSlashes(string(base)) + path)
}
