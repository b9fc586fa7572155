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

// addWarning adds a warning about the value at the path, which is allowed but probably a
// mistake.
func (c *compiler) addWarning(at syntax.KeyPath, message string) {
	c.out.Warnings = append(c.out.Warnings, c.newProblemAt(at, message))
}

// usefulScopes are the scopes that permit something to a supplier or a buyer.
var usefulScopes = map[event.ConfigObjectKind]map[string]bool{
	event.ObjectSupplier: {schema.ScopePing: true, schema.ScopePost: true},
	event.ObjectBuyer:    {schema.ScopeWebhook: true},
}

// warnUselessScopes warns about scopes that have no effect for this kind of owner. Otherwise
// the owner would notice it only at the first request.
func (c *compiler) warnUselessScopes(at syntax.KeyPath, owner event.ConfigObjectKind, names []string) {
	for i, name := range names {
		if known := name == schema.ScopePing || name == schema.ScopePost || name == schema.ScopeWebhook; known && !usefulScopes[owner][name] {
			c.addWarning(at.Index(i), "has no effect here: suppliers use ping and post, buyers use webhook; remove it")
		}
	}
}

// weakSecret is the length in bytes below which a webhook's secret counts as weak.
// Standard Webhooks requires 24 to 64.
const weakSecret = 24

// warnWeakWebhookSecret warns about a webhook's signing key that is so short that an attacker could
// guess it from one signed delivery.
func (c *compiler) warnWeakWebhookSecret(at syntax.KeyPath, key []byte) {
	if len(key) < weakSecret {
		c.addWarning(at, "has fewer than 24 bytes and could be guessed from one delivery; create a new one with POST /admin/v1/webhooks/ID/secret")
	}
}

// reportNeverWorksOrWarnIfAccepted reports a value that can never work. In a document, and in an entry that
// an operator has just sent, this is a mistake. In an entry that the exchange has already it
// is a warning, so that a new rule does not prevent a start.
func (c *compiler) reportNeverWorksOrWarnIfAccepted(at syntax.KeyPath, message string) {
	if c.source.isAccepted != nil && c.source.isAccepted(at) {
		c.addWarning(at, message)
		return
	}
	c.reportMistake(at, message)
}

// warnWeakAdminAccess warns about a short admin password, and about an admin address without
// TLS that other machines can reach.
func (c *compiler) warnWeakAdminAccess(d *schema.Document) {
	if text := d.Admin.Password.Reveal(); text != "" && utf8.RuneCountInString(text) < passphrase.MinLength {
		c.addWarning("admin.password", "has fewer than 12 characters and could be guessed; use a longer one, preferably as ${NAME} from the environment")
	}
	if d.Admin.TLS == nil && c.isReachableFromUntrustedNetwork(d.Admin.Listen) {
		c.addWarning("admin.listen", "can be reached from other machines without TLS, so passwords cross the network unencrypted; add admin.tls, or listen on 127.0.0.1")
	}
}

// isReachableFromUntrustedNetwork reports whether machines outside the trusted networks can reach a
// listen address. An address without a host, for all interfaces, counts as reachable. The function does
// not resolve host names, and returns false for them and for loopback addresses.
func (c *compiler) isReachableFromUntrustedNetwork(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false // checkListenAddress reports it
	}
	if host == "" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && !address.IsLoopback() && c.isIPOutsideTrustedNetworks(host)
}
