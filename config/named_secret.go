package config

import (
	"strings"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market/escape"
)

const maxSecrets = 32

// BuyerSecretName returns the full name of a buyer's named secret.
func BuyerSecretName(buyer, name string) string { return buyerSecretPrefix(buyer) + "/secret/" + name }

func buyerSecretPrefix(id string) string { return "buyer/" + id }

func supplierSecretPrefix(id string) string { return "supplier/" + id }

// compileNamedSecrets checks a buyer's named secrets.
func (c *compiler) compileNamedSecrets(at syntax.Path, b *schema.Buyer) secretOwner {
	owner := secretOwner{prefix: buyerSecretPrefix(b.ID), secrets: make(map[string]string, len(b.Secrets))}
	if len(b.Secrets) > maxSecrets {
		c.reportMistake(at, "are more than 32; an adapter cannot use more")
	}
	seen := make(map[string]syntax.Path, len(b.Secrets))
	for i := range b.Secrets {
		here, s := at.Index(i), &b.Secrets[i]
		if c.checkID(here.Key("name"), s.Name) {
			c.checkUnique(here.Key("name"), seen, s.Name)
		}
		c.requireSecret(here.Key("value"), s.Value)
		if value := s.Value.Reveal(); len(value) > schema.MaxSecret || strings.ContainsFunc(value, isNotPrintableASCII) {
			c.reportMistake(here.Key("value"), "is not one line of printable ASCII; check its ends")
		}
		owner.secrets[s.Name] = c.addInitialSecret(here.Key("value"), BuyerSecretName(b.ID, s.Name), s.Value)
	}
	return owner
}

// DescribeSecretMistake returns the required form if a value is not valid for the sealed secret,
// otherwise "". The rule is the same as for a document's secrets.
func DescribeSecretMistake(name, value string) string {
	of, kind, _ := strings.Cut(name, "/")
	_, kind, _ = strings.Cut(kind, "/")
	switch {
	case of == "supplier" && !IsValidWebhookSecret(value):
		return "a webhook secret: whsec_ followed by base64"
	case (kind == "bearer" || kind == "api_key") && !schema.NewSecret(value).IsVisibleASCII():
		return "at most 4096 visible ASCII characters, without spaces"
	case len(value) > schema.MaxSecret || strings.ContainsFunc(value, isNotPrintableASCII):
		return "one line of printable ASCII, at most 4096 characters"
	}
	return ""
}

// IsAddressVariable reports whether a sealed value belongs to a variable of an address. Only
// the document and its environment set such a value.
func IsAddressVariable(secretName string) bool {
	return strings.Contains(secretName, escape.VariablePart)
}
