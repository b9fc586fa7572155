package config

import (
	"strings"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market/escape"
)

const maxSecrets = 32

// BuyerSecretName is the full name of a buyer's named secret.
func BuyerSecretName(buyer, name string) string { return buyerPrefix(buyer) + "/secret/" + name }

func buyerPrefix(id string) string { return "buyer/" + id }

func supplierPrefix(id string) string { return "supplier/" + id }

// compileNamedSecrets judges a buyer's named secrets.
func (c *compiler) compileNamedSecrets(at syntax.Path, b *schema.Buyer) secretOwner {
	of := secretOwner{prefix: buyerPrefix(b.ID), secrets: make(map[string]string, len(b.Secrets))}
	if len(b.Secrets) > maxSecrets {
		c.report(at, "are over 32; an endpoint that needs more is not one that an adapter is for")
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
		of.secrets[s.Name] = c.addSecret(here.Key("value"), BuyerSecretName(b.ID, s.Name), s.Value)
	}
	return of
}

// SecretMisfit reports why a value cannot be that of a sealed secret, empty where it can:
// the rule that a document's secrets have.
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

// IsVariable reports whether a sealed value is a variable of an address. The document
// and its environment have the word on it.
func IsVariable(secret string) bool { return strings.Contains(secret, escape.VariablePart) }
