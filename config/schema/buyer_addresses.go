package schema

import (
	"pingpost/engine/market/escape"
)

// BuyerURLs are the URLs of a buyer. Either Base is set, to which the paths of the exchange's
// own API are added, or each kind of request has a URL.
type BuyerURLs struct {
	Base, Ping, Post OutboundURL
	Prefix           string // of their keys in the document
}

// ProductionURLs returns the buyer's URLs for production leads.
func (b *Buyer) ProductionURLs() BuyerURLs {
	return BuyerURLs{Base: b.Endpoint, Ping: b.PingURL, Post: b.PostURL}
}

// TestURLs returns the buyer's URLs for test leads.
func (b *Buyer) TestURLs() BuyerURLs {
	return BuyerURLs{Base: b.TestEndpoint, Ping: b.TestPingURL, Post: b.TestPostURL, Prefix: "test_"}
}

// PingURL returns the URL that receives pings, or "" if the buyer cannot bid.
func (a BuyerURLs) PingURL() OutboundURL {
	if a.Base != "" {
		return joinPath(a.Base, "/v1/ping")
	}
	return a.Ping
}

// PostURL returns the URL that receives leads, or "" if leads are only recorded.
func (a BuyerURLs) PostURL() OutboundURL {
	if a.Base != "" {
		return joinPath(a.Base, "/v1/post")
	}
	return a.Post
}

// joinPath adds a path to a base URL with one slash between them. The base may end in a
// slash, or in a variable whose value ends in one.
func joinPath(base OutboundURL, path string) OutboundURL {
	return OutboundURL(escape.TrimSlashesOfAddressAndVariable(string(base)) + path)
}
