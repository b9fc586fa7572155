package config

import (
	"strings"

	"pingpost/engine/market"
	"pingpost/outbound/webhook/signature"
)

// Webhooks are settings of what is told to all suppliers.
type Webhooks struct {
	InFlight *int `json:"in_flight"` // attempts under way to one endpoint
}

// mostInFlight is how many attempts one endpoint may be worth: an exchange makes
// 256 at once, to all of them.
const mostInFlight = 64

func (w *Webhooks) fill() { w.InFlight = given(w.InFlight, 8) }

// WebhookSettings are the same, judged.
type WebhookSettings struct {
	InFlight int `key:"webhooks.in_flight"`
}

func (c *compiler) webhooks(at place, w *Webhooks) WebhookSettings {
	c.intIn(at.key("in_flight"), *w.InFlight, 1, mostInFlight)
	return WebhookSettings{InFlight: *w.InFlight}
}

// Webhook is where a supplier hears of its leads.
type Webhook struct {
	URL    Address `json:"url"`
	Secret Secret  `json:"secret,omitzero"` // whsec_ and base64
}

// webhook judges a supplier's webhook and builds its endpoint, whose credential is
// never sent: it signs. Nil: the supplier has none.
func (c *compiler) webhook(at place, supplier string, w *Webhook) *market.Endpoint {
	if w == nil {
		return nil
	}
	address := ""
	if w.URL == "" {
		c.fail(at.key("url"), "is missing; give the address, or leave the webhook out")
	} else {
		address = c.remote(at.key("url"), w.URL, true, owner{prefix: supplierPrefix(supplier)})
	}
	c.needed(at.key("secret"), w.Secret)
	if value := w.Secret.Reveal(); value != "" && !Signs(value) {
		c.fail(at.key("secret"), "is not a webhook secret; it is whsec_ followed by base64")
		return nil
	}
	if key, ok := signature.ParseSecret(w.Secret.Reveal()); ok {
		c.weak(at.key("secret"), key)
	}
	return &market.Endpoint{URL: address, Credential: c.keep(at.key("secret"), WebhookSecretName(supplier), w.Secret)}
}

// WebhookSecretName is the name of the secret that signs what a supplier is told.
func WebhookSecretName(supplier string) string { return "supplier/" + supplier + "/webhook" }

// PreviousSecretName is the name of the one before it, which signs as well while
// a supplier changes over.
func PreviousSecretName(supplier string) string {
	return signature.PreviousName(WebhookSecretName(supplier))
}

// IsPreviousSecret reports whether a name is one that PreviousSecretName gives.
func IsPreviousSecret(name string) bool {
	current, found := strings.CutSuffix(name, signature.PreviousName(""))
	return found && strings.HasPrefix(current, "supplier/")
}

// Signs tells whether a text is a webhook secret: there are bytes in it to sign with.
func Signs(secret string) bool {
	_, ok := signature.ParseSecret(secret)
	return ok && len(secret) <= maxSecret
}
