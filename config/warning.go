package config

import (
	"net"
	"net/netip"
	"unicode/utf8"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/event"
	"pingpost/keys/passphrase"
)

// warn tells of what is allowed and most likely not meant.
func (c *compiler) warn(at syntax.Path, message string) {
	c.out.Warnings = append(c.out.Warnings, c.problemAt(at, message))
}

// usefulScopes are the scopes that open something to a supplier or a buyer.
var usefulScopes = map[event.NameKind]map[string]bool{
	event.NameSupplier: {schema.ScopePing: true, schema.ScopePost: true},
	event.NameBuyer:    {schema.ScopeWebhook: true},
}

// warnUselessScopes warns of scopes that open nothing: a token with them gets no further than one
// without, which its owner finds out when it is needed.
func (c *compiler) warnUselessScopes(at syntax.Path, owner event.NameKind, names []string) {
	for i, name := range names {
		if known := name == schema.ScopePing || name == schema.ScopePost || name == schema.ScopeWebhook; known && !usefulScopes[owner][name] {
			c.warn(at.Index(i), "opens nothing here: suppliers ping and post, and buyers report by webhook; take it out")
		}
	}
}

// weakSecret is below how many bytes a webhook's secret is called weak: Standard
// Webhooks has 24 to 64.
const weakSecret = 24

// warnWeakSecret warns of a webhook's secret that can be guessed by whoever has one delivery.
func (c *compiler) warnWeakSecret(at syntax.Path, key []byte) {
	if len(key) < weakSecret {
		c.warn(at, "has fewer than 24 bytes, and could be guessed by who has seen one delivery; make a new one by POST /admin/v1/webhooks/ID/secret")
	}
}

// reportUnworkable reports a part that can never work as it is. That is a mistake in a document
// and in an entry that is sent; in an entry that the exchange has already it is a
// warning, so that a new rule does not keep an exchange from starting.
func (c *compiler) reportUnworkable(at syntax.Path, message string) {
	if c.source.isAccepted != nil && c.source.isAccepted(at) {
		c.warn(at, message)
		return
	}
	c.report(at, message)
}

// checkAdmin reports a password that can be guessed, and an address that others can reach
// without TLS.
func (c *compiler) checkAdmin(d *schema.Document) {
	if text := d.Admin.Password.Reveal(); text != "" && utf8.RuneCountInString(text) < passphrase.Least {
		c.warn("admin.password", "has fewer than 12 characters and could be guessed; give a longer one, best as ${NAME} from the environment")
	}
	if d.Admin.TLS == nil && c.isReachable(d.Admin.Listen) {
		c.warn("admin.listen", "can be reached from other machines and has no TLS, so passwords go over the network in clear; add admin.tls, or listen on 127.0.0.1")
	}
}

// isReachable reports whether an address to listen on can be reached from outside this
// machine and the trusted networks. The address of all interfaces can; a name other
// than localhost is not resolved here.
func (c *compiler) isReachable(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false // reported already
	}
	if host == "" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && !address.IsLoopback() && c.isUntrusted(host)
}
