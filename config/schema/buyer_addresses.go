package schema

import (
	"pingpost/engine/market/escape"
)

// Addresses are the URLs of a buyer. Either Base is set, to which the paths of the exchange's
// own API are added, or each kind of request has a URL.
type Addresses struct {
	Base, Ping, Post Address
	Prefix           string // of their keys in the document
}

// Addresses returns the buyer's URLs for production leads.
func (b *Buyer) Addresses() Addresses {
	return Addresses{Base: b.Endpoint, Ping: b.PingURL, Post: b.PostURL}
}

// TestAddresses returns the buyer's URLs for test leads.
func (b *Buyer) TestAddresses() Addresses {
	return Addresses{Base: b.TestEndpoint, Ping: b.TestPingURL, Post: b.TestPostURL, Prefix: "test_"}
}

// PingURL returns the URL that receives pings, or "" if the buyer cannot bid.
func (a Addresses) PingURL() Address {
	if a.Base != "" {
		return joinPath(a.Base, "/v1/ping")
	}
	return a.Ping
}

// PostURL returns the URL that receives leads, or "" if leads are only recorded.
func (a Addresses) PostURL() Address {
	if a.Base != "" {
		return joinPath(a.Base, "/v1/post")
	}
	return a.Post
}

// joinPath adds a path to a base URL with one slash between them. The base may end in a
// slash, or in a variable whose value ends in one.
func joinPath(base Address, path string) Address {
	return Address(escape.TrimTrailingSlashes(string(base)) + path)
}
