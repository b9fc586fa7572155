package config

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
	"unicode/utf8"

	"pingpost/engine/market"
	"pingpost/keys/passphrase"
)

// never reports a part that can never work as it is. That is a mistake in a document
// and in an entry that is sent; in an entry that the exchange has already it is a
// warning, so that a new rule does not keep an exchange from starting.
func (c *compiler) never(at place, message string) {
	if c.source.accepted != nil && c.source.accepted(at) {
		c.warn(at, message)
		return
	}
	c.fail(at, message)
}

// sells reports filter sets of a campaign that cannot buy by their price, and a
// campaign that cannot sell. Bids of an auction are not known here.
func (c *compiler) sells(at place, form *Campaign) {
	buyers := at.key("buyers")
	if len(form.Buyers) == 0 {
		c.warn(buyers, "has no entry, so each lead stays unsold; add a buyer, or take the campaign out")
	}
	if form.Method == "ping_post" {
		return
	}
	fixed, highest := market.Money(0), market.Money(0)
	if form.Payout.Fixed != nil {
		fixed = *form.Payout.Fixed
	}
	for i := range form.Buyers {
		highest = max(highest, form.Buyers[i].Price)
	}
	if fixed > highest && len(form.Buyers) > 0 {
		c.never(at.key("payout").key("fixed"), "is above every price, so no buyer can buy here; lower it, or raise a price")
		fixed = 0
	}
	for i := range form.Buyers {
		here, price := buyers.at(i), form.Buyers[i].Price
		missing := ""
		if price == 0 {
			missing = "is missing or 0, and "
		}
		switch {
		case price < form.Floor:
			c.never(here.key("price"), missing+"is below the campaign's floor, so this buyer can never buy here; raise it, lower floor, or take the entry out")
		case price < fixed:
			c.never(here.key("price"), missing+"is below payout.fixed, so this buyer can never buy here; raise it, lower payout.fixed, or take the entry out")
		case price == 0:
			c.warn(here.key("price"), "is missing or 0, so this buyer gets leads for nothing; give the price of a lead")
		}
	}
}

// consentSources reports a star among sources: they are compared letter by letter.
func (c *compiler) consentSources(at place, names []string) {
	for i, name := range names {
		switch {
		case name == "*":
			c.never(at.at(i), "is no source: sources are compared letter by letter, so consent would be required of no lead. Name each source, or give the field consent_cert_url required: true")
		case strings.Contains(name, "*"):
			c.warn(at.at(i), "has a *, and sources are compared letter by letter; name each source")
		}
	}
}

// admin reports a password that can be guessed, and an address that others can reach
// without TLS.
func (c *compiler) admin(d *Document) {
	if text := d.Admin.Password.Reveal(); text != "" && utf8.RuneCountInString(text) < passphrase.Least {
		c.warn("admin.password", "has fewer than 12 characters and could be guessed; give a longer one, best as ${NAME} from the environment")
	}
	if d.Admin.TLS == nil && c.reachable(d.Admin.Listen) {
		c.warn("admin.listen", "can be reached from other machines and has no TLS, so passwords go over the network in clear; add admin.tls, or listen on 127.0.0.1")
	}
}

// reachable reports whether an address to listen on can be reached from outside this
// machine and the trusted networks. The address of all interfaces can; a name other
// than localhost is not resolved here.
func (c *compiler) reachable(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false // reported already
	}
	if host == "" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && !address.IsLoopback() && c.untrusted(host)
}

// plainHTTP reports plain http to an address outside the trusted networks. A host name
// is resolved when it is dialled, and must lead into them then. So without trusted
// networks it can never work.
func (c *compiler) plainHTTP(at place, u *url.URL) bool {
	host := u.Hostname()
	_, err := netip.ParseAddr(host)
	local := strings.EqualFold(host, "localhost")
	switch {
	case u.Scheme != "http":
	case err == nil && c.untrusted(host):
		c.fail(at, "is plain http outside trusted_networks; use https, or add its network to trusted_networks")
		return false
	case local && c.untrusted("127.0.0.1") && c.untrusted("::1"):
		c.never(at, "is plain http outside trusted_networks; use https, or add 127.0.0.0/8 to trusted_networks")
	case err != nil && len(c.networks) == 0:
		c.never(at, "is plain http by a host name, and there are no trusted_networks; use https, or add the network that the name leads to")
	case err != nil && !local:
		c.warn(at, "is plain http by a host name; requests fail while the name leads outside trusted_networks. Use https, or make sure of it")
	}
	return true
}
