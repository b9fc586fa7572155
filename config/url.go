package config

import (
	"net/netip"
	"net/url"
	"strings"
)

const maxURL = 2048

// url judges an address that the exchange will call. Plain http to an IP
// address is allowed inside the trusted networks alone; a host name is judged
// when it is dialled, since only then its address is known. The address itself
// is never quoted: a query may hold a key.
func (c *compiler) url(at place, text string, withQuery bool) bool {
	u, ok := c.location(at, text, withQuery)
	return ok && c.plainHTTP(at, u)
}

// location judges the form of such an address, wherever it leads.
func (c *compiler) location(at place, text string, withQuery bool) (*url.URL, bool) {
	u, err := url.Parse(text)
	switch {
	case err != nil || len(text) > maxURL || u.Host == "" || u.Hostname() == "" || u.Opaque != "":
		c.fail(at, "is not an address; write such as https://buyer.example/leads")
	case u.Scheme != "https" && u.Scheme != "http":
		c.fail(at, "is neither https nor http")
	case u.User != nil:
		c.fail(at, "holds a user or password; give credentials under auth")
	case u.Fragment != "" || strings.Contains(text, "#"):
		c.fail(at, "has a fragment (#…), which is never sent; remove it")
	case !withQuery && (u.RawQuery != "" || u.ForceQuery):
		c.fail(at, "has a query (?…), but paths are added to it; give ping_url and post_url instead")
	default:
		return u, true
	}
	return nil, false
}

// untrusted tells whether a host is an IP address outside the trusted networks.
func (c *compiler) untrusted(host string) bool {
	address, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	address = address.Unmap().WithZone("")
	for _, network := range c.networks {
		if network.Contains(address) {
			return false
		}
	}
	return true
}
