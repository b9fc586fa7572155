package config

import (
	"encoding/base64"
	"strings"

	"pingpost/engine/market"
)

// Webhook is where a supplier hears of its leads.
type Webhook struct {
	URL    string `json:"url"`
	Secret Secret `json:"secret,omitzero"` // whsec_ and base64
}

const webhookSecret = "whsec_"

// webhook judges a supplier's webhook and builds its endpoint, whose credential is
// never sent: it signs. Nil: the supplier has none.
func (c *compiler) webhook(at place, supplier string, w *Webhook) *market.Endpoint {
	if w == nil {
		return nil
	}
	if w.URL == "" {
		c.fail(at.key("url"), "is missing; give the address, or leave the webhook out")
	} else {
		c.url(at.key("url"), w.URL, true)
	}
	c.needed(at.key("secret"), w.Secret)
	if value := w.Secret.Reveal(); value != "" && !Signs(value) {
		c.fail(at.key("secret"), "is not a webhook secret; it is whsec_ followed by base64")
		return nil
	}
	return &market.Endpoint{URL: w.URL, Credential: c.keep(WebhookSecretName(supplier), w.Secret)}
}

// WebhookSecretName is the name of the secret that signs what a supplier is told.
func WebhookSecretName(supplier string) string { return "supplier/" + supplier + "/webhook" }

// Signs tells whether a text is a webhook secret: there are bytes in it to sign with.
func Signs(secret string) bool {
	encoded, ok := strings.CutPrefix(secret, webhookSecret)
	if !ok || len(secret) > maxSecret {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		key, err = base64.RawStdEncoding.DecodeString(encoded)
	}
	return err == nil && len(key) > 0
}
