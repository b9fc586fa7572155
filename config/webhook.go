package config

import (
	"strings"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market"
	"pingpost/outbound/webhook/signature"
)

// compileWebhook judges a supplier's webhook and builds its endpoint, whose credential is
// never sent: it signs. Nil: the supplier has none.
func (c *compiler) compileWebhook(at syntax.Path, supplier string, w *schema.Webhook) *market.Endpoint {
	if w == nil {
		return nil
	}
	address := ""
	if w.URL == "" {
		c.report(at.Key("url"), "is missing; give the address, or leave the webhook out")
	} else {
		address = c.compileAddress(at.Key("url"), w.URL, true, secretOwner{prefix: supplierPrefix(supplier)})
	}
	c.requireSecret(at.Key("secret"), w.Secret)
	if value := w.Secret.Reveal(); value != "" && !IsWebhookSecret(value) {
		c.report(at.Key("secret"), "is not a webhook secret; it is whsec_ followed by base64")
		return nil
	}
	if key, ok := signature.ParseSecret(w.Secret.Reveal()); ok {
		c.warnWeakSecret(at.Key("secret"), key)
	}
	return &market.Endpoint{URL: address, Credential: c.addSecret(at.Key("secret"), WebhookSecretName(supplier), w.Secret)}
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

// IsWebhookSecret tells whether a text is a webhook secret: there are bytes in it to sign with.
func IsWebhookSecret(secret string) bool {
	_, ok := signature.ParseSecret(secret)
	return ok && len(secret) <= schema.MaxSecret
}
