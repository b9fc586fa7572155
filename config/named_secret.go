package config

import (
	"strings"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market/escape"
)

const maxSecrets = 32

// BuyerSecretName returns the full name of a buyer's named secret.
func BuyerSecretName(buyer, name string) string { return buyerPrefix(buyer) + "/secret/" + name }

func buyerPrefix(id string) string { return "buyer/" + id }

func supplierPrefix(id string) string { return "supplier/" + id }

// compileNamedSecrets checks a buyer's named secrets.
func (c *compiler) compileNamedSecrets(at syntax.Path, b *schema.Buyer) secretOwner {
	owner := secretOwner{prefix: buyerPrefix(b.ID), secrets: make(map[string]string, len(b.Secrets))}
	if len(b.Secrets) > maxSecrets {
		c.report(at, "are more than 32; an adapter cannot use more")
	}
	seen := make(map[string]syntax.Path, len(b.Secrets))
	for i := range b.Secrets {
		here, s := at.Index(i), &b.Secrets[i]
		if c.checkID(here.Key("name"), s.Name) {
			c.checkUnique(here.Key("name"), seen, s.Name)
		}
		c.requireSecret(here.Key("value"), s.Value)
		if value := s.Value.Reveal(); len(value) > schema.MaxSecret || strings.ContainsFunc(value, isOutsideLine) {
			c.report(here.Key("value"), "is not one line of printable ASCII; check its ends")
		}
		owner.secrets[s.Name] = c.addSecret(here.Key("value"), BuyerSecretName(b.ID, s.Name), s.Value)
	}
	return owner
}

// SecretMisfit returns the required form if a value is not valid for the sealed secret,
// otherwise "". The rule is the same as for a document's secrets.
func SecretMisfit(name, value string) string {
	of, kind, _ := strings.Cut(name, "/")
	_, kind, _ = strings.Cut(kind, "/")
	switch {
	case of == "supplier" && !IsWebhookSecret(value):
		return "a webhook secret: whsec_ followed by base64"
	case (kind == "bearer" || kind == "api_key") && !schema.NewSecret(value).Visible():
		return "at most 4096 visible ASCII characters, without spaces"
	case len(value) > schema.MaxSecret || strings.ContainsFunc(value, isOutsideLine):
		return "one line of printable ASCII, at most 4096 characters"
	}
	return ""
}

// IsVariable reports whether a sealed value belongs to a variable of an address. Only
// the document and its environment set such a value.
func IsVariable(secret string) bool { return strings.Contains(secret, escape.VariablePart) }
