package config

import (
	"strings"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market"
	"pingpost/outbound/webhook/signature"
)

// compileWebhook checks a supplier's webhook and returns its endpoint, or nil for a supplier
// without a webhook. The endpoint's credential is never sent: it signs the webhooks.
func (c *compiler) compileWebhook(at syntax.KeyPath, supplier string, w *schema.WebhookEndpoint) *market.OutboundEndpoint {
	if w == nil {
		return nil
	}
	address := ""
	if w.URL == "" {
		c.reportMistake(at.Key("url"), "is missing; give the address, or remove the webhook")
	} else {
		address = c.compileAddress(at.Key("url"), w.URL, true, secretOwner{prefix: supplierSecretPrefix(supplier)})
	}
	c.requireSecret(at.Key("secret"), w.Secret)
	if value := w.Secret.Reveal(); value != "" && !IsValidWebhookSecret(value) {
		c.reportMistake(at.Key("secret"), "is not a webhook secret; give whsec_ followed by base64")
		return nil
	}
	if key, ok := signature.ParseSecret(w.Secret.Reveal()); ok {
		c.warnWeakWebhookSecret(at.Key("secret"), key)
	}
	return &market.OutboundEndpoint{URL: address, Credential: c.addInitialSecretOrRecordUnset(at.Key("secret"), WebhookSecretName(supplier), w.Secret)}
}

// WebhookSecretName returns the name of the secret that signs a supplier's webhooks.
func WebhookSecretName(supplier string) string { return "supplier/" + supplier + "/webhook" }

// PreviousWebhookSecretName returns the name of a supplier's previous webhook secret. It also signs
// the webhooks while the supplier changes to the new one.
func PreviousWebhookSecretName(supplier string) string {
	return signature.PreviousSecretName(WebhookSecretName(supplier))
}

// IsPreviousWebhookSecretName reports whether a stored secret is a supplier's previous webhook secret.
func IsPreviousWebhookSecretName(secretName string) bool {
	current, found := strings.CutSuffix(secretName, signature.PreviousSecretName(""))
	return found && strings.HasPrefix(current, "supplier/")
}

// IsValidWebhookSecret reports whether a text is a valid webhook secret: whsec_ followed by
// base64.
func IsValidWebhookSecret(value string) bool {
	_, ok := signature.ParseSecret(value)
	return ok && len(value) <= schema.MaxSecret
}
